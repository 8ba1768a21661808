"""The command line, which parses options, prints results and decides exit codes."""

import signal
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its status.

    The status is 0 if all is fine, 1 if something failed, 2 for bad input, 3 if the host cannot, 130 if interrupted.
    """
    try:
        # Imported here, so that a Ctrl-C while the libraries load is an interruption like any other.
        from orchestrator.cli.program import run

        code = run(arguments)
    except KeyboardInterrupt:
        code = 130
    # Everything is written: what comes while the interpreter is torn down changes nothing any more.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)
