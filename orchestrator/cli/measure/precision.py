"""The price of a wanted interval, as `plan --for` prints it."""

from rich.table import Table
from rich.text import Text

from orchestrator.analysis.scatter.precision import Basis, CellPrecision
from orchestrator.cli.output import speech
from orchestrator.wording import counted, listing_of, seconds
from orchestrator.workflows.measure.precision import PlanPrecision

_MOST_NAMED = 3
_HALF_WIDTH = "half-width: half of the 95 % interval that is expected, with its 90 % range"
_LEVELS = (
    "steps to hosts: the standard deviation at each level, beyond the levels below it; what differs from run to run "
    "and from host to host is in no interval of one run"
)


def show_precision(planned: PlanPrecision) -> None:
    """Print repeats, blocks and time of each cell, how its figures scatter, and what is not known."""
    console = speech.output()
    heads = (
        "cell", "repeats", "of blocks", "time", "half-width", "90 % range", "steps", "blocks", "containers", "runs",
        "hosts", "known from",
    )  # fmt: skip
    table = Table(*heads, box=None, pad_edge=False, header_style="bold")
    for cell in planned.cells:
        table.add_row(Text(cell.id, overflow="fold"), *_row(cell), Text(_known_from(cell), overflow="fold"))
    console.print()
    console.print(table)
    console.print(Text("\n".join(_lines(planned))))


def _row(cell: CellPrecision) -> list[str]:
    reached, scatter = cell.reached, cell.scatter
    ends = ("–", "–")
    if reached:
        ends = (f"± {100 * reached.expected:.2g} %", f"{100 * reached.low:.2g}–{100 * reached.high:.2g} %")
    levels = (scatter.step, scatter.block, scatter.container, scatter.run, scatter.host) if scatter else (None,) * 5
    return [
        "–" if cell.repeats is None else str(cell.repeats),
        str(cell.blocks),
        "–" if cell.seconds is None else seconds(cell.seconds),
        *ends,
        *("–" if variance is None else f"{100 * variance**0.5:.2g} %" for variance in levels),
    ]


def _known_from(cell: CellPrecision) -> str:
    return counted(cell.stored_repeats, "repeat") if cell.basis is Basis.STORED else cell.basis.value


def _lines(planned: PlanPrecision) -> list[str]:
    lines = []
    if planned.repeats:
        total = f"{counted(planned.repeats, 'container')}, {seconds(planned.seconds)} to measure"
        lines += [f"for ± {100 * planned.wanted:g} %: {total}; {_HALF_WIDTH}", _LEVELS]
    others = [cell.id for cell in planned.cells if cell.basis is Basis.OTHERS]
    if others:
        lines.append(
            f"{counted(len(others), 'cell')} without two stored repeats ({listing_of(others, _MOST_NAMED)}): by how "
            f"{planned.others} other cells of this host scatter"
        )
    if planned.unknown:
        lines.append(
            f"nothing is stored that says how {counted(len(planned.unknown), 'cell')} "
            f"({listing_of(planned.unknown, _MOST_NAMED)}) would scatter: measure a few repeats first, with run"
        )
    if planned.out_of_reach:
        lines.append(f"a thousand repeats would not do for {listing_of(planned.out_of_reach, _MOST_NAMED)}")
    return lines
