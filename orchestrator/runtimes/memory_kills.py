"""Processes that the kernel killed for want of memory."""

from pathlib import Path
from signal import SIGKILL

VMSTAT = Path("/proc/vmstat")


def counted(vmstat: Path = VMSTAT) -> int:
    """Return the number of processes the kernel of this host has killed for want of memory, or 0 if unknown."""
    try:
        lines = vmstat.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def was_one(sent: int | None, before: int) -> bool:
    """Tell whether a process that ended by the signal `sent` was killed so, if `before` were counted at its start.

    Nobody but the kernel counts there, and nobody of ours sends this signal to a process that still counts.
    """
    return sent == SIGKILL and counted() > before
