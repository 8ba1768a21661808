"""Warnings to read before the figures of a report."""

from collections.abc import Iterable, Sequence

from orchestrator.domain import Outcome
from orchestrator.reporting.findings.model import CellReport, ImageReport
from orchestrator.wording import clean_line, listing_of, plural

_MOST_NAMED = 3


def warnings(images: Sequence[ImageReport], cells: Sequence[CellReport]) -> Iterable[str]:
    """Everything that a run's own files say against its figures."""
    yield from _measured_differently(images)
    yield from _other_threads(cells)
    yield from _disturbances([repeat.outcome for cell in cells for repeat in cell.repeats])


def _measured_differently(images: Sequence[ImageReport]) -> Iterable[str]:
    versions = sorted({version for image in images for version in image.measurement_versions})
    if len(versions) > 1:
        yield (
            f"measured in {len(versions)} different ways (measurement_version "
            f"{', '.join(str(version) for version in versions)}): the figures of this run are not comparable throughout"
        )


def _other_threads(cells: Sequence[CellReport]) -> Iterable[str]:
    """Yield frameworks that say they run another number of threads than they were given."""
    running_as: dict[tuple[str, str, str], list[str]] = {}
    for cell in cells:
        facts = dict(cell.facts)
        asked, running = facts.get("threads_asked"), facts.get("threads")
        if asked and running and asked != running:
            running_as.setdefault((cell.cell.framework.label, running, asked), []).append(cell.cell.id)
    for (_, running, asked), ids in running_as.items():
        yield clean_line(
            f"{listing_of(ids, 3)}: the framework ran {running} threads where {asked} were asked for: "
            "its figures are not comparable with those of frameworks that kept to it"
        )


def _disturbances(outcomes: Sequence[Outcome]) -> Iterable[str]:
    """Yield the counts of disturbed repeats, and say if they count."""
    launched = [outcome for outcome in outcomes if outcome.attempts]
    disturbed = [outcome for outcome in launched if outcome.disturbance]
    again = [outcome for outcome in launched if outcome.remeasured]
    in_vain = [outcome for outcome in launched if outcome.not_remeasured]
    busy = [outcome for outcome in launched if outcome.busy]
    if disturbed:
        named = "; ".join(f"{one.cell_id} repeat {one.repeat}: {one.disturbance}" for one in disturbed[:_MOST_NAMED])
        more = f"; and {len(disturbed) - _MOST_NAMED} more" if len(disturbed) > _MOST_NAMED else ""
        yield clean_line(
            f"{len(disturbed)} of {len(launched)} repeats {_were(disturbed)} disturbed and {_counts(disturbed)}: "
            f"{named}{more}"
        )
    if again:
        yield (
            f"{len(again)} {plural('repeat', len(again))} {_were(again)} measured again after a disturbance: "
            "what was disturbed is kept in attempt-1 and so on, and does not count"
        )
    if in_vain:
        first = in_vain[0]
        yield clean_line(
            f"{len(in_vain)} {plural('repeat', len(in_vain))} {_were(in_vain)} to be measured again and "
            f"{_were(in_vain)} not, so the disturbed measurement counts: {first.cell_id} repeat {first.repeat}: "
            f"{first.not_remeasured}"
        )
    if busy:
        yield clean_line(f"the host was not idle when {len(busy)} of {len(launched)} repeats began: {busy[0].busy}")


def _were(some: Sequence[Outcome]) -> str:
    return "was" if len(some) == 1 else "were"


def _counts(some: Sequence[Outcome]) -> str:
    return "counts" if len(some) == 1 else "count"
