"""The view of a run, which stays in place on a terminal, and is JSON lines for programs and else plain lines."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rich.console import Console

from orchestrator.events import Listener
from orchestrator.reporting.live.lines import LinesView
from orchestrator.reporting.live.plain import PlainView
from orchestrator.reporting.live.screen import LiveView


@contextmanager
def follow(*, json: bool = False) -> Iterator[Listener]:
    """Give a listener that shows events on stderr. With `json` they are lines for programs."""
    console = Console(file=sys.stderr, highlight=False)
    if json:
        yield LinesView(_write, lambda: datetime.now(UTC))
        return
    if not console.is_terminal or console.is_dumb_terminal:
        plain = PlainView(_write)
        try:
            yield plain
        finally:
            plain.close()
        return
    with LiveView(console, time.monotonic) as live:
        yield live


def _write(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()
