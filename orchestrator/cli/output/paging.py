"""Long output on a terminal goes through a pager. What is piped never does."""

import io
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TextIO

from orchestrator.cli.output import manner

PAGED = frozenset({"plan", "report", "runs", "show", "models", "frameworks", "compare", "history", "schema"})
"""The commands that print only once they have all of their answer."""
_LESS = "FRX"
"""Leave at once what fits, keep colors, and leave the text on the terminal."""
_STEERING = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)")


class _Held(io.TextIOWrapper):
    """A stdout that keeps what is written, and says of itself what the terminal says."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__(io.BytesIO(), encoding=terminal.encoding, errors=terminal.errors, write_through=True)
        self._terminal = terminal

    def isatty(self) -> bool:
        """Return true, so that colors and widths are those of the terminal."""
        return True

    def fileno(self) -> int:
        """Return that of the terminal."""
        return self._terminal.fileno()

    def kept(self) -> bytes:
        """Return all that was written."""
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)  # noqa: S101 - it was made so
        return self.buffer.getvalue()


@contextmanager
def held(command: str) -> Iterator[None]:
    """Hold the output of a command back to its end, if it may be paged, and then show it."""
    terminal = sys.stdout
    if command not in PAGED or manner.current().for_programs or not terminal.isatty():
        yield
        return
    holding = _Held(terminal)
    sys.stdout = holding
    try:
        yield
    finally:
        sys.stdout = terminal
        _show(holding.kept(), terminal)


def _show(text: bytes, terminal: TextIO) -> None:
    pager = pager_of(os.environ) if manner.current().pages else []
    if pager and _is_long(text.decode(terminal.encoding, "replace")):
        from orchestrator import processes

        if processes.page(pager, text, {"LESS": _LESS, **os.environ}):
            return
    terminal.flush()
    terminal.write(text.decode(terminal.encoding, "replace"))
    terminal.flush()


def pager_of(environment: Mapping[str, str]) -> Sequence[str]:
    """Return the command of the pager: that of PAGER, or else `less` or `more`, and none if nothing is to be paged."""
    if environment.get("NO_PAGER") or environment.get("TERM") == "dumb":
        return []
    named = environment.get("PAGER")
    if named is None:
        found = filter(None, map(shutil.which, ("less", "more")))
        return [path] if (path := next(found, None)) else []
    try:
        return shlex.split(named)
    except ValueError:
        return []


def _is_long(text: str) -> bool:
    """Return true if a text takes more lines than the terminal has."""
    size = shutil.get_terminal_size()
    columns, lines = max(1, size.columns), size.lines
    plain = _STEERING.sub("", text)
    return sum(max(1, -(-len(line) // columns)) for line in plain.splitlines()) >= lines
