"""The ways to give a container GPUs, on an engine that is a fake, since those of these tests have none."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import docker
import pytest
import requests
from docker.errors import APIError

from orchestrator.devices import vitals
from orchestrator.engine import gpu_access, gpu_probe
from orchestrator.engine.gpu_access import GpuAccess
from orchestrator.workflows import doctor

DOCKER = {"DockerRootDir": "/var/lib/docker", "SecurityOptions": []}
CDI = DOCKER | {"CDISpecDirs": ["/etc/cdi"]}
TOOLKIT = DOCKER | {"Runtimes": {"runc": {}, "nvidia": {}}}
SEEN = replace(vitals.examine(window_s=0.0), base_image="base")
PODMAN: dict[str, Any] = {"SecurityOptions": []}


class FakeEngine:
    """An engine that starts containers of some ways to ask for GPUs alone."""

    def __init__(self, information: dict[str, Any], works: set[str]) -> None:
        self._works = works
        self.tried: list[str] = []
        self.made: list[dict[str, Any]] = []
        self.removed = 0
        self.info = lambda: information
        self.api = SimpleNamespace(
            create_host_config=docker.APIClient(base_url="http://127.0.0.1:1", version="1.45").create_host_config,
            create_container=self._create, start=self._start, remove_container=self._remove,
            inspect_image=lambda _: {"Id": "sha256:1", "Config": {}, "RootFS": {}, "Size": 1},
        )  # fmt: skip

    def _create(self, image: str, command: list[str], **made: Any) -> dict[str, str]:
        assert (image, command) == ("base", ["true"])
        self.made.append(made)
        return {"Id": "c0ffee"}

    def _start(self, identity: str) -> None:
        host = self.made[-1]["host_config"]
        (request,) = host.get("DeviceRequests") or [{"Driver": host.get("Runtime")}]
        driver = {"cdi": "CDI", "nvidia": "requests"}[request["Driver"]] if "Runtime" not in host else "runtime"
        self.tried.append(driver)
        if driver not in self._works:
            response = requests.Response()
            response.status_code = 500
            raise APIError("refused", response=response, explanation=f"no {driver} in {identity}")

    def _remove(self, *_: Any, **__: Any) -> None:
        self.removed += 1


@pytest.mark.parametrize(
    ("information", "works", "tried", "access"),
    [
        (CDI, {"CDI", "requests"}, ["CDI"], GpuAccess.CDI),
        (CDI, {"requests"}, ["CDI", "requests"], GpuAccess.DEVICE_REQUESTS),
        (DOCKER, {"CDI", "requests"}, ["requests"], GpuAccess.DEVICE_REQUESTS),
        (TOOLKIT, {"runtime"}, ["requests", "runtime"], GpuAccess.RUNTIME),
        (PODMAN, {"CDI"}, ["CDI"], GpuAccess.CDI),
    ],
)
def test_the_first_way_that_works_is_taken(
    information: dict[str, Any], works: set[str], tried: list[str], access: GpuAccess
) -> None:
    engine = FakeEngine(information, works)

    assert gpu_probe.working(engine, "base") is access  # type: ignore[arg-type]  # a fake
    assert (engine.tried, engine.removed) == (tried, len(tried))
    assert all(made["host_config"]["ReadonlyRootfs"] for made in engine.made), "as confined as one that measures"


def test_every_way_that_fails_is_told() -> None:
    engine = FakeEngine(TOOLKIT, set())

    assert gpu_probe.working(engine, "base") == (  # type: ignore[arg-type]  # a fake
        "device requests: no requests in c0ffee; the nvidia runtime: no runtime in c0ffee"
    )


@pytest.mark.parametrize(
    ("access", "settings", "variables"),
    [
        (GpuAccess.CDI, {"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=GPU-1", "nvidia.com/gpu=GPU-2"]}, {}),
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
    uuids = ("GPU-1", "GPU-2")
    made = gpu_access.host_settings(access, uuids)

    assert gpu_access.variables(access, uuids) == variables
    if settings is None:
        assert made == {"runtime": "nvidia"}
    else:
        assert settings.items() <= dict(made["device_requests"][0]).items()


def test_doctor_proves_it_in_a_container() -> None:
    """With GPUs and a base image; a way that works is named, and else what the engine says."""
    gpu = vitals.GpuVitals(0, "Example GPU", None, None, None, (), None)
    seen = replace(SEEN, gpus=(gpu,))
    found = [doctor._with_gpu_access(seen, FakeEngine(CDI, works)) for works in ({"CDI"}, set())]  # type: ignore[arg-type]

    assert [each.gpu_access for each in found] == ["CDI", ""]
    assert "CDI: no CDI in c0ffee" in found[1].gpu_access_problem
    assert doctor._with_gpu_access(SEEN, FakeEngine(CDI, set())) is SEEN  # type: ignore[arg-type]  # it has no GPU
