"""The columns in `docs/data/columns.md`; `python -m tests.unit.tables.columns_reference` writes them anew."""

from orchestrator.resources import ROOT
from orchestrator.tables.reading import TABLES

PAGE = ROOT / "docs" / "data" / "columns.md"
HEADING = "\n## Columns\n"


def reference() -> str:
    """Return a section for each table, with a row for each column."""
    lines = []
    for table in TABLES:
        lines += ["", f"### `{table.name}`", "", table.description, ""]
        lines += ["| column | kind | unit | |", "|---|---|---|---|"]
        lines += [
            f"| `{column.name}` | {column.kind} | {column.unit} | {column.description} |" for column in table.columns
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    before, heading, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    PAGE.write_text(before + heading + reference(), encoding="utf-8")
