"""The series of a cell's GPUs: what is asked of each, when a sample is due, and how the samples are kept."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any

from orchestrator.devices.driver import asked, handle_of
from orchestrator.devices.gpus import Gpu
from orchestrator.devices.throttling import slowed_by
from orchestrator.results.telemetry.contract import MOST_SAMPLES, GpuSeries, Telemetry

PERIOD_S = 0.1
_MILLI = 1e-3
_MEGA = 1_000_000
Row = Mapping[str, Any]
"""The answers of one GPU at one moment, by the name of their column; empty of one that is lost."""


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU, or a part of one, with the driver's handles."""

    gpu: Gpu
    own: Any
    """Of what the cell was given."""
    whole: Any
    """Of the whole GPU, which alone has clocks, a temperature and errors."""


def device(library: Any, gpu: Gpu) -> Device:
    """Return the handles of a GPU. Raises `NVMLError` if it is lost."""
    own = handle_of(library, gpu.uuid)
    whole = own if gpu.mig is None else asked(library.nvmlDeviceGetDeviceHandleFromMigDeviceHandle, own)
    return Device(gpu, own, whole)


def row(library: Any, device: Device) -> Row:
    """Ask a GPU once. Raises `NVMLError` if it is lost.

    Load, power and energy are known of whole GPUs alone: of a part they would be those of its neighbours too.
    """
    memory = asked(library.nvmlDeviceGetMemoryInfo, device.own)
    reasons = asked(library.nvmlDeviceGetCurrentClocksThrottleReasons, device.whole)
    shared = {
        "memory_bytes": None if memory is None else int(memory.used),
        "clock_hz": _times(_MEGA, asked(library.nvmlDeviceGetClockInfo, device.whole, library.NVML_CLOCK_SM)),
        "memory_clock_hz": _times(_MEGA, asked(library.nvmlDeviceGetClockInfo, device.whole, library.NVML_CLOCK_MEM)),
        "temperature_c": asked(library.nvmlDeviceGetTemperature, device.whole, library.NVML_TEMPERATURE_GPU),
        "slowed_by": None if reasons is None else " ".join(slowed_by(library, reasons)),
    }
    if device.gpu.mig is not None:
        return shared
    rates = asked(library.nvmlDeviceGetUtilizationRates, device.own)
    return shared | {
        "busy_percent": None if rates is None else rates.gpu,
        "power_w": _times(_MILLI, asked(library.nvmlDeviceGetPowerUsage, device.own)),
        "energy_j": _times(_MILLI, asked(library.nvmlDeviceGetTotalEnergyConsumption, device.own)),
    }


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else round(value * factor, 3)


class Pace:
    """The moments at which samples are due, and how many of them were met."""

    def __init__(self, first_s: float, period_s: float = PERIOD_S) -> None:
        self.period_s = period_s
        self.due = 0
        self.in_time = 0
        self._due_s = first_s

    def taken(self, begin_s: float, end_s: float) -> float:
        """Count a sample that was taken from `begin_s` to `end_s`, and return the pause until the next is due.

        Moments that passed meanwhile are not made up for.
        """
        # The next one may be late by as much as one that counts as in time.
        missed = max(0, math.ceil((end_s - self._due_s) / self.period_s - 0.5) - 1)
        self.due += 1 + missed
        self.in_time += begin_s - self._due_s <= self.period_s / 2
        self._due_s += (1 + missed) * self.period_s
        return max(0.0, self._due_s - end_s)


@dataclass(slots=True)
class SampledColumns:
    """The samples of some GPUs, at most `MOST_SAMPLES`."""

    gpus: Sequence[Gpu]
    most: int = MOST_SAMPLES
    at_s: list[float] = field(default_factory=list)
    _columns: list[dict[str, list[Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin without samples."""
        names = [name for name in GpuSeries.model_fields if name != "uuid"]
        self._columns = [{name: [] for name in names} for _ in self.gpus]

    def add(self, at_s: float, rows: Sequence[Row]) -> bool:
        """Add a sample. Return true if neighbours were merged to make room, so that later ones may be rarer too."""
        is_full = len(self.at_s) >= self.most
        if is_full:
            self._merge()
        self.at_s.append(round(at_s, 6))
        for columns, answers in zip(self._columns, rows, strict=True):
            for name, values in columns.items():
                values.append(answers.get(name))
        return is_full

    def _merge(self) -> None:
        """Keep the later one of every two samples, with the larger use of memory, whose peak would be lost."""
        self.at_s = self.at_s[1::2]
        for columns in self._columns:
            pairs = zip(columns["memory_bytes"][::2], columns["memory_bytes"][1::2], strict=False)
            peaks = [max((each for each in pair if each is not None), default=None) for pair in pairs]
            for name, values in columns.items():
                columns[name] = values[1::2]
            columns["memory_bytes"] = peaks

    def telemetry(self, pace: Pace) -> Telemetry | None:
        """Return the series, or None if nothing was sampled or an answer lies beyond all bounds."""
        try:
            return Telemetry(
                period_s=pace.period_s,
                due=pace.due,
                in_time=pace.in_time,
                at_s=tuple(self.at_s),
                gpus=tuple(starmap(_series, zip(self.gpus, self._columns, strict=True))),
            )
        except ValueError:
            return None


def _series(gpu: Gpu, columns: Mapping[str, Sequence[Any]]) -> GpuSeries:
    """Return the columns of a GPU in which anything is known."""
    known = {name: values for name, values in columns.items() if any(value is not None for value in values)}
    return GpuSeries.model_validate({"uuid": gpu.uuid, **known})
