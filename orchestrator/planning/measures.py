"""The settings of a cell's measurement, in layers of which each goes over those below it."""

from dataclasses import dataclass, replace

from orchestrator.domain import Duration, OutputLimit, Status
from orchestrator.matrix import Settings
from orchestrator.modes.parts.settings import PARITY_BATCH


@dataclass(frozen=True, slots=True)
class Measure:
    """The duration, the repeats and the expected outcome of a cell's measurement."""

    duration: Duration
    timeout_s: float
    repeats: int
    expect: Status
    output: OutputLimit
    parity_batch: int = PARITY_BATCH


def over(measure: Measure, settings: Settings) -> Measure:
    """Return the settings of a cell with those of an entry over them."""
    duration = measure.duration
    if settings.steps is not None or settings.epochs is not None:
        duration = replace(duration, steps=settings.steps, epochs=settings.epochs)
    if settings.warmup_steps is not None:
        duration = replace(duration, warmup_steps=settings.warmup_steps)
    return Measure(
        duration=settings.shortening.of(duration),
        parity_batch=settings.shortening.parity_batch or measure.parity_batch,
        timeout_s=settings.timeout_s or measure.timeout_s,
        repeats=settings.repeats or measure.repeats,
        expect=settings.expect or measure.expect,
        output=OutputLimit(
            settings.output_bytes or measure.output.size_bytes, settings.output_files or measure.output.files
        ),
    )
