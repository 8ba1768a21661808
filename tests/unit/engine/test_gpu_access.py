"""The ways to give a container GPUs, on an engine that is a fake, since those of these tests have none."""

import io
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import ImageNotFound

from orchestrator.devices import Gpu, gpus, vitals
from orchestrator.devices.fitness import HostFinding, Level
from orchestrator.devices.gpus import GpuInventory
from orchestrator.engine import gpu_access, gpu_probe
from orchestrator.engine.containers import ContainerSpec
from orchestrator.engine.gpu_access import GpuAccess
from orchestrator.engine.gpu_probe import NoAccess
from orchestrator.engine.images import BuildError
from orchestrator.workflows.fitness import doctor
from orchestrator.workflows.host.host import Host

DOCKER: dict[str, Any] = {"DockerRootDir": "/var/lib/docker"}
CDI = DOCKER | {"CDISpecDirs": ["/etc/cdi"]}
TOOLKIT = DOCKER | {"Runtimes": {"runc": {}, "nvidia": {}}}
PODMAN = "Podman Engine"
UUIDS = ("GPU-1", "GPU-2")
SEEN = vitals.examine(window_s=0.0)
ONE_GPU = GpuInventory((Gpu(0, "GPU-1", "Example GPU", 1),))
Examined = Callable[..., list[HostFinding]]


class FakeEngine:
    """An engine on which containers see GPUs in some ways to ask for them alone.

    As with Podman, a container of any other way starts all the same, and sees none.
    """

    def __init__(
        self,
        information: dict[str, Any],
        works: set[GpuAccess],
        component: str = "Engine",
        version: str = "5.4.0",
        images: Collection[str] = ("base",),
    ) -> None:
        self._works = works
        self._images = images
        self.tried: list[ContainerSpec] = []
        self.info = lambda: information
        self.version = lambda: {"Components": [{"Name": component}], "Version": version}
        self.close = lambda: None
        answer = {"message": "no such image"}
        refused = SimpleNamespace(ok=False, status_code=404, json=lambda: answer, text="", headers={})
        self.api = SimpleNamespace(
            inspect_image=self._inspect, base_url="http://engine", api_version="1.41", get=lambda *_, **__: refused
        )

    def _inspect(self, name: str) -> dict[str, Any]:
        if name not in self._images:
            raise ImageNotFound(name)
        entry = ["/opt/python", "-m", "benchmarks.run"]
        return {"Id": "sha256:1", "Config": {"Entrypoint": entry}, "Size": 1, "RootFS": {}}

    @contextmanager
    def answer_of(self, _: object, spec: ContainerSpec, *__: object) -> Iterator[io.StringIO]:
        self.tried.append(spec)
        if spec.gpu_access is GpuAccess.RUNTIME and spec.gpu_access not in self._works:
            raise BuildError("unknown runtime")
        yield io.StringIO(f"{len(spec.gpus) if spec.gpu_access in self._works else 0}\n")


def working(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, uuids: tuple[str, ...] = UUIDS
) -> GpuAccess | NoAccess:
    monkeypatch.setattr(gpu_probe, "answer_of", engine.answer_of)
    return gpu_probe.working(engine, "base", uuids)  # type: ignore[arg-type]  # a fake


@pytest.mark.parametrize(
    ("information", "works", "tried"),
    [
        (CDI, {GpuAccess.CDI, GpuAccess.DEVICE_REQUESTS}, [GpuAccess.CDI]),
        (CDI, {GpuAccess.DEVICE_REQUESTS}, [GpuAccess.CDI, GpuAccess.DEVICE_REQUESTS]),
        (DOCKER, {GpuAccess.CDI, GpuAccess.DEVICE_REQUESTS}, [GpuAccess.DEVICE_REQUESTS]),
        (TOOLKIT, {GpuAccess.RUNTIME}, [GpuAccess.DEVICE_REQUESTS, GpuAccess.RUNTIME]),
    ],
)
def test_the_first_way_that_works_is_taken(
    information: dict[str, Any], works: set[GpuAccess], tried: list[GpuAccess], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CUDA is asked in the image's own Python, for the very GPUs of this host."""
    engine = FakeEngine(information, works)

    assert working(engine, monkeypatch) is tried[-1]
    assert [spec.gpu_access for spec in engine.tried] == tried
    assert {(spec.program, spec.gpus) for spec in engine.tried} == {("/opt/python", UUIDS)}


def test_podman_is_asked_for_names_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts a container whose requests it does not understand."""
    engine = FakeEngine(CDI, {GpuAccess.DEVICE_REQUESTS}, PODMAN)
    found = working(engine, monkeypatch)

    assert [spec.gpu_access for spec in engine.tried] == [GpuAccess.CDI]
    assert isinstance(found, NoAccess)
    assert found.reason == "CDI: the container sees 0 of 2 GPUs"
    assert "nvidia-ctk cdi generate" in found.remedy
    assert working(FakeEngine(DOCKER, {GpuAccess.CDI}, PODMAN), monkeypatch) is GpuAccess.CDI


def test_older_podman_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would start the container, and drop the request."""
    engine = FakeEngine(CDI, {GpuAccess.CDI}, PODMAN, "4.3.1")
    answer = working(engine, monkeypatch)

    assert engine.tried == []
    assert isinstance(answer, NoAccess)
    assert answer.reason == "Podman 4.3.1 drops the requests for GPUs that Docker's interface has"
    assert answer.remedy == "use Podman 5.4 or newer, Docker, or --runtime venv"


def test_every_way_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = working(FakeEngine(TOOLKIT, set()), monkeypatch)

    assert isinstance(found, NoAccess)
    assert found.reason == "device requests: the container sees 0 of 2 GPUs; the nvidia runtime: unknown runtime"
    assert "nvidia-ctk runtime configure" in found.remedy


def test_one_part_of_a_divided_gpu_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process sees one part only. With whole GPUs beside them, parts are left out."""
    engines = [FakeEngine(DOCKER, {GpuAccess.DEVICE_REQUESTS}) for _ in range(2)]
    working(engines[0], monkeypatch, ("MIG-1", "MIG-2"))
    working(engines[1], monkeypatch, ("MIG-1", "GPU-2"))

    assert [engine.tried[0].gpus for engine in engines] == [("MIG-1",), ("GPU-2",)]


@pytest.mark.parametrize(
    ("access", "settings", "variables"),
    [
        (
            GpuAccess.CDI, {"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=GPU-1", "nvidia.com/gpu=GPU-2"]},
            {"NVIDIA_VISIBLE_DEVICES": "void"},
        ),
        (GpuAccess.DEVICE_REQUESTS, {"Driver": "nvidia", "DeviceIDs": ["GPU-1", "GPU-2"]}, {}),
        (
            GpuAccess.RUNTIME, None,
            {"NVIDIA_VISIBLE_DEVICES": "GPU-1,GPU-2", "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"},
        ),
    ],
)  # fmt: skip
def test_gpus_are_asked_for_by_their_uuids(
    access: GpuAccess, settings: dict[str, Any] | None, variables: dict[str, str]
) -> None:
    made = gpu_access.host_settings(access, UUIDS)

    assert gpu_access.variables(access, UUIDS) == variables
    if settings is None:
        assert made == {"runtime": "nvidia"}
    else:
        assert settings.items() <= dict(made["device_requests"][0]).items()


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Examined:
    """Return what `doctor` finds of GPUs in containers, on a host with one GPU and an engine."""

    def look(engine: FakeEngine, found: GpuInventory = ONE_GPU, **environment: str) -> list[HostFinding]:
        monkeypatch.setattr(gpus, "look", lambda: found)
        monkeypatch.setattr(doctor, "connect", lambda *_, **__: engine)
        monkeypatch.setattr(doctor.vitals, "examine", lambda: SEEN)
        monkeypatch.setattr(gpu_probe, "answer_of", engine.answer_of)
        options = doctor.DoctorOptions(results=tmp_path, base_image="base")
        findings = doctor.doctor(options, Host({"HOME": str(tmp_path), **environment})).findings
        return [finding for finding in findings if finding.check == "GPUs in containers"]

    return look


def test_doctor_asks_in_a_container(examined: Examined) -> None:
    """With GPUs and a base image, it names the way that works, or what the engine says and what to install."""
    (works,) = examined(FakeEngine(CDI, {GpuAccess.CDI}))
    (fails,) = examined(FakeEngine(CDI, set()))

    assert (works.level, works.found) == (Level.OK, "by CDI")
    assert fails.level is Level.WARNING
    assert "CDI: the container sees 0 of 1 GPUs" in fails.found
    assert "NVIDIA Container Toolkit" in fails.remedy
    assert examined(FakeEngine(CDI, {GpuAccess.CDI}), GpuInventory()) == []


def test_doctor_asks_for_the_gpus_of_its_job(examined: Examined) -> None:
    """Another job of the node may be at work on the other one."""
    engine, two = FakeEngine(CDI, {GpuAccess.CDI}), GpuInventory((*ONE_GPU.gpus, Gpu(1, "GPU-2", "Example GPU", 1)))
    examined(engine, two, SLURM_JOB_ID="7", SLURM_JOB_GPUS="1")

    assert [spec.gpus for spec in engine.tried] == [("GPU-2",)]


def test_doctor_says_what_it_could_not_try(examined: Examined) -> None:
    """Without the base image on the engine, nothing is asked and nothing is pulled."""
    engine = FakeEngine(CDI, {GpuAccess.CDI}, images=())
    (finding,) = examined(engine)

    assert finding.level is Level.UNKNOWN
    assert finding.found == "not tried: the engine has no image base, in which CUDA could be asked"
    assert "pull that image" in finding.remedy
    assert "--base-image" in finding.remedy
    assert engine.tried == []
