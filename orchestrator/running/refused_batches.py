"""The batches that are known to be too large, from the searches of the same run."""

from dataclasses import replace

from orchestrator.domain import Cell, Workload
from orchestrator.results.contract import Result
from orchestrator.results.evidence import read_repeats
from orchestrator.results.store import Run


def without_batch(work: Workload) -> Workload:
    """Return a workload that is the same for every batch size."""
    return replace(work, batch_size=1, searches=False)


class RefusedBatches:
    """The smallest batch that each search has seen refused.

    Several repeats of a search may differ by what else lies in the memory of a GPU. What is too large is so for all.
    """

    def __init__(self, cells: tuple[Cell, ...], run: Run) -> None:
        """Read what earlier searches of a run have found."""
        self._searches = {_kind(cell): cell for cell in cells if cell.workload.searches}
        self._refused: dict[str, int] = {}
        for cell in self._searches.values():
            for stored in read_repeats(run, cell.id, range(cell.repeats)):
                self.note(cell, stored.result)

    def note(self, cell: Cell, result: Result | None) -> None:
        """Take in the result of a repeat."""
        search = result.largest_batch if result else None
        if search and search.refused:
            self._refused[cell.id] = max(search.refused, self._refused.get(cell.id, 0))

    def why_too_large(self, cell: Cell) -> str:
        """Return the reason that the batch of a cell does not fit, or an empty text if that is not known."""
        search = self._searches.get(_kind(cell))
        refused = self._refused.get(search.id) if search and search is not cell else None
        if search is None or refused is None or cell.global_batch < refused:
            return ""
        return f"a batch of {cell.global_batch:,} is too large: {search.id} was refused {refused:,}"


def _kind(cell: Cell) -> Cell:
    """Return a cell that is the same for all cells that differ by nothing but their batch and how they are timed."""
    return Cell(
        "", cell.framework, cell.system, without_batch(cell.workload), cell.image, cell.options,
        definition=cell.definition, script=cell.script,
    )  # fmt: skip
