"""The GPUs that a run still uses. One that has failed twice is left out from then on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from orchestrator.devices.gpus import Gpu
from orchestrator.devices.host import Allocation, Inventory, NoDevice, allocate, fits
from orchestrator.devices.watch.marks import GpuMark
from orchestrator.domain import System

MOST_FAULTS = 2


@dataclass(slots=True)
class GpuPool:
    """The faults of the GPUs of a run, by the index of the whole GPU, which its parts share."""

    _faults: dict[int, list[str]] = field(default_factory=dict)

    def note(self, marks: Iterable[GpuMark]) -> None:
        """Count the GPUs that failed in one launch, each once."""
        for index, text in {mark.gpu.index: mark.text for mark in marks if mark.is_fault}.items():
            self._faults.setdefault(index, []).append(text)

    def why_left_out(self, gpus: Iterable[Gpu]) -> str:
        """Return why some GPUs are used no more, in one line, or an empty text."""
        out = {gpu.index: self._faults[gpu.index] for gpu in gpus if self._is_out(gpu)}
        return "; ".join(
            f"GPU {index} is left out after {len(faults)} failures, the last one: {faults[-1]}"
            for index, faults in out.items()
        )

    def allocation(self, given: Allocation | NoDevice, system: System, inventory: Inventory) -> Allocation | NoDevice:
        """Return what a system was given, or other GPUs in place of those that are left out, or why there are none."""
        if isinstance(given, NoDevice) or not any(map(self._is_out, given.gpus)):
            return given
        rest: Sequence[Gpu] = [gpu for gpu in inventory.gpus if not self._is_out(gpu)]
        allocated = allocate(system, replace(inventory, gpus=tuple(rest)))
        if isinstance(allocated, Allocation):
            return allocated
        return NoDevice(f"{allocated.reason}; {self.why_left_out(gpu for gpu in inventory.gpus if fits(gpu, system))}")

    def left_out(self, gpus: Iterable[Gpu]) -> frozenset[str]:
        """Return the UUIDs of the GPUs that are used no more."""
        return frozenset(gpu.uuid for gpu in gpus if self._is_out(gpu))

    def _is_out(self, gpu: Gpu) -> bool:
        return len(self._faults.get(gpu.index, ())) >= MOST_FAULTS
