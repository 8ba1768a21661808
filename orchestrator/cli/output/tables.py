"""Plain tables of a terminal."""

from typing import TYPE_CHECKING

from orchestrator.wording import clean_line

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


def plain_table(*columns: str) -> "Table":
    """Return an empty table whose cells are folded and never cut."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def texts(*cells: str) -> "list[Text]":
    """Return cells as they are, without what steers a terminal."""
    from rich.text import Text

    return [Text(clean_line(cell)) for cell in cells]
