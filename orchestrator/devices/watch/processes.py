"""The processes of a launch, told from all others by what this host's kernel says of them."""

import os
import pwd
from dataclasses import dataclass, field
from pathlib import Path

PROC = Path("/proc")
_MOST_ANCESTORS = 64
_FIRST_NAMESPACE = "pid:[4026531836]"
"""Of processes: the one that a kernel begins with, whose numbers a GPU driver gives."""


@dataclass(slots=True)
class OwnProcesses:
    """The processes of one launch: those in its container, and those that this process has started."""

    proc: Path = PROC
    parent: int = field(default_factory=os.getpid)
    container: str = ""
    """The engine's id of the container; empty before there is one, and for a launch without one."""

    def in_container(self, identity: str) -> None:
        """Note the container of the launch."""
        self.container = identity

    def is_foreign(self, pid: int) -> bool:
        """Return true if a process is known to be none of the launch.

        One that has ended is not known, nor is any from inside another process namespace, where numbers are others.
        """
        if not has_numbers_of_drivers(self.proc):
            return False
        stat = self._stat(pid)
        if stat is None:
            return False
        if self.container and self.container in self._text(pid, "cgroup"):
            return False
        # The leader of its session stands for a process whose own parent has ended.
        return not self._descends(pid) and not self._descends(stat[1])

    def _descends(self, pid: int) -> bool:
        for _ in range(_MOST_ANCESTORS):
            if pid == self.parent:
                return True
            stat = self._stat(pid)
            if stat is None:
                return False
            pid = stat[0]
        return False

    def _stat(self, pid: int) -> tuple[int, int] | None:
        """Return the parent and the session of a process, or None if it has ended or is hidden."""
        # The name of the program, in brackets, may hold spaces.
        fields = self._text(pid, "stat").rpartition(")")[2].split()
        return (int(fields[1]), int(fields[3])) if len(fields) > 3 else None

    def _text(self, pid: int, name: str) -> str:
        try:
            return (self.proc / str(pid) / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""


def has_numbers_of_drivers(proc: Path) -> bool:
    """Return false if this process lives in a process namespace of its own, in which the numbers of drivers mislead."""
    try:
        return (proc / "self" / "ns" / "pid").readlink().name == _FIRST_NAMESPACE
    except OSError:
        return True  # a kernel without such namespaces


def described(pid: int, proc: Path) -> str:
    """Describe a process, such as `python (process 123 of alice)`, as far as this user may see it."""
    folder = proc / str(pid)
    try:
        name = (folder / "comm").read_text(encoding="utf-8", errors="replace").strip()
        owner = folder.stat().st_uid
    except OSError:
        return f"process {pid}"
    if not has_numbers_of_drivers(proc):
        return f"process {pid}"
    try:
        return f"{name} (process {pid} of {pwd.getpwuid(owner).pw_name})"
    except KeyError:
        return f"{name} (process {pid} of user {owner})"
