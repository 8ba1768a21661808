"""Marks of a launch: what befell its GPUs meanwhile, so that what it measured counts as disturbed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pynvml

from orchestrator.devices.disturbance import REPEAT_SHARE
from orchestrator.devices.driver import asked, computing
from orchestrator.devices.gpus import Gpu
from orchestrator.devices.watch.processes import OwnProcesses, described
from orchestrator.devices.watch.series import Device
from orchestrator.results.telemetry.contract import GpuSeries, Span, Telemetry

RESETS = {
    46: "it stopped processing",
    48: "an uncorrectable memory error",
    62: "its micro-controller halted",
    64: "a failed repair of its memory",
    74: "a fault of NVLink",
    79: "it has fallen off the bus",
    95: "an uncontained memory error",
    109: "its context switch timed out",
    110: "a security fault",
    119: "its system processor does not answer",
    120: "a fault of its system processor",
    136: "a link could not be trained",
    140: "an unrecovered memory error",
    143: "it could not be initialised",
    155: "a link of NVLink went down",
    156: "a part of it was retired",
    158: "a fatal timeout",
}
"""XIDs after which a GPU has to be reset. Errors of a program, such as 13, 31, 43 and 45, are none of them."""
LISTED_EVERY_S = 5.0
"""The least time between two lists of processes, each of which takes milliseconds under the driver's global lock."""
_LEAST_CHANGE_BYTES = 16 * 2**20
"""Of the memory in use, after which the list is asked for again. Whoever computes on a GPU takes more than that."""
_MOST_EVENTS = 64
_LEAST_LOOKS = 20
"""So many samples without any load show that a GPU was not used, as two seconds at ten a second."""


@dataclass(frozen=True, slots=True)
class GpuMark:
    """Something that befell a GPU."""

    gpu: Gpu
    text: str
    is_fault: bool = False
    """True if the GPU itself has failed, and false for heat, other processes and errors of programs."""

    def __str__(self) -> str:
        """Return it in one line."""
        return f"GPU {self.gpu.index}: {self.text}"


def lost(gpu: Gpu, error: object) -> GpuMark:
    """Mark a GPU that does not answer any more."""
    return GpuMark(gpu, str(error), is_fault=True)


class Errors:
    """The errors of a GPU between two moments, by its counter of memory errors and the events of its driver."""

    def __init__(self, library: Any, device: Device) -> None:
        """Begin to count. Raises `NVMLError` if the GPU is lost."""
        self._library = library
        self._device = device
        self._before = self._uncorrected()
        self._events = asked(library.nvmlEventSetCreate)
        if self._events is not None:
            try:
                library.nvmlDeviceRegisterEvents(device.whole, library.nvmlEventTypeXidCriticalError, self._events)
            except pynvml.NVMLError:
                self._free()

    def marks(self) -> Iterator[GpuMark]:
        """Yield what has happened since, and stop. Raises `NVMLError` if the GPU is lost."""
        gpu = self._device.gpu
        for xid in dict.fromkeys(self._xids()):
            what = f" ({RESETS[xid]})" if xid in RESETS else ""
            yield GpuMark(gpu, f"the driver reported XID {xid}{what}", is_fault=xid in RESETS)
        after = self._uncorrected()
        if self._before is not None and after is not None and after > self._before:
            yield GpuMark(gpu, f"{after - self._before} uncorrectable memory errors (ECC)", is_fault=True)

    def _uncorrected(self) -> int | None:
        kind, since = self._library.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, self._library.NVML_VOLATILE_ECC
        count: int | None = asked(self._library.nvmlDeviceGetTotalEccErrors, self._device.whole, kind, since)
        return count

    def _xids(self) -> Iterator[int]:
        """Yield the events that wait to be fetched, without waiting for any."""
        try:
            for _ in range(_MOST_EVENTS if self._events is not None else 0):
                event = asked(self._library.nvmlEventSetWait_v2, self._events, 0)
                if event is None:
                    break
                yield int(event.eventData)
        finally:
            self._free()

    def _free(self) -> None:
        if self._events is not None:
            events, self._events = self._events, None
            asked(self._library.nvmlEventSetFree, events)


@dataclass(slots=True)
class Strangers:
    """The processes of others on a GPU.

    The list is asked for at the beginning, at the end, and where the memory in use has changed by as much as a process
    takes that begins to compute: a measurement that keeps its memory is never disturbed by the question.
    """

    device: Device
    own: OwnProcesses
    _listed_s: float | None = None
    _listed_bytes: int | None = None
    _texts: dict[int, str] = field(default_factory=dict)

    def look(self, library: Any, now_s: float, memory_bytes: int | None, *, is_last: bool = False) -> None:
        """Look whether someone is there, if it is time for that. Raises `NVMLError` if the GPU is lost."""
        if not (is_last or self._is_due(now_s, memory_bytes)):
            return
        self._listed_s, self._listed_bytes = now_s, memory_bytes
        for pid in computing(library, self.device.own) or ():
            if pid not in self._texts and self.own.is_foreign(pid):
                self._texts[pid] = described(pid, self.own.proc)

    def _is_due(self, now_s: float, memory_bytes: int | None) -> bool:
        if self._listed_s is None:
            return True
        if now_s - self._listed_s < LISTED_EVERY_S or memory_bytes is None or self._listed_bytes is None:
            return False
        return abs(memory_bytes - self._listed_bytes) >= _LEAST_CHANGE_BYTES

    def marks(self) -> Iterator[GpuMark]:
        """Yield a mark for each that was seen."""
        return (GpuMark(self.device.gpu, f"{text} ran on it too") for text in self._texts.values())


def heat_marks(gpus: Sequence[Gpu], telemetry: Telemetry, timed: Sequence[Span]) -> Iterator[GpuMark]:
    """Yield a mark for each GPU that heat held back in too many samples: in those of the timed intervals, if known."""
    inside = [not timed or any(begin <= at_s <= end for begin, end in timed) for at_s in telemetry.at_s]
    for gpu, series in zip(gpus, telemetry.gpus, strict=True):
        share = _hot_share(series, inside)
        if share > REPEAT_SHARE:
            yield GpuMark(gpu, f"heat held it back for {share:.0%} of the time")


def unused_marks(gpus: Sequence[Gpu], telemetry: Telemetry) -> Iterator[GpuMark]:
    """Yield a mark for each GPU that was never busy, and whose memory in use has not grown as for a program.

    Without its load, as for a part of a divided GPU, nothing is known.
    """
    for gpu, series in zip(gpus, telemetry.gpus, strict=True):
        loads = [load for load in series.busy_percent if load is not None]
        memory = [used for used in series.memory_bytes if used is not None]
        grown = max(memory) - min(memory) if memory else 0
        if len(loads) >= _LEAST_LOOKS and not any(loads) and grown < _LEAST_CHANGE_BYTES:
            yield GpuMark(gpu, "nothing ran on it")


def _hot_share(series: GpuSeries, inside: Sequence[bool]) -> float:
    counted = (causes for causes, is_inside in zip(series.slowed_by, inside, strict=False) if is_inside)
    known = ["heat" in causes.split() for causes in counted if causes is not None]
    return sum(known) / len(known) if known else 0.0
