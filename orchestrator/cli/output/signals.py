"""The first Ctrl-C or SIGTERM asks the run to stop and write everything. The second ends the program at once."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from orchestrator.cli.output import manner, speech

INTERRUPTED = 130


@contextmanager
def stop_on_signals(stop: threading.Event) -> Iterator[None]:
    """Set an event on the first signal. Restore the handlers on the way out.

    The signals are counted, because a time budget may have set the event before the first of them.
    """
    from orchestrator.events import Notice

    signals = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal signals
        del frame
        signals += 1
        if signals > 1:
            os._exit(INTERRUPTED)
        stop.set()
        name = signal.Signals(number).name
        if not manner.current().for_programs:
            sys.stderr.write("\n")
        speech.write(Notice(f"{name}: stopping; what is measured is kept. Once more ends at once."))

    previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
