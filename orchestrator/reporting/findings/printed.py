"""The table of what scripts printed, the same in every format."""

from collections.abc import Sequence

from orchestrator.analysis import Printed
from orchestrator.reporting.figures import statuses
from orchestrator.reporting.findings.model import CellReport
from orchestrator.wording import clean_line

TITLE = "Printed by scripts"
NOTE = (
    "As printed by the scripts, not measured by us: what a figure means, what it leaves out and whether two scripts "
    "mean the same is theirs to say. They are in no ranking and no ratio."
)
HEADS = ("Cell", "Figure", "Median", "Lowest to highest repeat", "Better", "Matches", "Repeats")


def rows(cells: Sequence[CellReport]) -> list[tuple[str, ...]]:
    """Return a row for every figure of every script, and one for a script without an `ok` repeat."""
    table: list[tuple[str, ...]] = []
    for cell in cells:
        ended = statuses(cell.statuses)
        table += [(cell.cell.id, *_figures(each), ended) for each in cell.printed]
        if not cell.printed:
            table.append((cell.cell.id, *["–"] * 5, ended))
    return table


def _figures(figure: Printed) -> tuple[str, ...]:
    unit = clean_line(figure.unit)
    span = f"{figure.low:,.6g} to {figure.high:,.6g}"
    return clean_line(figure.name), f"{figure.value:,.6g} {unit}", span, figure.better, f"{figure.matches:,}"
