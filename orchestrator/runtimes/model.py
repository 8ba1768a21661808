"""The interface of every runtime, which makes environments and launches repeats in them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.devices import Allocation
from orchestrator.domain import ImageSpec, Status, System
from orchestrator.events import Listener
from orchestrator.processes import Cause, Stop, Watch

STOPPED = "stopped"
"""The reason of everything that a request to stop leaves undone."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An environment in which cells can be launched."""

    image: str
    """`ImageSpec.name`."""
    handle: str
    """The handle by which the runtime launches it: an image, or the path of an interpreter."""
    versions: tuple[tuple[str, str], ...] = ()
    """Distributions it holds, as it was asked."""
    image_id: str | None = None
    base_digest: str | None = None
    """Of the image that this one stands on; None where there is none."""
    variables: tuple[tuple[str, str], ...] = ()
    """The variables that the framework needs, if the handle does not carry them."""
    size_bytes: int | None = None
    """Of an image, with all that it stands on; None where there is no image."""
    compile_cache: tuple[Path, str] | None = None
    """The folder of this host for what its framework compiles, and its place in a container; None for no cache."""
    seccomp: str | None = None
    """Name and SHA-256 of the profile of system calls that its containers run under; None without one."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The reason there is no such environment, in one line, and its log."""

    image: str
    status: Status
    reason: str
    log: Path | None = None


Provided = Mapping[str, Ready | Unavailable]


def _ignored(identity: str) -> None:
    del identity


@dataclass(frozen=True, slots=True)
class Task:
    """One repeat of one cell, ready to be launched with the `request.json` in its folder."""

    ready: Ready
    folder: Path
    log: Path
    system: System
    allocation: Allocation
    timeout_s: float
    labels: tuple[tuple[str, str], ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables that the matrix asks for."""
    shown: tuple[tuple[Path, str], ...] = ()
    """Folders that are shown read-only where the runtime can, each with its place there, such as `SCRIPT`."""
    started: Callable[[str], None] = _ignored
    """Told the engine's id of the container, before it is started; not called where there is none."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a launch."""

    cause: Cause
    exit_code: int | None
    """None unless it ended by itself."""
    wall_s: float
    create_s: float | None = None
    signal: int | None = None
    """The signal that killed it, if one did."""
    oom_killed: bool = False
    """The kernel killed something in it for want of memory."""
    image_id: str | None = None
    log_omitted_bytes: int = 0
    """Of its output, what the bound of the log left out."""


class Runtime(Protocol):
    """A runtime of cells, which is `docker`, `venv` or `host`."""

    @property
    def name(self) -> str:
        """As `--runtime` has it."""
        ...

    @property
    def pins_cpus(self) -> bool:
        """Return true if it confines a launch to the allocated CPUs. Otherwise the request asks the process to."""
        ...

    @property
    def mounts(self) -> bool:
        """Return true if it shows folders read-only. Otherwise a launch may write to them."""
        ...

    def seen(self, folder: Path, place: str) -> str:
        """Return the path at which a launch finds a folder that its task shows at a place."""
        ...

    def provide(
        self, images: Sequence[ImageSpec], *, jobs: int, logs: Path, listener: Listener, stop: Stop
    ) -> Provided:
        """Make the environments that are missing, `jobs` at once, and say for each how to launch it or why not."""
        ...

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        """Run one task to its end. Nothing of it is left when this returns.

        Raises `orchestrator.processes.StartError` where it cannot be started, `LostError` where the engine went away
        under it and is back, and `HostError` where it did not come back.
        """
        ...
