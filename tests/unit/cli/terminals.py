"""The program on a real terminal of a chosen size."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Sequence
from pathlib import Path


def on_terminal(
    folder: Path,
    arguments: Sequence[str],
    *,
    lines: int = 10,
    columns: int = 80,
    is_piped: bool = False,
    **variables: str,
) -> tuple[int, str]:
    """Run a command with a terminal for stdout and stderr, and return its status and what is on the terminal.

    With `is_piped` its stdout is a pipe, whose content is returned in place of the terminal's.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PAGER", "NO_PAGER", "LESS", "COLUMNS", "LINES", "NO_COLOR", "ORCHESTRATOR_DOCS"}
    }
    environment = inherited | {"TERM": "xterm", "XDG_CACHE_HOME": str(folder / "cache")} | variables
    said = bytearray()

    def read() -> None:
        try:
            while piece := os.read(ours, 65536):
                said.extend(piece)
        except OSError:  # the other end is closed
            pass

    process = subprocess.Popen(
        [sys.executable, "-m", "orchestrator", *arguments], cwd=folder, env=environment, stdin=theirs,
        stdout=subprocess.PIPE if is_piped else theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    reader = threading.Thread(target=read)
    reader.start()
    out, _ = process.communicate(timeout=120)
    reader.join()
    os.close(ours)
    text = out if is_piped else bytes(said)
    return process.returncode, text.decode().replace("\r\n", "\n")
