"""What a repeat took: CPU time and disk of its process, and what its GPUs went through in the timed blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.results.contract import Block, Used


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """CPU time and disk of a whole process, imports and all."""

    user_s: float
    """CPU time in its own code; `system_s` is that in the kernel."""
    system_s: float
    read_bytes: int | None
    """Fetched from storage; None where the kernel does not tell, as is `written_bytes`."""
    written_bytes: int | None


def process_use(used: Used | None) -> ProcessUse | None:
    """The same, small enough to keep for a hundred thousand repeats; None for None."""
    return None if used is None else ProcessUse(used.user_s, used.system_s, used.read_bytes, used.written_bytes)


@dataclass(frozen=True, slots=True)
class GpuUse:
    """All GPUs of a cell over the timed blocks of a repeat; what no driver told is None."""

    energy_j: float | None
    hottest_c: float | None
    slowest_clock_hz: int | None
    """The lowest that was seen at the end of a block."""
    slowed_by: tuple[str, ...]


def gpu_use(blocks: Sequence[Block]) -> GpuUse | None:
    """Sum energies, and pick the worst of the rest; None where no block tells of a GPU."""
    seen = [gpu for block in blocks if block.conditions is not None for gpu in block.conditions.gpus]
    if not seen:
        return None
    energies = [gpu.energy_j for gpu in seen if gpu.energy_j is not None]
    return GpuUse(
        energy_j=sum(energies) if energies else None,
        hottest_c=max((gpu.temperature_c for gpu in seen if gpu.temperature_c is not None), default=None),
        slowest_clock_hz=min((gpu.clock_hz for gpu in seen if gpu.clock_hz is not None), default=None),
        slowed_by=tuple(sorted({reason for gpu in seen for reason in gpu.slowed_by})),
    )
