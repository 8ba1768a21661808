"""The wait before a cell starts, until its GPUs are free: nobody else computes on them, and they are cool."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pynvml

from orchestrator.devices.driver import asked, computing, handle_of, nvml
from orchestrator.devices.gpus import Gpu
from orchestrator.devices.throttling import slowed_by
from orchestrator.devices.watch.processes import described
from orchestrator.processes import Stop

PAUSE_S = 0.5
MOST_BUSY_PERCENT = 5
"""Share of the last moments in which something ran. Some drivers round up what a glance at them costs."""
NEAR_SLOWDOWN_C = 5
"""A GPU within so many degrees of the temperature at which its driver slows it down is not cool, though it be idle."""


@dataclass(frozen=True, slots=True)
class GateEnd:
    """The end of a wait for free GPUs."""

    wait_s: float
    held: str = ""
    """The holder of them when the time was over, in one line; empty if they were free."""

    @property
    def reason(self) -> str:
        """Return the reason that nothing is launched on them, in one line, or an empty text if they were free."""
        return f"not free after {self.wait_s:.0f} s of waiting: {self.held}" if self.held else ""


class Clock(Protocol):
    """The clock of a wait, such as the module `time`."""

    def monotonic(self) -> float:
        """Return the time in seconds."""

    def sleep(self, seconds: float, /) -> None:
        """Let time pass."""


def holders(gpus: Sequence[Gpu], proc: Path = Path("/proc")) -> str:
    """Return what holds GPUs of this host, in one line, or an empty text if they are free.

    A question that a driver does not answer counts as free. A GPU that is lost is not free.
    """
    with nvml() as driver:
        if driver.library is None:
            return f"the driver does not answer: {driver.fault or 'it is gone'}"
        return "; ".join(held for gpu in gpus for held in _held(driver.library, gpu, proc))


def wait(
    gpus: Sequence[Gpu],
    limit_s: float,
    stop: Stop,
    *,
    look: Callable[[Sequence[Gpu]], str] = holders,
    clock: Clock = time,
) -> GateEnd:
    """Wait at most `limit_s` until these GPUs are free, or until `stop`."""
    first = clock.monotonic()
    while True:
        held = look(gpus)
        waited_s = clock.monotonic() - first
        if not held or stop.is_set():
            return GateEnd(waited_s)
        if waited_s >= limit_s:
            return GateEnd(waited_s, held)
        clock.sleep(PAUSE_S)


def _held(library: Any, gpu: Gpu, proc: Path) -> list[str]:
    """Return what holds a GPU, a line for each."""
    try:
        return _holders_of(library, gpu, handle_of(library, gpu.uuid), proc)
    except pynvml.NVMLError as error:
        return [f"GPU {gpu.index}: {error}"]


def _holders_of(library: Any, gpu: Gpu, handle: Any, proc: Path) -> list[str]:
    if pids := computing(library, handle):
        return [f"GPU {gpu.index}: {described(pid, proc)} runs on it" for pid in pids]
    # Heat and clocks are those of the whole GPU, also for a part of it; the load of one part is not known.
    whole = handle if gpu.mig is None else asked(library.nvmlDeviceGetDeviceHandleFromMigDeviceHandle, handle)
    if heat := _heat(library, whole):
        return [f"GPU {gpu.index}: {heat}"]
    rates = asked(library.nvmlDeviceGetUtilizationRates, handle) if gpu.mig is None else None
    if rates is not None and rates.gpu > MOST_BUSY_PERCENT:
        return [f"GPU {gpu.index}: it is {rates.gpu} % busy"]
    return []


def _heat(library: Any, whole: Any) -> str:
    """Return how heat holds a GPU back, or would as soon as it works, or an empty text if it is cool."""
    celsius = asked(library.nvmlDeviceGetTemperature, whole, library.NVML_TEMPERATURE_GPU)
    if "heat" in slowed_by(library, asked(library.nvmlDeviceGetCurrentClocksThrottleReasons, whole)):
        return f"heat holds it back{'' if celsius is None else f' at {celsius} °C'}"
    limit = asked(library.nvmlDeviceGetTemperatureThreshold, whole, library.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
    if celsius is None or not limit or celsius < limit - NEAR_SLOWDOWN_C:
        return ""
    return f"it has {celsius} °C, and is slowed down at {limit} °C"
