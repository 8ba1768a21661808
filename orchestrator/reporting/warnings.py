"""What a reader must know before believing a report's figures: one line each."""

from collections.abc import Iterable, Sequence

from orchestrator.reporting.model import CellReport, ImageReport
from orchestrator.reporting.text import clean_line


def warnings(images: Sequence[ImageReport], cells: Sequence[CellReport]) -> Iterable[str]:
    """Everything that a run's own files say against its figures."""
    yield from _measured_differently(images)
    yield from _other_threads(cells)


def _measured_differently(images: Sequence[ImageReport]) -> Iterable[str]:
    versions = sorted({version for image in images for version in image.measurement_versions})
    if len(versions) > 1:
        yield (
            f"measured in {len(versions)} different ways (measurement_version "
            f"{', '.join(str(version) for version in versions)}): the figures of this run are not comparable throughout"
        )


def _other_threads(cells: Sequence[CellReport]) -> Iterable[str]:
    """Frameworks that say they run another number of threads than they were given; what says nothing is left alone."""
    for cell in cells:
        facts = dict(cell.facts)
        asked, running = facts.get("threads_asked"), facts.get("threads")
        if asked and running and asked != running:
            yield clean_line(
                f"{cell.cell.id}: the framework ran {running} threads where {asked} were asked for: "
                "its figures are not comparable with those of frameworks that kept to it"
            )
