"""A build that fails because of the engine, told from one that fails by itself."""

from types import SimpleNamespace
from typing import Any

import docker
import pytest
import requests
from docker.errors import APIError
from image_specs import image_spec

from orchestrator.build_settings import BuildSettings
from orchestrator.engine import health
from orchestrator.engine.images import BuildError, StepError, follow
from orchestrator.engine.questions import LIMITS
from orchestrator.images import Inputs, render
from orchestrator.images.context import ContextFile
from orchestrator.images.engine_faults import ROOM_BYTES, engine_fault
from orchestrator.images.making import EnvironmentFailedError

RECIPE = render(image_spec(), BuildSettings(), Inputs(benchmarks=(ContextFile("benchmarks/run.py", b""),)))
BRIDGE = "adding interface veth0d94fd1 to bridge docker0 failed: could not find bridge docker0"
LAYERS = ("Step 1/2 : FROM base", " ---> 0123456789ab", "Step 2/2 : RUN true", " ---> Running in ba9876543210")


class Engine:
    """An engine that makes containers, and starts them or answers with a status."""

    base_url = "http://engine"

    def __init__(self, status: int = 0, said: str = "") -> None:
        self.asked: list[str] = []
        self.images: list[str] = []
        self.declared: dict[str, dict[str, Any]] = {}
        self.host: dict[str, Any] = {}
        self._status, self._said = status, said
        self.api: Any = self
        self.create_host_config = docker.APIClient(base_url="http://127.0.0.1:1", version="1.41").create_host_config

    def info(self) -> dict[str, Any]:
        return {"SecurityOptions": ["name=seccomp,profile=default"]}

    def version(self) -> dict[str, Any]:
        return {"Version": "28.0"}

    def get(self, url: str) -> Any:
        return SimpleNamespace(headers={})

    def inspect_image(self, image: str) -> dict[str, Any]:
        return {"Config": {"Volumes": self.declared}}

    def remove_volume(self, name: str, force: bool) -> None:
        self.asked.append("remove volume")

    def create_container(self, image: str, command: list[str], **made: Any) -> dict[str, str]:
        self.images.append(image)
        self.host = made["host_config"]
        return {"Id": "c0ffee"}

    def start(self, identity: str) -> None:
        self.asked.append("start")
        if self._status:
            response = requests.Response()
            response.status_code = self._status
            raise APIError("start", response=response, explanation=self._said)

    def remove_container(self, identity: str, force: bool, v: bool) -> None:
        self.asked.append("remove")


def fault(error: Exception, engine: Any, *lines: str) -> str:
    return engine_fault(error, RECIPE, engine, BuildSettings(), lines or LAYERS)


@pytest.mark.parametrize(
    ("detail", "kind"), [({"code": 7, "message": "m"}, StepError), ({"message": "m"}, BuildError), (None, BuildError)]
)
def test_exit_code_tells_a_step_from_the_engine(detail: object, kind: type[BuildError]) -> None:
    with pytest.raises(BuildError) as raised:
        follow([{"error": "m", "errorDetail": detail}], lambda line: None)

    assert raised.type is kind


def test_engine_that_starts_no_container_is_at_fault() -> None:
    engine = Engine(500, BRIDGE)

    assert BRIDGE in fault(BuildError(BRIDGE), engine)
    assert engine.images == ["0123456789ab"]
    assert engine.asked == ["start", "remove"]


@pytest.mark.parametrize("status", [0, 400, 404])
def test_engine_that_starts_containers_is_not_at_fault(status: int) -> None:
    """An answer below 500 says that the image has no such command, or is not there."""
    engine = Engine(status, "exec: true: no such file or directory")

    assert fault(BuildError("COPY failed: file not found in build context"), engine) is None
    assert engine.asked == ["start", "remove"]


def test_probe_is_confined_like_any_container() -> None:
    """It runs a program of the image; only the network is that of the build."""
    engine = Engine()
    engine.declared = {"/opt/models": {}, "/dev/shm": {}}
    assert fault(BuildError("COPY failed"), engine) is None

    assert engine.asked == ["start", "remove", "remove volume"]
    assert (engine.host["ReadonlyRootfs"], engine.host["CapDrop"], engine.host["NetworkMode"]) == (
        True,
        ["ALL"],
        "default",
    )
    assert [option.partition("=")[0] for option in engine.host["SecurityOpt"]] == ["no-new-privileges", "seccomp"]
    assert (engine.host["PidsLimit"], engine.host["Memory"]) == (LIMITS.pids, LIMITS.memory_bytes)
    assert [(mount["Target"], mount["ReadOnly"]) for mount in engine.host["Mounts"]] == [("/opt/models", True)]


def test_failed_step_asks_the_engine_nothing() -> None:
    step, engine = StepError("The command returned a non-zero code: 7"), Engine(500, BRIDGE)
    shared = EnvironmentFailedError(str(step))
    shared.__cause__ = step

    assert (fault(step, engine), fault(shared, engine), engine.asked) == (None, None, [])


@pytest.mark.parametrize(
    ("room_bytes", "is_fault"), [(None, True), (0, True), (ROOM_BYTES, True), (ROOM_BYTES + 1, False)]
)
def test_full_disk_counts_where_room_is_short(
    monkeypatch: pytest.MonkeyPatch, room_bytes: int | None, is_fault: bool
) -> None:
    monkeypatch.setattr(health, "room_bytes", lambda client: room_bytes)
    said = fault(StepError("exit 1"), Engine(), "ERROR: [Errno 28] No space left on device")

    assert bool(said) is is_fault


def test_error_of_the_store_needs_no_probe() -> None:
    engine = Engine()

    assert "no space left on device" in fault(BuildError("write /layer.tar: no space left on device"), engine)
    assert engine.asked == []


def test_room_is_unknown_of_an_engine_elsewhere() -> None:
    far = SimpleNamespace(base_url="http://far:2375", get_adapter=lambda url: SimpleNamespace())

    assert health.room_bytes(SimpleNamespace(api=far)) is None  # type: ignore[arg-type]
