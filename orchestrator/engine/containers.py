"""One container from its making to its removal, confined as far as the engine allows."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, NotFound
from docker.types import Mount
from docker.utils.socket import STDOUT, frames_iter

from orchestrator.engine import confinement, gpu_access
from orchestrator.engine.confinement import TMP, Limits, source
from orchestrator.engine.gpu_access import GpuAccess
from orchestrator.files import BoundedLog
from orchestrator.processes import (
    Cause,
    LostError,
    StartError,
    Stop,
    Watch,
    corrected_wall_s,
    last_line,
    sleeping_s,
    wait,
)

IO = "/io"
SCRIPT = "/script"
NETWORK = "/network"
DATA = "/data"
_REMOVE_TRIES = 3
_LAST_WORDS_S = 2.0
_ENGINE_ERRORS = (DockerException, requests.exceptions.RequestException, OSError)


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """The settings of one container. What is denied is the same for all."""

    image: str
    folder: Path | None
    """The host's folder that it sees at `/io`, writable, beside `shown` alone; None for nothing writable."""
    user: str
    """`uid:gid`."""
    command: tuple[str, ...] = ("--io", IO)
    environment: tuple[tuple[str, str], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    cpus: tuple[int, ...] = ()
    """Its cpuset; empty for every CPU."""
    gpus: tuple[str, ...] = ()
    """Device ids, as the driver names them."""
    gpu_access: GpuAccess = GpuAccess.DEVICE_REQUESTS
    shown: tuple[tuple[Path, str], ...] = ()
    """Folders that it sees read-only, each with where: a foreign script's, a dataset's."""
    kept: tuple[Path, str] | None = None
    """A further folder that it may write to, with its place: what its framework compiles, for containers to come."""
    limits: Limits = field(default_factory=Limits)
    program: str | None = None
    """Runs in place of the image's entry point."""
    reads_everything: bool = False
    """Root in it may read what belongs to other users, as it may in any container of the engine's own making."""


@dataclass(frozen=True, slots=True)
class ContainerEnd:
    """The end of a container, as the engine saw it before the removal."""

    cause: Cause
    exit_code: int | None
    """None unless it ended by itself."""
    oom_killed: bool
    image_id: str
    create_s: float
    wall_s: float


class EngineLostError(LostError):
    """The engine went away under a container, which may be there again when the engine is."""

    def __init__(self, message: str, identity: str = "") -> None:
        self.identity = identity
        """Of the container that is left; empty where none was made."""
        super().__init__(f"the engine was lost: {message}")


class Container:
    """A container that exists. `container` makes and removes it."""

    def __init__(
        self, api: docker.APIClient, identity: str, log: BoundedLog, answer: BoundedLog | None, began: float
    ) -> None:
        self.identity = identity
        self._api = api
        self._log = log
        self._answer = answer
        self._began = began
        self._started = began
        self._slept_s = sleeping_s()
        self._done = threading.Event()
        self._lost: Exception | None = None
        self._stream: Any = None
        self._follower: threading.Thread | None = None

    def start(self) -> None:
        """Start it. Raises `StartError` with the engine's message."""
        try:
            # Attached before the start, so that no word is lost and the engine needs to keep no log of its own.
            self._stream = self._api.attach_socket(self.identity, params={"stdout": 1, "stderr": 1, "stream": 1})
            self._api.start(self.identity)
        except _ENGINE_ERRORS as error:
            raise _failed(error, self.identity) from error
        self._started = time.perf_counter()
        self._slept_s = sleeping_s()
        self._follower = threading.Thread(target=self._follow, daemon=True)
        self._follower.start()

    def release(self) -> None:
        """Let go of its output, once it is removed."""
        if self._follower:
            self._follower.join(_LAST_WORDS_S)
        if self._stream:
            # The connection belongs to the response, which the library hides there and never closes.
            self._stream._response.close()

    def wait(self, timeout_s: float | None, stop: Stop, watch: Watch | None = None) -> ContainerEnd:
        """Block until it ends, its time is over or all must stop.

        `watch` is called about twice a second.

        Raises `EngineLostError` where the engine is lost on the way.
        """
        waited = wait(self._done, timeout_s=timeout_s, stop=stop, watch=watch)
        ended = time.perf_counter()
        if self._lost is not None:
            raise _failed(self._lost, self.identity) from self._lost
        description = self.described()  # before the removal: OOMKilled goes with it
        state = description["State"]
        create_s = self._started - self._began
        ran_s = corrected_wall_s(ended - self._started, waited.away_s, self._ran_s(state))
        cause = waited.cause
        if cause is Cause.TIMED_OUT and state.get("Status") == "exited" and ran_s <= (timeout_s or ran_s):
            cause = Cause.EXITED
        return ContainerEnd(
            cause=cause,
            exit_code=int(state["ExitCode"]) if cause is Cause.EXITED else None,
            oom_killed=bool(state["OOMKilled"]),
            image_id=str(description["Image"]),
            create_s=create_s,
            wall_s=create_s + ran_s,
        )

    def _ran_s(self, state: Mapping[str, Any]) -> float | None:
        """Return the seconds it ran by the engine's clock, or None if unknown.

        The time in which the system slept does not count.
        """
        if state.get("Status") != "exited":
            return None
        try:
            began, ended = (datetime.fromisoformat(str(state[key])) for key in ("StartedAt", "FinishedAt"))
            return (ended - began).total_seconds() - (sleeping_s() - self._slept_s)
        except (KeyError, ValueError):
            return None

    def described(self) -> Mapping[str, Any]:
        """Return the engine's description of it. Raises `StartError`."""
        try:
            return dict(self._api.inspect_container(self.identity))
        except _ENGINE_ERRORS as error:
            raise _failed(error, self.identity) from error

    @property
    def log_omitted_bytes(self) -> int:
        """Return the bytes of output that the bound of the log left out. It is final once the container is released."""
        return self._log.omitted_bytes

    def _follow(self) -> None:
        try:
            frames = frames_iter(self._stream, tty=False)  # type: ignore[no-untyped-call]  # the library has no types here
            for stream, data in frames:
                (self._answer if self._answer and stream == STDOUT else self._log).write(data)
            self._api.wait(self.identity, timeout=None)
        except _ENGINE_ERRORS as error:
            self._lost = error
        finally:
            self._done.set()


@contextmanager
def container(
    client: docker.DockerClient, spec: ContainerSpec, log: Path, answer: BoundedLog | None = None
) -> Iterator[Container]:
    """Make a container, and remove it in any case.

    Its output goes to `log`, which is bounded; its standard output goes to `answer` instead where that is given.

    Raises `StartError` where the engine refuses, `EngineLostError` where it does not answer.
    """
    began = time.perf_counter()
    writable = {*((IO,) if spec.folder else ()), *((spec.kept[1],) if spec.kept else ())}
    own = {*writable, *(place for _, place in spec.shown), *spec.limits.closed}
    with ExitStack() as closing:
        try:
            volumes = closing.enter_context(confinement.covered_volumes(client, spec.image, own, dict(spec.labels)))
            made = client.api.create_container(**_configuration(client.api, spec, volumes))
        except _ENGINE_ERRORS as error:
            raise _failed(error) from error
        owned = Container(client.api, str(made["Id"]), closing.enter_context(BoundedLog(log)), answer, began)
        closing.callback(owned.release)
        closing.callback(remove, client, owned.identity)
        confinement.refuse_writable(owned.described(), writable)
        yield owned


def remove(client: docker.DockerClient, identity: str) -> None:
    """Remove a container with all that runs in it, if it still exists.

    Raises `StartError` where the engine will not, `EngineLostError` where it does not answer.
    """
    for attempt in range(_REMOVE_TRIES):
        try:
            client.api.remove_container(identity, force=True, v=True)
            return
        except NotFound:
            return
        except _ENGINE_ERRORS as error:
            if "already in progress" in str(error):
                return
            if attempt + 1 == _REMOVE_TRIES:
                if isinstance(error, DockerException):
                    raise StartError(f"container {identity[:12]} cannot be removed: {_explain(error)}") from error
                raise EngineLostError(_explain(error), identity) from error
            time.sleep(0.2)


@dataclass(frozen=True, slots=True)
class LabelledContainer:
    """A container that is there, with its labels."""

    identity: str
    running: bool
    """True if it runs or is about to."""
    labels: Mapping[str, str]


def labelled(client: docker.DockerClient, label: str) -> list[LabelledContainer]:
    """List every container that carries a label, whatever its state."""
    containers = client.api.containers(all=True, filters={"label": label})
    return [LabelledContainer(c["Id"], c["State"] not in {"exited", "dead"}, c["Labels"] or {}) for c in containers]


def _configuration(api: docker.APIClient, spec: ContainerSpec, volumes: Sequence[Mount]) -> dict[str, Any]:
    host = confinement.host_options(spec.limits)
    # Not a bind's "source:target:mode": a colon in the folder's name would end its source.
    host["mounts"] = [
        *([Mount(IO, source(spec.folder, spec.limits), type="bind")] if spec.folder else []),
        *([Mount(spec.kept[1], source(spec.kept[0], spec.limits), type="bind")] if spec.kept else []),
        *(Mount(place, source(folder, spec.limits), type="bind", read_only=True) for folder, place in spec.shown),
        *volumes,
    ]
    if spec.limits.has_selinux and (spec.folder or spec.kept or spec.shown):
        # A label of theirs would be written to every file of a dataset, and stay there.
        host["security_opt"].append("label=disable")
    if spec.reads_everything:
        host["cap_add"] = ["DAC_OVERRIDE"]
    if spec.cpus:
        host["cpuset_cpus"] = ",".join(map(str, spec.cpus))
    if spec.gpus:
        host |= gpu_access.host_settings(spec.gpu_access, spec.gpus)
    return {
        "image": spec.image,
        "command": list(spec.command),
        **({"entrypoint": [spec.program]} if spec.program else {}),
        "environment": {"HOME": TMP} | dict(spec.environment) | _of_gpus(spec),
        "labels": dict(spec.labels),
        "user": spec.user,
        "healthcheck": confinement.NO_HEALTH_CHECK,
        # The client's own configuration may name proxies, with passwords; what is measured has no network to use them.
        "use_config_proxy": False,
        "host_config": api.create_host_config(**host),
    }


def _of_gpus(spec: ContainerSpec) -> dict[str, str]:
    return gpu_access.variables(spec.gpu_access, spec.gpus) if spec.gpus else {}


def answers(client: docker.DockerClient) -> bool:
    """Return true if the engine answers."""
    try:
        return bool(client.ping())
    except _ENGINE_ERRORS:
        return False


def _failed(error: Exception, identity: str = "") -> StartError:
    """Return the error for a refusal of the engine, or for an engine that does not answer."""
    refused = isinstance(error, DockerException)
    return StartError(_explain(error)) if refused else EngineLostError(_explain(error), identity)


def _explain(error: Exception) -> str:
    said = error.explanation if isinstance(error, APIError) and error.explanation else str(error)
    return last_line(str(said)) or type(error).__name__
