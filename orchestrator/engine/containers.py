"""One container from its making to its removal, confined as far as the engine allows."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, NotFound
from docker.types import DeviceRequest, LogConfig, Mount
from docker.utils.socket import frames_iter

from orchestrator.processes import BoundedLog, Cause, LostError, StartError, Stop, Watch, last_line, wait

IO = "/io"
SCRIPT = "/script"
DATA = "/data"
PIDS = 4096
SHM_BYTES = 1 << 30
TMP_BYTES = 2 << 30
_REMOVE_TRIES = 3
_LAST_WORDS_S = 2.0
_ENGINE_ERRORS = (DockerException, requests.exceptions.RequestException, OSError)


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """What a container is given; what it is denied is the same for all."""

    image: str
    folder: Path
    """What it sees of the host, writable, at `/io`; and nothing else but `shown`."""
    user: str
    """`uid:gid`."""
    command: tuple[str, ...] = ("--io", IO)
    environment: tuple[tuple[str, str], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    cpus: tuple[int, ...] = ()
    """Its cpuset; empty for every CPU."""
    memory_bytes: int | None = None
    """Without swap on top; None for no bound."""
    gpus: tuple[str, ...] = ()
    """Device ids, as the driver names them."""
    shown: tuple[tuple[Path, str], ...] = ()
    """Folders that it sees read-only, each with where: a foreign script's, a dataset's."""
    pids: int = PIDS
    shm_bytes: int = SHM_BYTES
    tmp_bytes: int = TMP_BYTES


@dataclass(frozen=True, slots=True)
class ContainerEnd:
    """How a container ended, as the engine saw it before the removal."""

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
    """A container that exists; made and removed by `container`."""

    def __init__(self, api: docker.APIClient, identity: str, log: BoundedLog, began: float) -> None:
        self.identity = identity
        self._api = api
        self._log = log
        self._began = began
        self._started = began
        self._done = threading.Event()
        self._lost: Exception | None = None
        self._stream: Any = None
        self._follower: threading.Thread | None = None

    def start(self) -> None:
        """Start it; raises `StartError` with the engine's words."""
        try:
            # Attached before the start, so that no word is lost and the engine needs to keep no log of its own.
            self._stream = self._api.attach_socket(self.identity, params={"stdout": 1, "stderr": 1, "stream": 1})
            self._api.start(self.identity)
        except _ENGINE_ERRORS as error:
            raise _failed(error, self.identity) from error
        self._started = time.perf_counter()
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
        """Block until it ends, its time is over or all must stop; `watch` is called about twice a second.

        Raises `EngineLostError` where the engine is lost on the way.
        """
        cause = wait(self._done, timeout_s=timeout_s, stop=stop, watch=watch)
        ended = time.perf_counter()
        if self._lost is not None:
            raise _failed(self._lost, self.identity) from self._lost
        try:
            found = self._api.inspect_container(self.identity)  # before the removal: OOMKilled goes with it
        except _ENGINE_ERRORS as error:
            raise _failed(error, self.identity) from error
        state = found["State"]
        return ContainerEnd(
            cause=cause,
            exit_code=int(state["ExitCode"]) if cause is Cause.EXITED else None,
            oom_killed=bool(state["OOMKilled"]),
            image_id=str(found["Image"]),
            create_s=self._started - self._began,
            wall_s=ended - self._began,
        )

    @property
    def log_omitted_bytes(self) -> int:
        """Of its output, what the bound of the log left out; final once it is released."""
        return self._log.omitted_bytes

    def _follow(self) -> None:
        try:
            frames = frames_iter(self._stream, tty=False)  # type: ignore[no-untyped-call]  # the library has no types here
            for _, data in frames:
                self._log.write(data)
            self._api.wait(self.identity, timeout=None)
        except _ENGINE_ERRORS as error:
            self._lost = error
        finally:
            self._done.set()


@contextmanager
def container(client: docker.DockerClient, spec: ContainerSpec, log: Path) -> Iterator[Container]:
    """Make a container, and remove it whatever happens; its output goes to `log`, bounded.

    Raises `StartError` where the engine refuses, `EngineLostError` where it does not answer.
    """
    began = time.perf_counter()
    try:
        made = client.api.create_container(**_configuration(client.api, spec))
    except _ENGINE_ERRORS as error:
        raise _failed(error) from error
    with BoundedLog(log) as kept:
        owned = Container(client.api, str(made["Id"]), kept, began)
        try:
            yield owned
        finally:
            try:
                remove(client, owned.identity)
            finally:
                owned.release()


def remove(client: docker.DockerClient, identity: str) -> None:
    """Remove a container with whatever runs in it; one that has gone is fine.

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
class Found:
    """A container that is there, with its labels."""

    identity: str
    running: bool
    """Whether it runs, or is about to."""
    labels: Mapping[str, str]


def labelled(client: docker.DockerClient, label: str) -> list[Found]:
    """List every container that carries a label, whatever its state."""
    containers = client.api.containers(all=True, filters={"label": label})
    return [Found(c["Id"], c["State"] not in {"exited", "dead"}, c["Labels"] or {}) for c in containers]


def _configuration(api: docker.APIClient, spec: ContainerSpec) -> dict[str, Any]:
    host: dict[str, Any] = {
        "network_mode": "none",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "read_only": True,
        "tmpfs": {"/tmp": f"rw,exec,nosuid,nodev,size={spec.tmp_bytes},mode=1777"},  # noqa: S108 - the container's own
        "shm_size": spec.shm_bytes,
        "pids_limit": spec.pids,
        # Not a bind's "source:target:mode": a colon in the folder's name would end its source.
        "mounts": [
            Mount(IO, str(spec.folder.resolve()), type="bind"),
            *(Mount(place, str(folder.resolve()), type="bind", read_only=True) for folder, place in spec.shown),
        ],
        "log_config": LogConfig(type="none"),
        "ipc_mode": "private",
        # Otherwise the engine copies the name servers and domains of the host into the container.
        "dns": ["127.0.0.1"],
        "dns_search": ["."],
    }
    if spec.cpus:
        host["cpuset_cpus"] = ",".join(map(str, spec.cpus))
    if spec.memory_bytes is not None:
        host |= {"mem_limit": spec.memory_bytes, "memswap_limit": spec.memory_bytes}
    if spec.gpus:
        host["device_requests"] = [DeviceRequest(driver="nvidia", device_ids=list(spec.gpus), capabilities=[["gpu"]])]
    return {
        "image": spec.image,
        "command": list(spec.command),
        "environment": {"HOME": "/tmp"} | dict(spec.environment),  # noqa: S108 - the container's own
        "labels": dict(spec.labels),
        "user": spec.user,
        # The client's own configuration may name proxies, with passwords; what is measured has no network to use them.
        "use_config_proxy": False,
        "host_config": api.create_host_config(**host),
    }


def answers(client: docker.DockerClient) -> bool:
    """Whether the engine is there."""
    try:
        return bool(client.ping())
    except _ENGINE_ERRORS:
        return False


def _failed(error: Exception, identity: str = "") -> StartError:
    """What the engine refuses, told from an engine that does not answer."""
    refused = isinstance(error, DockerException)
    return StartError(_explain(error)) if refused else EngineLostError(_explain(error), identity)


def _explain(error: Exception) -> str:
    said = error.explanation if isinstance(error, APIError) and error.explanation else str(error)
    return last_line(str(said)) or type(error).__name__
