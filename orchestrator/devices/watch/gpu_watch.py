"""A thread beside a launch that watches its GPUs: samples at a fixed pace, and marks of what befell them."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import pynvml

from orchestrator.devices import driver as host_driver
from orchestrator.devices.driver import Driver
from orchestrator.devices.gpus import Gpu
from orchestrator.devices.watch.marks import Errors, GpuMark, Strangers, heat_marks, lost, unused_marks
from orchestrator.devices.watch.processes import OwnProcesses
from orchestrator.devices.watch.series import Device, Pace, Row, SampledColumns, device, row
from orchestrator.results.telemetry.contract import Span, Telemetry

PATIENCE_S = 5.0
"""The longest wait for a driver to begin and to end, of which one with a lost GPU may do neither."""
_GONE = host_driver.LOST | {pynvml.NVML_ERROR_NOT_FOUND}
"""Errors of a GPU that the inventory of this run still had."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The findings of a watch."""

    telemetry: Telemetry | None = None
    marks: tuple[GpuMark, ...] = ()


class GpuWatch:
    """The watch over some GPUs inside a `with`, after which `seen` holds what came of it.

    Without GPUs nothing is started. `own` is told which processes are those of the launch.
    """

    def __init__(
        self,
        gpus: Sequence[Gpu] = (),
        *,
        own: OwnProcesses | None = None,
        nvml: Callable[[], AbstractContextManager[Driver]] = host_driver.nvml,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.gpus = tuple(gpus)
        self.own = own or OwnProcesses()
        self.seen = Seen()
        self._nvml = nvml
        self._clock = clock
        self._begun = threading.Event()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Begin, and return once everything was asked for the first time."""
        if self.gpus:
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
            self._begun.wait(PATIENCE_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End, with a last look. A driver that hangs is left to itself."""
        if self._thread is not None:
            self._ended.set()
            self._thread.join(PATIENCE_S)
            if self._thread.is_alive():
                silence = f"the driver did not answer for {PATIENCE_S:g} s"
                self.seen = Seen(marks=tuple(lost(gpu, silence) for gpu in self.gpus))

    def marks(self, timed: Sequence[Span] = ()) -> tuple[GpuMark, ...]:
        """Return what befell the GPUs, heat in the timed intervals too."""
        telemetry = self.seen.telemetry
        return (*self.seen.marks, *(heat_marks(self.gpus, telemetry, timed) if telemetry else ()))

    def unused(self) -> tuple[GpuMark, ...]:
        """Return a mark for each GPU on which nothing ran."""
        return tuple(unused_marks(self.gpus, self.seen.telemetry)) if self.seen.telemetry else ()

    def _watch(self) -> None:
        try:
            with self._nvml() as driver:
                if driver.library is not None:
                    self._sample(Session(driver.library, self.gpus, self.own))
        finally:
            self._begun.set()

    def _sample(self, session: "Session") -> None:
        pace = Pace(self._clock())
        while True:
            begin_s = self._clock()
            if session.sample(begin_s):
                pace.period_s *= 2
            self._begun.set()
            if self._ended.wait(pace.taken(begin_s, self._clock())):
                break
        session.sample(self._clock(), is_last=True)
        self.seen = Seen(session.samples.telemetry(pace), session.marks())


class Session:
    """The questions to a driver about some GPUs, one of which may be lost at any time."""

    def __init__(self, library: Any, gpus: Sequence[Gpu], own: OwnProcesses) -> None:
        self.samples = SampledColumns(gpus)
        self._library = library
        self._lost: dict[str, GpuMark] = {}
        self._watched: dict[str, _Watched] = {}
        for gpu in gpus:
            with self._noting_loss(gpu):
                self._watched[gpu.uuid] = _Watched(library, gpu, own)

    def sample(self, now_s: float, *, is_last: bool = False) -> bool:
        """Ask every GPU once. Return true if the next samples may be rarer."""
        return self.samples.add(now_s, [self._row(gpu, now_s, is_last=is_last) for gpu in self.samples.gpus])

    def marks(self) -> tuple[GpuMark, ...]:
        """Return what befell the GPUs, and stop to count their errors."""
        marks: list[GpuMark] = []
        for watched in self._watched.values():
            with self._noting_loss(watched.device.gpu):
                marks += watched.errors.marks()
            marks += watched.strangers.marks()
        return (*self._lost.values(), *marks)

    def _row(self, gpu: Gpu, now_s: float, *, is_last: bool) -> Row:
        """Ask a GPU once. One that is lost has no answers, and is not asked again."""
        watched = self._watched.get(gpu.uuid)
        if watched is None or gpu.uuid in self._lost:
            return {}
        with self._noting_loss(gpu):
            return watched.look(self._library, now_s, is_last=is_last)
        return {}

    @contextmanager
    def _noting_loss(self, gpu: Gpu) -> Iterator[None]:
        """Mark a GPU where a question says that it is lost. Without rights to it, nothing is known of it."""
        try:
            yield
        except pynvml.NVMLError as error:
            if error.value in _GONE:
                self._lost.setdefault(gpu.uuid, lost(gpu, error))


class _Watched:
    """One GPU that is watched."""

    def __init__(self, library: Any, gpu: Gpu, own: OwnProcesses) -> None:
        self.device: Device = device(library, gpu)
        self.errors = Errors(library, self.device)
        self.strangers = Strangers(self.device, own)

    def look(self, library: Any, now_s: float, *, is_last: bool) -> Row:
        """Ask once. Raises `NVMLError` if the GPU is lost."""
        answers = row(library, self.device)
        self.strangers.look(library, now_s, answers.get("memory_bytes"), is_last=is_last)
        return answers
