"""The resources of a repeat, which are CPU time and disk of its process, and conditions of its GPUs."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.results.contract import Block, Used


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """CPU time and disk of a whole process, including its imports."""

    user_s: float
    """CPU time in its own code; `system_s` is that in the kernel."""
    system_s: float
    read_bytes: int | None
    """Bytes fetched from storage; None if the kernel does not report it, as with `written_bytes`."""
    written_bytes: int | None


def process_use(used: Used | None) -> ProcessUse | None:
    """Return the resources in a form small enough for a hundred thousand repeats, or None for None."""
    return None if used is None else ProcessUse(used.user_s, used.system_s, used.read_bytes, used.written_bytes)


@dataclass(frozen=True, slots=True)
class GpuUse:
    """The GPUs of a cell over the timed blocks of a repeat, with None for what no driver reported."""

    energy_j: float | None
    hottest_c: float | None
    slowest_clock_hz: int | None
    """The lowest clock at the end of a block."""
    slowed_by: tuple[str, ...]


def gpu_use(blocks: Sequence[Block]) -> GpuUse | None:
    """Return the sum of energies and the worst of the other conditions, or None if no block has a GPU."""
    gpus = [gpu for block in blocks if block.conditions is not None for gpu in block.conditions.gpus]
    if not gpus:
        return None
    energies = [gpu.energy_j for gpu in gpus if gpu.energy_j is not None]
    return GpuUse(
        energy_j=sum(energies) if energies else None,
        hottest_c=max((gpu.temperature_c for gpu in gpus if gpu.temperature_c is not None), default=None),
        slowest_clock_hz=min((gpu.clock_hz for gpu in gpus if gpu.clock_hz is not None), default=None),
        slowed_by=tuple(sorted({reason for gpu in gpus for reason in gpu.slowed_by})),
    )
