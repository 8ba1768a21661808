"""The table of the largest batches that a run has found, with the cells of the same work next to each other."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from orchestrator.analysis.estimates import estimate
from orchestrator.domain import Cell
from orchestrator.reporting.findings.model import CellReport
from orchestrator.reporting.inline import statuses
from orchestrator.results.parts.largest_batch import LargestBatch
from orchestrator.wording import memory

TITLE = "Largest batches"
NOTE = (
    "Samples of a step that fit, of all GPUs together: geometric mean over the repeats, with its 95 % interval. A size "
    "at most 1 % larger does not fit. These cells are not timed."
)
HEADS = ("Work", "Framework", "Largest batch", "Its interval", "Smallest to largest", "Device memory", "Repeats")
NUMBERS = (2, 3, 4, 5)


def rows(cells: Sequence[CellReport]) -> Iterator[tuple[str, ...]]:
    """Yield a row for every cell that looked for its largest batch, in each group the largest one first."""
    for work, group in groupby(sorted(cells, key=_work), key=_work):
        for cell in sorted(group, key=lambda cell: -max(_sizes(cell), default=0)):
            yield work, cell.label, *_figures(cell), statuses(cell.statuses)


def size_text(size: float) -> str:
    """Return a batch size such as `1,536`."""
    return f"{size:,.0f}"


def _work(report: CellReport) -> str:
    cell: Cell = report.cell
    return f"{cell.workload.label} on {cell.system.name}"


def _searches(cell: CellReport) -> list[LargestBatch]:
    measured = (repeat.measurement for repeat in cell.repeats)
    return [each.search for each in measured if each and each.search]


def _sizes(cell: CellReport) -> list[int]:
    return [search.fits for search in _searches(cell)]


def _figures(cell: CellReport) -> tuple[str, str, str, str]:
    sizes = _sizes(cell)
    if not sizes:
        return "–", "–", "–", "–"
    whole, of_sizes = all(search.refused is None for search in _searches(cell)), estimate(sizes)
    bounds = (of_sizes.low, of_sizes.high)
    interval = "–".join(size_text(end) for end in bounds if end is not None)
    peaks = [each.measurement.peak_device_bytes for each in cell.repeats if each.measurement]
    known = [peak for peak in peaks if peak is not None]
    return (
        size_text(of_sizes.value) + (" (all samples)" if whole else ""),
        interval or "–",
        f"{size_text(min(sizes))}–{size_text(max(sizes))}",
        memory(max(known)) if known else "–",
    )
