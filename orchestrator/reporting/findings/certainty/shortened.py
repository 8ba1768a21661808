"""Lines on cells that were measured with less than usual, and on what that leaves out."""

from collections.abc import Iterable, Iterator, Sequence

from orchestrator.analysis.percentiles import Percentiles
from orchestrator.domain import Cell, Duration, Plan
from orchestrator.modes.parts.settings import PARITY_BATCH, Profile
from orchestrator.reporting.findings.model import CellReport
from orchestrator.wording import clean_line, counted, listing, listing_of

_MOST_NAMED = 3


def smoke_lines(plan: Plan) -> Iterator[str]:
    """Yield the line that a report of a profile's run begins with."""
    profile = plan.profile
    if profile is not None:
        yield (
            f"{profile.title}: {counted(profile.warmup_steps, 'warm-up step')}, {counted(profile.blocks, 'block')} of "
            f"one step or more, {counted(profile.latency_steps, 'single step')} and at most "
            f"{counted(profile.repeats, 'repeat')} (profile {profile.name!r}); it shows that cells work, and its "
            "figures prove nothing"
        )


def smoke_headline(headline: str, profile: Profile | None) -> str:
    """Return a headline that says that it is no proof, if it is that of a profile's run."""
    return f"{profile.title.capitalize()}, no proof: {headline}" if profile and headline else headline


def shortened_lines(cells: Sequence[CellReport], plan: Plan) -> Iterator[str]:
    """Yield a line for each way in which cells were measured with less than usual.

    What the profile of the run says of all cells is not repeated.
    """
    alike: dict[str, list[str]] = {}
    for report in cells:
        work = report.cell.workload
        # An id names axes of subjects off their default.
        of_axes = report.cell.script or (work.axes and work.rules.subjects) or work.searches or work.load
        less = [] if of_axes else [*_less(report.cell, plan), *_missing(report)]
        if less:
            alike.setdefault(", ".join(less), []).append(report.cell.id)
    for less_text, ids in alike.items():
        yield clean_line(f"{listing_of(ids, _MOST_NAMED)}: measured with less than usual: {less_text}")


def _less(cell: Cell, plan: Plan) -> Iterable[str]:
    duration, usual = cell.duration, Duration()
    if plan.profile is None:
        if duration.epochs is None and duration.blocks < usual.blocks:
            yield f"{counted(duration.blocks, 'timed block')} ({usual.blocks})"
        # A generation has the times of its own steps, and no pass of single ones.
        if duration.latency_steps < usual.latency_steps and not cell.workload.generation:
            yield f"{counted(duration.latency_steps, 'single step')} in each repeat ({usual.latency_steps})"
    if cell.parity_batch < PARITY_BATCH:
        yield f"parity on a batch of {cell.parity_batch} ({PARITY_BATCH})"
    if duration.epochs is not None and not duration.evaluate_every_epoch:
        yield "test data evaluated after the last epoch alone"


def _missing(report: CellReport) -> Iterable[str]:
    """Yield the percentiles that so few steps do not give."""
    latency = report.measurement.latency if report.measurement else None
    if latency is None:
        if report.measurement is not None and report.cell.duration.latency_steps == 0:
            yield "no percentiles, without single steps"
        return
    lacking = [name for name, share in (("p90", 0.9), ("p99", 0.99)) if not latency.gives(share)]
    if lacking:
        yield f"{counted(latency.n, 'step')} in all, too few for {listing(lacking)}{_bounds(latency)}"


def _bounds(latency: Percentiles) -> str:
    return "" if latency.p50_bounds_s else " and for an interval of the median"
