"""Images that a run needs no longer, because the last repeat in them is done."""

from collections import Counter
from collections.abc import Iterable

from orchestrator.domain import Cell
from orchestrator.events import Listener, Notice
from orchestrator.running.surroundings import Free
from orchestrator.runtimes import Provided, Ready


class LastCells:
    """The repeats that are left of each image. Without `free`, nothing is ever removed."""

    def __init__(self, cells: Iterable[Cell], provided: Provided, free: Free | None, listener: Listener) -> None:
        self._left = Counter(cell.image for cell in cells)
        self._provided = provided
        self._free = free
        self._listener = listener

    def done(self, cell: Cell) -> None:
        """Count a repeat as done, and free its image after the last one."""
        self._left[cell.image] -= 1
        ready = self._provided.get(cell.image)
        if self._free is None or self._left[cell.image] or not isinstance(ready, Ready):
            return
        removed = self._free(ready.handle, self._needed())
        if removed:
            self._listener(Notice(f"no cell is left for {cell.image}: removed {', '.join(removed)}"))

    def _needed(self) -> frozenset[str]:
        """Return the references and ids of the images that repeats are left for."""
        waiting = [ready for image, ready in self._provided.items() if self._left[image] and isinstance(ready, Ready)]
        return frozenset(each for ready in waiting for each in (ready.handle, ready.image_id) if each)
