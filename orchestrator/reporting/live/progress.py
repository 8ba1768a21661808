"""The progress of a run, worked out from its events alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

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

DISTURBED = "disturbed"
"""The state of a repeat that is `ok`, and that something else disturbed."""
PENDING = ""
"""The state of a repeat that is still to be measured."""


@dataclass(frozen=True, slots=True)
class Running:
    """One repeat that is under way."""

    cell_id: str
    repeat: int
    phase: str
    started_s: float
    """On the clock of whoever advances the progress."""
    log: str = ""
    """The file that its output goes to; empty if that is not known."""


@dataclass(frozen=True, slots=True)
class Building:
    """One environment that is being made."""

    image: str
    started_s: float
    log: str


@dataclass(frozen=True, slots=True)
class TakenTimes:
    """The seconds that repeats and images have taken so far, and were expected to."""

    expected_s: Mapping[str, float] = field(default_factory=dict)
    """One repeat of a cell, by its id."""
    images_s: Mapping[str, float | None] = field(default_factory=dict)
    """Making each image that is still to be provided."""
    repeats_s: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Those that were launched and have ended, by cell."""
    builds_s: tuple[float, ...] = ()
    """Images that were not there before."""


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
    building: tuple[Building, ...] = ()
    built: int = 0
    cells: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The state of each repeat by cell: a status, `DISTURBED` or `PENDING`."""
    rates: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    """The throughput of the last repeat of each cell, and what it counts."""
    durations: TakenTimes = TakenTimes()
    measuring_s: float | None = None
    """Moment at which the first repeat was launched."""
    throughput: float | None = None
    """Samples/s of the repeat that ended last, or what else it counts."""
    counts: str = "sample"
    """The unit of the throughput of that repeat."""
    last: Outcome | None = None
    disturbance: Outcome | None = None
    """The last one that something else disturbed."""
    transfer: Transferred | None = None
    """Of a bundle, what is read or written now; of an image, what is pulled."""

    @property
    def done(self) -> int:
        """Repeats that ended since the run started."""
        return self.ok + self.failed + self.other


def advance(progress: Progress, event: Event, now_s: float) -> Progress:
    """The progress after an event that happened at `now_s`, on any clock that only runs forward."""
    match event:
        case BuildStarted(image=image, log=log):
            changed = replace(progress, building=(*progress.building, Building(image, now_s, log)))
        case BuildFinished():
            changed = _built(progress, event)
        case RunStarted():
            changed = _begun(progress, event)
        case RepeatStarted():
            running = Running(event.cell_id, event.repeat, "create", now_s, event.log)
            begun_s = now_s if progress.measuring_s is None else progress.measuring_s
            durations = replace(progress.durations, images_s={})  # all that could be provided has been
            changed = replace(progress, running=(*progress.running, running), measuring_s=begun_s, durations=durations)
        case PhaseChanged(cell_id=cell_id, repeat=repeat, phase=phase):
            now_running = tuple(
                replace(item, phase=phase) if (item.cell_id, item.repeat) == (cell_id, repeat) else item
                for item in progress.running
            )
            changed = replace(progress, running=now_running)
        case RepeatFinished():
            changed = _finished(progress, event, now_s)
        case Transferred():
            changed = replace(progress, transfer=event)
        case Notice():
            changed = progress
    return changed


def _begun(progress: Progress, event: RunStarted) -> Progress:
    """Return the progress of a run that begins. Until decided, it begins again with each look."""
    expected = {cell.cell_id: cell.expected_s for cell in event.cells if cell.expected_s is not None}
    images = {each.image: each.expected_s for each in event.images}
    return replace(
        progress,
        planned=event.planned,
        resumed=event.done,
        ok=0,
        failed=0,
        other=0,
        cells={cell.cell_id: cell.statuses for cell in event.cells},
        durations=replace(progress.durations, expected_s=expected, images_s=images),
        measuring_s=None,
    )


def _built(progress: Progress, event: BuildFinished) -> Progress:
    is_new = not event.cached and not event.reason
    durations = progress.durations
    durations = replace(
        durations,
        images_s={image: seconds for image, seconds in durations.images_s.items() if image != event.image},
        builds_s=(*durations.builds_s, event.wall_s) if is_new else durations.builds_s,
    )
    building = tuple(item for item in progress.building if item.image != event.image)
    built = progress.built + is_new
    return replace(progress, building=building, built=built, durations=durations, transfer=None)


def _finished(progress: Progress, event: RepeatFinished, now_s: float) -> Progress:
    outcome, throughput = event.outcome, event.throughput
    ok = outcome.status is Status.OK
    key = outcome.cell_id, outcome.repeat
    began = [item.started_s for item in progress.running if (item.cell_id, item.repeat) == key]
    durations = progress.durations
    if began and (ok or outcome.status.is_failure):
        of_cell = (*durations.repeats_s.get(outcome.cell_id, ()), now_s - began[0])
        durations = replace(durations, repeats_s={**durations.repeats_s, outcome.cell_id: of_cell})
    return replace(
        progress,
        running=tuple(item for item in progress.running if (item.cell_id, item.repeat) != key),
        ok=progress.ok + ok,
        disturbed=progress.disturbed + (ok and bool(outcome.disturbance)),
        failed=progress.failed + outcome.status.is_failure,
        other=progress.other + (not ok and not outcome.status.is_failure),
        cells=_marked(progress.cells, outcome),
        rates=progress.rates if throughput is None else {**progress.rates, outcome.cell_id: (throughput, event.counts)},
        durations=durations,
        throughput=throughput,
        counts=event.counts,
        last=outcome,
        disturbance=outcome if outcome.disturbance else progress.disturbance,
    )


def _marked(cells: Mapping[str, tuple[str, ...]], outcome: Outcome) -> Mapping[str, tuple[str, ...]]:
    """Return the states with that of an outcome."""
    states = list(cells.get(outcome.cell_id, ()))
    if outcome.repeat >= len(states):
        return cells
    states[outcome.repeat] = DISTURBED if outcome.disturbance else outcome.status.value
    return {**cells, outcome.cell_id: tuple(states)}
