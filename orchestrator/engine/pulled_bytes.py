"""The bytes of a pull, by what the engine says of its layers."""

import time
from collections.abc import Callable, Mapping
from typing import Any

TOLD_S = 1.0
"""The shortest time between two words on the bytes of a pull."""
Fetched = Callable[[int, int], None]
"""Is told how many bytes of how many are here, as far as the engine has said."""


class PulledBytes:
    """The bytes of the layers of one pull, told when they have changed, but not more often than `TOLD_S`."""

    def __init__(self, tell: Fetched, clock: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._clock = clock
        self._layers: dict[str, tuple[int, int]] = {}
        self._next_s = 0.0

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take in what the engine says of a layer."""
        layer, status = str(message.get("id")), message.get("status")
        detail = message.get("progressDetail") or {}
        if status == "Downloading" and detail.get("total"):
            self._layers[layer] = int(detail.get("current", 0)), int(detail["total"])
        elif status in {"Download complete", "Pull complete"} and layer in self._layers:
            total = self._layers[layer][1]
            self._layers[layer] = total, total
        else:
            return
        now = self._clock()
        if now >= self._next_s:
            self._next_s = now + TOLD_S
            self._tell(*map(sum, zip(*self._layers.values(), strict=True)))


def untold(done: int, total: int) -> None:
    """Tell nobody."""
    del done, total
