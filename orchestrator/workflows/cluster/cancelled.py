"""The word of `cancel` to a submitter that is still at work, which may be on another host."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from orchestrator.results.files.writing import write_atomically

_FILE = "cancelled"


@dataclass(frozen=True, slots=True)
class Cancellation:
    """A watch for a request to cancel that is newer than the watch."""

    path: Path
    before: str

    def is_asked(self) -> bool:
        """Return true if somebody has cancelled the run since the watch began."""
        return _read(self.path) != self.before


def watch(run: Path) -> Cancellation:
    """Begin to watch for a request to cancel a run."""
    path = run / _FILE
    return Cancellation(path, _read(path))


def ask(run: Path) -> None:
    """Ask every submitter of a run to submit nothing more."""
    write_atomically(run / _FILE, f"{secrets.token_hex(8)}\n")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
