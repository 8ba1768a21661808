"""Waiting for what another process or thread does: for a condition, never for a time."""

import time
from collections.abc import Callable

LIMIT_S = 600.0
"""Far beyond what any condition or process takes on a busy host."""
_PAUSE_S = 0.01


def until(condition: Callable[[], object]) -> None:
    """Return once a condition is true; fails where it never comes true."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(_PAUSE_S)


def is_stopped(pid: int) -> bool:
    """Return true if a process is stopped as by Ctrl-Z."""
    return _state(pid) == "T"


def has_ended(pid: int) -> bool:
    """Return true if a process has ended, whether or not anybody has waited for it."""
    return _state(pid) in {"Z", ""}


def _state(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""
