"""A profile over a plan while it grows, which shortens what matrix and models ask for."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from orchestrator.catalog import ModelInfo
from orchestrator.domain import Duration
from orchestrator.modes.parts.largest_batch import STEPS
from orchestrator.modes.parts.settings import Profile
from orchestrator.planning.axes import PlannedWork
from orchestrator.planning.measures import Measure


def of_sizes(works: Iterable[PlannedWork], profile: Profile) -> Iterator[PlannedWork]:
    """Yield every work, with the reason that a profile leaves it out.

    A profile may run the smallest and the largest size alone of what a mode sweeps.
    """
    listed = list(works)
    swept: dict[tuple[str, str], list[int]] = {}
    sizes = [_size(work) for work in listed]
    for work, size in zip(listed, sizes, strict=True):
        if size is not None:
            swept.setdefault((work.workload.model, work.workload.mode), []).append(size)
    for work, size in zip(listed, sizes, strict=True):
        every = swept.get((work.workload.model, work.workload.mode), [])
        if size is None or size in profile.of_sizes(every):
            yield work
        else:
            yield replace(work, reason=f"left out of a {profile.title}: {size} is neither the smallest nor the largest")


def _size(work: PlannedWork) -> int | None:
    size_of = work.workload.rules.size_of
    return size_of(work.workload) if size_of and not work.reason else None


def smaller(work: PlannedWork, info: ModelInfo | None) -> PlannedWork:
    """Return a work with the batch that its model's file says is enough, if that is smaller."""
    most = info.quick.get("batch_size") if info else None
    if most is None or work.script or work.workload.searches or work.frontier or work.workload.batch_size <= most:
        return work
    workload = replace(work.workload, batch_size=most)
    return replace(work, workload=workload, label=workload.label, asked=work.workload)


def shorter(measure: Measure, profile: Profile, work: PlannedWork, info: ModelInfo | None) -> Measure:
    """Return the settings of a cell under a profile."""
    repeats = info.quick.get("repeats", profile.repeats) if info else profile.repeats
    if work.script:
        return replace(measure, repeats=min(measure.repeats, repeats))
    duration = Duration(
        warmup_steps=min(measure.duration.warmup_steps, profile.warmup_steps),
        steps=profile.steps,
        epochs=None,
        blocks=min(measure.duration.blocks, profile.blocks),
        latency_steps=min(measure.duration.latency_steps, profile.latency_steps),
    )
    return replace(measure, duration=duration, repeats=min(measure.repeats, repeats))


def timed(work: PlannedWork, duration: Duration, profile: Profile | None) -> Duration:
    """Return a duration with as many blocks and single steps as the load or the axes of the mode ask for, if they ask.

    A profile has fewer of them, and leaves the axes as they are, as they name the cell. A search for the largest batch
    has its own duration.
    """
    if work.workload.searches:
        return STEPS
    if load := work.workload.load:
        requests = min(load.requests, profile.steps) if profile else load.requests
        return Duration(duration.warmup_steps, requests, None, 1, requests)
    if work.workload.generation:
        # The time of every token is known from the blocks themselves, and there are no epochs of prompts.
        return replace(duration, steps=duration.steps or Duration().steps, epochs=None, latency_steps=0)
    if work.calls is None:
        return duration
    blocks, each = work.calls
    if profile:
        blocks, each = min(blocks, profile.blocks), min(each, max(1, profile.steps // profile.blocks))
    return Duration(duration.warmup_steps, blocks * each, None, blocks, blocks * each)
