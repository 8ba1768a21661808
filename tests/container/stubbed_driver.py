"""A GPU driver's library without a driver: as much of NVML as is asked around a block."""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pynvml


class StubbedDriver(ModuleType):
    """Stands in for the module `pynvml`; what is in `refused` answers as a GPU that does not support it."""

    NVML_CLOCK_SM = pynvml.NVML_CLOCK_SM
    NVML_TEMPERATURE_GPU = pynvml.NVML_TEMPERATURE_GPU

    def __init__(self, gpus: int = 1, refused: set[str] | None = None) -> None:
        super().__init__("pynvml")
        self.gpus = gpus
        self.refused = refused or set()
        self.asked: set[str] = set()
        self.lost: set[int] = set()
        self.hides_all_for_one = False
        """True if a lookup by UUID fails while any GPU is lost."""
        self.init_error: int | None = None
        self.shut_down = False
        self.now = {"energy_mj": 9_000_000, "power_ns": 7, "heat_ns": 1_000_000, "clock_mhz": 1980, "temperature_c": 40}
        self.now["reasons"] = 1  # idle, which slows nothing

    def pass_time(self, *, energy_mj: int, heat_ns: int, **gauges: int) -> None:
        """Let counters grow, and set what is so now."""
        self.now["energy_mj"] += energy_mj
        self.now["heat_ns"] += heat_ns
        self.now |= gauges

    def __getattr__(self, name: str) -> Any:
        if name.startswith("nvmlClocksThrottleReason"):
            return getattr(pynvml, name)
        if name not in _ANSWERS:
            raise AttributeError(name)
        self.asked.add(name)
        if name in self.refused:
            return _refuses
        return lambda *arguments: _ANSWERS[name](self, *arguments)


def _refuses(*_: object) -> None:
    raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)


def _init(driver: StubbedDriver) -> None:
    if driver.init_error is not None:
        raise pynvml.NVMLError(driver.init_error)


def _handle(driver: StubbedDriver, index: int) -> int:
    if index in driver.lost:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
    return index


def _handle_of(driver: StubbedDriver, uuid: bytes) -> int:
    if driver.hides_all_for_one and driver.lost:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
    return _handle(driver, int(uuid.decode().removeprefix("GPU-")))


def _shut_down(driver: StubbedDriver) -> None:
    driver.shut_down = True


_ANSWERS: dict[str, Callable[..., Any]] = {
    "nvmlInit": _init,
    "nvmlShutdown": _shut_down,
    "nvmlDeviceGetCount": lambda driver: driver.gpus,
    "nvmlDeviceGetHandleByIndex": _handle,
    "nvmlDeviceGetHandleByUUID": _handle_of,
    "nvmlDeviceGetUUID": lambda _, index: f"GPU-{index}".encode(),
    "nvmlDeviceGetName": lambda *_: b"Stubbed GPU",
    "nvmlDeviceGetMemoryInfo": lambda *_: SimpleNamespace(total=7),
    "nvmlSystemGetDriverVersion": lambda _: "570.1",
    "nvmlDeviceGetTotalEnergyConsumption": lambda driver, _: driver.now["energy_mj"],
    "nvmlDeviceGetViolationStatus": lambda driver, _, policy: SimpleNamespace(
        violationTime=driver.now["heat_ns" if policy == pynvml.NVML_PERF_POLICY_THERMAL else "power_ns"]
    ),
    "nvmlDeviceGetClockInfo": lambda driver, *_: driver.now["clock_mhz"],
    "nvmlDeviceGetTemperature": lambda driver, *_: driver.now["temperature_c"],
    "nvmlDeviceGetCurrentClocksThrottleReasons": lambda driver, _: driver.now["reasons"],
    "nvmlDeviceGetComputeRunningProcesses": lambda *_: [],
    "nvmlDeviceGetPowerUsage": lambda *_: 0,
}
