"""The resources of a repeat, which are CPU time and disk of its process, and conditions of its GPUs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from orchestrator.analysis.gpus.series import SeriesUse, energy, series_use
from orchestrator.results.contract import Block, GpuConditions, Used
from orchestrator.results.telemetry.contract import Telemetry, spans


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
    """By the series of the host alone, or by the differences over single blocks if there is no series."""
    hottest_c: float | None
    slowest_clock_hz: int | None
    """The lowest clock at the end of a block."""
    slowed_by: tuple[str, ...]
    series: Annotated[SeriesUse | None, Field(exclude_if=lambda series: series is None)] = None
    """None if the host has sampled nothing."""
    is_energy_integrated: Annotated[bool, Field(exclude_if=lambda is_integrated: not is_integrated)] = False
    """True if a GPU has no counter of energy, and its power was integrated."""


def gpu_use(blocks: Sequence[Block], telemetry: Telemetry | None = None) -> GpuUse | None:
    """Return the sum of energies and the worst of the other conditions, or None if no block has a GPU."""
    gpus = [gpu for block in blocks if block.conditions is not None for gpu in block.conditions.gpus]
    if not gpus and telemetry is None:
        return None
    timed = spans(blocks)
    whole = energy(telemetry, timed) if telemetry else None
    sampled_j = whole.joules if whole else None
    return GpuUse(
        energy_j=_of_blocks(gpus) if telemetry is None else sampled_j,
        hottest_c=max((gpu.temperature_c for gpu in gpus if gpu.temperature_c is not None), default=None),
        slowest_clock_hz=min((gpu.clock_hz for gpu in gpus if gpu.clock_hz is not None), default=None),
        slowed_by=tuple(sorted({reason for gpu in gpus for reason in gpu.slowed_by})),
        series=series_use(telemetry, timed) if telemetry else None,
        is_energy_integrated=whole is not None and whole.is_integrated,
    )


def _of_blocks(gpus: Sequence[GpuConditions]) -> float | None:
    """Return the sum of the differences over single blocks, or None if a GPU does not tell one."""
    told = [gpu.energy_j for gpu in gpus if gpu.energy_j is not None]
    return sum(told) if gpus and len(told) == len(gpus) else None


def joules_per_sample(blocks: Sequence[Block], telemetry: Telemetry | None) -> float | None:
    """Return the energy of the GPUs over blocks ÷ their samples, or None if it is not known."""
    whole = energy(telemetry, spans(blocks)) if telemetry else None
    return whole.joules / sum(block.samples for block in blocks) if whole else None
