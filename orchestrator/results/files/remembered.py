"""A memory of what was parsed, bounded by its size."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

_T = TypeVar("_T")
_MOST_BYTES = 16 * 2**20
"""Of `run.json`: that of a hundred cells has about 0.1 MB, and ten times that in memory."""


class Remembered(Generic[_T]):
    """A reader of contents that remembers what it read, because a command reads the same run in several places.

    Beyond a size it forgets what was longest unused, but never the last one.
    """

    def __init__(self, read: Callable[[bytes], _T]) -> None:
        self._read, self._size, self._lock = read, 0, Lock()
        self._known: OrderedDict[bytes, _T] = OrderedDict()

    def __call__(self, content: bytes) -> _T:
        """Return what a content says, which is read the first time. Raises as the reader does."""
        with self._lock:
            if content not in self._known:
                self._known[content] = self._read(content)
                self._size += len(content)
            self._known.move_to_end(content)
            while self._size > _MOST_BYTES and len(self._known) > 1:
                self._size -= len(self._known.popitem(last=False)[0])
            return self._known[content]
