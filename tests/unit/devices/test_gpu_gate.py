"""The wait for free GPUs, by a stub of the driver's library, since the hosts of these tests have none."""

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from orchestrator.devices.gpu_gate import PAUSE_S, GateEnd, holders, wait
from orchestrator.devices.gpus import Gpu

GPUS = (Gpu(0, "GPU-a", "Example GPU", 1), Gpu(3, "GPU-b", "Example GPU", 1))
FREE: Mapping[str, Any] = {
    "nvmlInit": lambda: None,
    "nvmlShutdown": lambda: None,
    "nvmlDeviceGetHandleByUUID": lambda uuid: uuid.decode(),
    "nvmlDeviceGetComputeRunningProcesses_v3": lambda _: [],
    "nvmlDeviceGetCurrentClocksThrottleReasons": lambda _: 0x1 | 0x4,
    "nvmlDeviceGetTemperature": lambda *_: 60,
    "nvmlDeviceGetTemperatureThreshold": lambda *_: 95,
    "nvmlDeviceGetUtilizationRates": lambda _: SimpleNamespace(gpu=2),
}
Stub = Callable[..., None]


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Stub the driver's library: every GPU is free, but for what is said otherwise."""

    def stub(**changes: Any) -> None:
        for name, answer in (FREE | changes).items():
            monkeypatch.setattr(pynvml, name, answer)

    return stub


def refuses(*_: object) -> None:
    raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)


def test_idle_cool_gpus_are_free(driver: Stub) -> None:
    """That one is idle, or at its power limit, is no reason to wait."""
    driver()

    assert holders(GPUS) == ""


def test_what_a_driver_does_not_tell_holds_nothing(driver: Stub) -> None:
    driver(**dict.fromkeys(list(FREE)[3:], refuses))

    assert holders(GPUS) == ""


def test_whoever_computes_there_is_named(driver: Stub, tmp_path: Path) -> None:
    """By the name of the process and its owner, as far as this user may see them."""
    (tmp_path / "123").mkdir()
    (tmp_path / "123/comm").write_text("python\n")
    running = {"GPU-b": [SimpleNamespace(pid=123), SimpleNamespace(pid=124)]}
    driver(nvmlDeviceGetComputeRunningProcesses_v3=lambda handle: running.get(handle, []))
    first, second = holders(GPUS, tmp_path).split("; ")

    assert first.startswith("GPU 3: python (process 123 of ")
    assert first.endswith(") runs on it")
    assert second == "GPU 3: process 124 runs on it"


def test_heat_and_work_of_others_hold_it(driver: Stub) -> None:
    driver(nvmlDeviceGetCurrentClocksThrottleReasons=lambda handle: 0x20 if handle == "GPU-a" else 0)
    assert holders(GPUS) == "GPU 0: heat holds it back at 60 °C"

    driver(nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=40 if handle == "GPU-b" else 0))
    assert holders(GPUS) == "GPU 3: it is 40 % busy"


def test_an_idle_gpu_near_its_slowdown_is_not_cool(driver: Stub) -> None:
    """No heat holds it back, as it does nothing. It is slowed down as soon as it works."""
    driver(nvmlDeviceGetTemperature=lambda handle, _: 90 if handle == "GPU-a" else 89)
    assert holders(GPUS) == "GPU 0: it has 90 °C, and is slowed down at 95 °C"

    driver(nvmlDeviceGetTemperature=lambda *_: 90, nvmlDeviceGetTemperatureThreshold=refuses)
    assert holders(GPUS) == ""


def test_a_gpu_that_does_not_answer_is_not_free(driver: Stub) -> None:
    def lost(_: bytes) -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)

    driver(nvmlDeviceGetHandleByUUID=lost)

    assert holders(GPUS[:1]) == "GPU 0: GPU is lost"


def test_a_gpu_lost_after_its_handle_is_not_free(driver: Stub) -> None:
    """A driver gives handles of GPUs that are lost, and then answers no question about them."""

    def lost(*_: object) -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)

    driver(nvmlDeviceGetComputeRunningProcesses_v3=lost)

    assert holders(GPUS[:1]) == "GPU 0: GPU is lost"


def test_a_part_of_a_gpu_has_no_load_of_its_own(driver: Stub) -> None:
    """The driver knows the load of whole GPUs alone."""
    driver(
        nvmlDeviceGetUtilizationRates=lambda _: SimpleNamespace(gpu=90),
        nvmlDeviceGetDeviceHandleFromMigDeviceHandle=lambda part: part,
    )

    assert holders([Gpu(0, "MIG-a", "Example GPU MIG 1g.10gb", 1, mig="1g.10gb")]) == ""


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def monotonic(self) -> float:
        return self.now_s


def waited(answers: list[str], limit_s: float, stop: Event | None = None) -> GateEnd:
    looks = iter(answers)
    return wait(GPUS, limit_s, stop or Event(), look=lambda _: next(looks), clock=Time())


def test_waiting_ends_as_soon_as_they_are_free() -> None:
    assert waited(["busy", "busy", ""], 60) == GateEnd(2 * PAUSE_S)
    assert waited([""], 60) == GateEnd(0.0)


def test_waiting_ends_with_who_holds_them() -> None:
    assert waited(["busy"] * 9, 2 * PAUSE_S) == GateEnd(2 * PAUSE_S, "busy")


def test_a_stop_ends_the_wait() -> None:
    stop = Event()
    stop.set()

    assert waited(["busy"], 60, stop) == GateEnd(0.0)
