"""The owner of a container, by which the containers of dead orchestrators are removed."""

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
LABEL = "bench.owner"


@dataclass(frozen=True, slots=True)
class Owner:
    """One orchestrator process, named so that no other ever has the same name."""

    boot: str
    """Id of this start of the kernel."""
    namespace: str
    """The place in which its process id has a meaning, as two containers on one kernel may both have a process 7."""
    pid: int
    started: str
    """Clock ticks from the start of the kernel to its own."""

    def __str__(self) -> str:
        return f"{self.boot}/{self.namespace}/{self.pid}/{self.started}"


def parse(text: str) -> Owner | None:
    """Read an owner from a label, or return None if it is none."""
    parts = text.split("/")
    if len(parts) != 4 or not parts[2].isdigit():
        return None
    return Owner(parts[0], parts[1], int(parts[2]), parts[3])


def this_process(proc: Path = PROC) -> Owner:
    """Name the process that asks."""
    pid = os.getpid()
    boot = (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    namespace = (proc / "self/ns/pid").readlink().name
    return Owner(boot, namespace, pid, _started(pid, proc) or "0")


def is_dead(owner: Owner, judge: Owner, proc: Path = PROC) -> bool | None:
    """Return true if an owner has ended.

    Returns None if `judge` cannot see it, from another kernel or process namespace.
    """
    if (owner.boot, owner.namespace) != (judge.boot, judge.namespace):
        return None
    return _started(owner.pid, proc) != owner.started


def _started(pid: int, proc: Path) -> str | None:
    try:
        status = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name in parentheses may hold anything; after it come state (field 3) … and start time (field 22).
    fields = status.rpartition(")")[2].split()
    return None if fields[0] in {"Z", "X"} else fields[19]
