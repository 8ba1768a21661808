"""The grid of a run, with a row for each cell and a mark for each repeat."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from orchestrator.domain import Status
from orchestrator.reporting.live.progress import DISTURBED, PENDING, Progress
from orchestrator.wording import clean_line, rate

_RUNNING = "running"
MARKS = {
    Status.OK.value: ("■", "#", "green"), DISTURBED: ("▪", "~", "yellow"), _RUNNING: ("▶", ">", "bold cyan"),
    PENDING: ("·", ".", "dim"),
}  # fmt: skip
"""The mark of each state, the same where only ASCII can be written, and its color. No two share a mark."""
_FAILED = ("✗", "x", "red")
_NOT_MEASURED = ("–", "-", "dim")
_ORDER = ("running", "failed", "disturbed", "ok", "not measured", "to come")
"""Statuses in the order in which they matter: the end of a line may be cut."""
_WORDS = {Status.OK.value: "ok", DISTURBED: "disturbed", _RUNNING: "running", PENDING: "to come"}
_LEAST_ID, _MOST_ID, _RATE = 16, 60, 11
NARROW = 48
"""Columns below which there is no grid: ids would be cut until they say nothing."""
_WIDE = 100
"""Columns from which each row has the rate of its cell."""


def grid(progress: Progress, width: int, rows: int, *, ascii_only: bool = False) -> list[RenderableType]:
    """Draw the grid in so many columns and rows, or nothing where it does not fit or the cells are not known.

    If there are more cells than rows, those that run come first, then those that have failed, then those that are next.
    """
    if width < NARROW or rows < 3 or not progress.cells:
        return []
    states = _states(progress)
    shown = _chosen(states, rows - (len(states) > rows))
    wide = width >= _WIDE
    most = max(len(each) for each in states.values())
    name = min(_MOST_ID, max(map(len, shown)), width - min(most, width // 2) - 2 - (_RATE if wide else 0))
    room = width - max(name, _LEAST_ID) - 2 - (_RATE if wide else 0)
    table = Table.grid(padding=(0, 1))
    table.add_column(width=max(name, _LEAST_ID), no_wrap=True)
    table.add_column(no_wrap=True)
    if wide:
        table.add_column(width=_RATE - 1, justify="right", no_wrap=True)
    for cell in shown:
        text = Text(shortened(clean_line(cell), max(name, _LEAST_ID)))
        figures = [Text(rate(progress.rates[cell][0]) if cell in progress.rates else "", style="dim")] if wide else []
        table.add_row(text, _row(states[cell], room, ascii_only=ascii_only), *figures)
    lines: list[RenderableType] = [table]
    if len(shown) < len(states):
        lines.append(Text(_rest(states, shown), style="dim", overflow="ellipsis", no_wrap=True))
    return [*lines, _legend(states, ascii_only=ascii_only)]


class RememberedGrid:
    """A drawing of grids that draws again only what has changed: a run of many cells is looked at every second."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._lines: list[RenderableType] = []

    def __call__(self, progress: Progress, width: int, rows: int, *, ascii_only: bool = False) -> list[RenderableType]:
        """Draw the grid as `grid` does."""
        under_way = tuple((item.cell_id, item.repeat) for item in progress.running)
        key = (id(progress.cells), id(progress.rates), under_way, width, rows, ascii_only)
        if key != self._key:
            self._lines, self._key = grid(progress, width, rows, ascii_only=ascii_only), key
            self._held = progress.cells, progress.rates  # for as long as they live, their ids are theirs alone
        return self._lines


def _states(progress: Progress) -> dict[str, tuple[str, ...]]:
    """Return the state of every repeat, those under way too."""
    states = dict(progress.cells)
    for item in progress.running:
        of_cell = list(states.get(item.cell_id, ()))
        if item.repeat < len(of_cell):
            of_cell[item.repeat] = _RUNNING
            states[item.cell_id] = tuple(of_cell)
    return states


def _chosen(states: Mapping[str, Sequence[str]], rows: int) -> list[str]:
    """Return the cells to show, in the order of the plan."""
    order = list(states)

    def weight(cell: str) -> int:
        of_cell = states[cell]
        if _RUNNING in of_cell:
            return 0
        if any(_is_failure(state) for state in of_cell):
            return 1
        return 2 if PENDING in of_cell else 3

    chosen = (
        set(sorted(order, key=lambda cell: (weight(cell), order.index(cell)))[:rows]) if len(order) > rows else None
    )
    return order if chosen is None else [cell for cell in order if cell in chosen]


def _is_failure(state: str) -> bool:
    return state in {status.value for status in Status if status.is_failure}


def _row(states: Sequence[str], room: int, *, ascii_only: bool) -> Text:
    """Return the marks of a row. If they do not fit, those of repeats in the middle give way to a count."""
    text = Text(no_wrap=True)
    if len(states) <= room:
        marks = [_mark(state) for state in states]
        for mark in marks:
            text.append(mark[ascii_only], style=mark[2])
        return text
    counts = Counter(states)
    parts = [(state, count) for state, count in counts.most_common() if state != PENDING]
    for number, (state, count) in enumerate(parts):
        mark = _mark(state)
        text.append(f"{' ' if number else ''}{mark[ascii_only]}{count}", style=mark[2])
    text.append(f"{' ' if parts else ''}of {len(states)}", style="dim")
    text.truncate(room, overflow="ellipsis")
    return text


def _mark(state: str) -> tuple[str, str, str]:
    if state in MARKS:
        return MARKS[state]
    return _FAILED if _is_failure(state) else _NOT_MEASURED


def shortened(text: str, width: int) -> str:
    """Return an id with its middle left out: both the environment at its begin and the options at its end tell cells
    apart.
    """
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def _rest(states: Mapping[str, Sequence[str]], shown: Sequence[str]) -> str:
    hidden = [of_cell for cell, of_cell in states.items() if cell not in set(shown)]
    complete = sum(PENDING not in of_cell for of_cell in hidden)
    return f"and {len(hidden):,} more cells: {complete:,} complete, {len(hidden) - complete:,} to come"


def _legend(states: Mapping[str, Sequence[str]], *, ascii_only: bool) -> Text:
    """Return what the marks that are there mean, with their numbers."""
    counts: Counter[tuple[tuple[str, str, str], str]] = Counter()
    for state, count in Counter(state for of_cell in states.values() for state in of_cell).items():
        word = _WORDS.get(state, "failed" if _is_failure(state) else "not measured")
        counts[_mark(state), word] += count
    text = Text(no_wrap=True, overflow="ellipsis")
    for number, ((mark, word), count) in enumerate(sorted(counts.items(), key=lambda each: _ORDER.index(each[0][1]))):
        text.append("   " if number else "")
        text.append(mark[ascii_only], style=mark[2])
        text.append(f" {count:,} {word}")
    return text
