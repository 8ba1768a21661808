"""The command line, which parses options, prints results and decides exit codes."""

import gc
import signal
import sys
from collections.abc import Sequence

_ALLOCATIONS = 50_000
"""Between two collections of cycles. Libraries allocate a multiple while they load, none of it waste."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its status.

    The status is 0 if all is fine, 1 if something failed, 2 for bad input, 3 if the host cannot, 130 if interrupted.
    """
    gc.set_threshold(_ALLOCATIONS)
    try:
        # Imported here, so that a Ctrl-C while the libraries load is an interruption like any other.
        from orchestrator.cli.program import run

        code = run(arguments)
    except KeyboardInterrupt:
        code = 130
    # Everything is written: what comes while the interpreter is torn down changes nothing any more.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)
