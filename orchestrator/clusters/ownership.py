"""The one submitter of a run, known by a file, since no lock of a shared folder is trusted between hosts.

Submitters of one host exclude each other by a lock. Those of several hosts see this file, whose times are those of the
file server, so that no two clocks are compared.
"""

import os
import platform
import secrets
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import HostError
from orchestrator.results.files.writing import write_atomically
from orchestrator.wording import seconds

BOOT = Path("/proc/sys/kernel/random/boot_id")
FILE = "submitter"
SILENT_S = 600.0
"""A submitter that has left no sign for so long has ended. None takes longer between two signs: `sbatch` tries for
minutes."""


@dataclass(frozen=True, slots=True)
class ThisHost:
    """The host of a submitter."""

    name: str
    boot: str
    """The id of the boot of its kernel, since names of hosts are given twice."""


def this_host() -> ThisHost:
    """Return the host of this process."""
    return ThisHost(platform.node() or "this host", BOOT.read_text(encoding="ascii").strip())


@dataclass(frozen=True, slots=True)
class Ownership:
    """The right to submit the jobs of a run, until another submitter has taken it."""

    path: Path
    token: str

    def confirm(self) -> None:
        """Leave a sign that the submitter is at work. Raises `HostError` if another one has taken the run."""
        lines = _lines(self.path)
        if lines[-1:] != [self.token]:
            other = f"the orchestrator on {lines[0]}" if lines else "another orchestrator"
            raise HostError(f"{self.path.parent}: {other} follows this run now, so this one submits nothing more")
        try:
            os.utime(self.path)
        except OSError as error:
            raise HostError(f"{self.path}: cannot be written: {error.strerror}") from error

    def release(self) -> None:
        """Leave the run to others, unless one has taken it."""
        if _lines(self.path)[-1:] == [self.token]:
            self.path.unlink(missing_ok=True)


def claim(run: Path, host: ThisHost) -> Ownership:
    """Become the submitter of a run, with the lock of this host held.

    Of several hosts that do so at once, the last one has the run, and the others notice before they submit anything.
    Raises `HostError` if a submitter on another host has left a sign of late.
    """
    path, token = run / FILE, secrets.token_hex(8)
    name, boot, *_ = (*_lines(path), "", "")
    if name and boot != host.boot and (silent_s := _silent_s(path)) < SILENT_S:
        raise HostError(
            f"{run}: the orchestrator on {name} follows this run, with a sign {seconds(silent_s)} ago; a first Ctrl-C "
            f"there detaches it. If it was killed, remove {path}"
        )
    write_atomically(path, f"{host.name}\n{host.boot}\n{token}\n")
    return Ownership(path, token)


def _silent_s(path: Path) -> float:
    """Return the seconds since the last sign, both by the clock of the file server."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    write_atomically(beside, "")
    try:
        return max(0.0, beside.stat().st_mtime - path.stat().st_mtime)
    except FileNotFoundError:  # released meanwhile
        return SILENT_S
    finally:
        beside.unlink(missing_ok=True)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
