"""The progress of a run, worked out from its events alone."""

from dataclasses import dataclass, replace

from orchestrator.domain import Outcome, Status
from orchestrator.events import (
    BuildFinished,
    BuildStarted,
    Event,
    Notice,
    PhaseChanged,
    RepeatFinished,
    RepeatStarted,
    RunStarted,
    Transferred,
)


@dataclass(frozen=True, slots=True)
class Running:
    """One repeat that is under way."""

    cell_id: str
    repeat: int
    phase: str
    started_s: float
    """On the clock of whoever advances the progress."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts, what is under way, and how fast it goes."""

    planned: int = 0
    """Repeats to be measured now."""
    resumed: int = 0
    """Repeats that were there already."""
    ok: int = 0
    failed: int = 0
    other: int = 0
    """Ended without failure and without measurement: `unsupported`, `no_device`, `not_run`."""
    disturbed: int = 0
    """Of those that are `ok`, how many something else disturbed."""
    running: tuple[Running, ...] = ()
    building: tuple[tuple[str, float], ...] = ()
    """Image and the time its build started."""
    built: int = 0
    started_s: float | None = None
    throughput: float | None = None
    """Samples/s of the repeat that ended last."""
    last: Outcome | None = None
    transfer: Transferred | None = None
    """Of a bundle, what is read or written now."""

    @property
    def done(self) -> int:
        """Repeats that ended since the run started."""
        return self.ok + self.failed + self.other

    def eta_s(self, now_s: float) -> float | None:
        """Seconds to go if the rest takes as long, on average, as what is done; None before the first repeat ended."""
        if self.started_s is None or not self.done:
            return None
        measured = self.ok + self.failed or self.done
        return (now_s - self.started_s) / measured * (self.planned - self.done)


def advance(progress: Progress, event: Event, now_s: float) -> Progress:
    """The progress after an event that happened at `now_s`, on any clock that only runs forward."""
    match event:
        case BuildStarted(image=image):
            changed = replace(progress, building=(*progress.building, (image, now_s)))
        case BuildFinished(image=image, cached=cached, reason=reason):
            rest = tuple(item for item in progress.building if item[0] != image)
            changed = replace(progress, building=rest, built=progress.built + (not cached and not reason))
        case RunStarted(planned=planned, done=done):
            changed = replace(progress, planned=planned, resumed=done, started_s=now_s)
        case RepeatStarted(cell_id=cell_id, repeat=repeat):
            changed = replace(progress, running=(*progress.running, Running(cell_id, repeat, "create", now_s)))
        case PhaseChanged(cell_id=cell_id, repeat=repeat, phase=phase):
            running = tuple(
                replace(item, phase=phase) if (item.cell_id, item.repeat) == (cell_id, repeat) else item
                for item in progress.running
            )
            changed = replace(progress, running=running)
        case RepeatFinished(outcome=outcome, throughput=throughput):
            changed = _finished(progress, outcome, throughput)
        case Transferred():
            changed = replace(progress, transfer=event)
        case Notice():
            changed = progress
    return changed


def _finished(progress: Progress, outcome: Outcome, throughput: float | None) -> Progress:
    ok = outcome.status is Status.OK
    return replace(
        progress,
        running=tuple(
            item for item in progress.running if (item.cell_id, item.repeat) != (outcome.cell_id, outcome.repeat)
        ),
        ok=progress.ok + ok,
        disturbed=progress.disturbed + (ok and bool(outcome.disturbance)),
        failed=progress.failed + outcome.status.is_failure,
        other=progress.other + (not ok and not outcome.status.is_failure),
        throughput=throughput,
        last=outcome,
    )
