"""Which view of a run a person gets: one that stays in place on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from orchestrator.events import Listener
from orchestrator.reporting import LiveView, PlainView


@contextmanager
def follow(*, quiet: bool = False) -> Iterator[Listener]:
    """Give a listener that shows events on stderr for as long as the context lasts; `quiet` takes plain lines."""
    console = Console(file=sys.stderr, highlight=False)
    if quiet or not console.is_terminal or console.is_dumb_terminal:
        view = PlainView(_write)
        yield view
        return
    with LiveView(console, time.monotonic) as live:
        yield live


def _write(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()
