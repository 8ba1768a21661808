"""A fake of the GPU driver's library, for hosts without a GPU: as much of it as a watch asks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml

from orchestrator.devices.driver import Driver
from orchestrator.devices.gpus import Gpu

GPU_A = Gpu(0, "GPU-a", "Fake GPU", 2**30)
GPU_B = Gpu(3, "GPU-b", "Fake GPU", 2**30)
PART = Gpu(0, "MIG-a", "Fake GPU MIG 1g.10gb", 2**30, mig="1g.10gb")
_ANSWERS: dict[str, Callable[..., Any]] = {
    "nvmlDeviceGetHandleByUUID": lambda fake, uuid: uuid.decode(),
    "nvmlDeviceGetDeviceHandleFromMigDeviceHandle": lambda fake, part: f"whole of {part}",
    "nvmlDeviceGetMemoryInfo": lambda fake, _: SimpleNamespace(used=fake.memory_bytes),
    "nvmlDeviceGetUtilizationRates": lambda fake, _: SimpleNamespace(gpu=fake.busy_percent),
    "nvmlDeviceGetPowerUsage": lambda fake, _: fake.power_mw,
    "nvmlDeviceGetTotalEnergyConsumption": lambda fake, _: fake.energy_mj,
    "nvmlDeviceGetClockInfo": lambda fake, _, kind: 1980 if kind == pynvml.NVML_CLOCK_SM else 2619,
    "nvmlDeviceGetTemperature": lambda fake, *_: fake.temperature_c,
    "nvmlDeviceGetCurrentClocksThrottleReasons": lambda fake, _: fake.reasons,
    "nvmlDeviceGetTotalEccErrors": lambda fake, *_: fake.uncorrected,
    "nvmlDeviceGetComputeRunningProcesses_v3": lambda fake, _: [SimpleNamespace(pid=pid) for pid in fake.pids],
    "nvmlEventSetCreate": lambda fake: "events",
    "nvmlDeviceRegisterEvents": lambda fake, *_: None,
    "nvmlEventSetWait_v2": lambda fake, *_: fake.next_event(),
    "nvmlEventSetFree": lambda fake, _: None,
}


@dataclass
class FakeDriver:
    """Stands in for the module `pynvml`. What is in `refused` is not supported, and a handle in `lost` is lost."""

    memory_bytes: int = 10**9
    busy_percent: int = 90
    power_mw: int = 300_000
    energy_mj: int = 0
    temperature_c: int = 50
    reasons: int = 0
    uncorrected: int = 0
    pids: tuple[int, ...] = ()
    xids: list[int] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        if name not in _ANSWERS:
            return getattr(pynvml, name)
        return lambda *arguments: self._answer(name, *arguments)

    def _answer(self, name: str, *arguments: Any) -> Any:
        self.asked.append(name)
        if name in self.refused:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        if self.lost.intersection(map(str, arguments)):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        return _ANSWERS[name](self, *arguments)

    def next_event(self) -> SimpleNamespace:
        """Give the next event, or time out at once."""
        if not self.xids:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_TIMEOUT)
        return SimpleNamespace(eventData=self.xids.pop(0))

    @contextmanager
    def nvml(self) -> Iterator[Driver]:
        """Yield this driver, as `orchestrator.devices.driver.nvml` yields the real one."""
        yield Driver(self)
