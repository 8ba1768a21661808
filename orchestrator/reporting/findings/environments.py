"""The environments of a run and their contents."""

from collections.abc import Iterable, Sequence

from orchestrator.domain import ImageSpec
from orchestrator.reporting.findings.facts import flatten, merged
from orchestrator.reporting.findings.model import CellReport, ImageReport
from orchestrator.results.records import EnvironmentRecord
from orchestrator.wording import clean_line


def image_reports(
    images: Sequence[ImageSpec], cells: Sequence[CellReport], made: Sequence[EnvironmentRecord]
) -> tuple[ImageReport, ...]:
    """Report on every image of a plan, in its order."""
    cells_of: dict[str, list[CellReport]] = {}
    for cell in cells:
        cells_of.setdefault(cell.cell.image, []).append(cell)
    records_of: dict[str, list[EnvironmentRecord]] = {}
    for record in made:
        records_of.setdefault(record.image, []).append(record)
    return tuple(_image(image, cells_of.get(image.name, ()), records_of.get(image.name, ())) for image in images)


def _image(image: ImageSpec, cells: Sequence[CellReport], made: Sequence[EnvironmentRecord]) -> ImageReport:
    ids = (entry.image_id for entry in made)
    launched = (repeat.outcome.image_id for cell in cells for repeat in cell.repeats)
    versions = {version for cell in cells for version in cell.measurement_versions}
    return ImageReport(
        name=image.name,
        references=_distinct(entry.reference for entry in made),
        image_ids=_distinct([*ids, *launched]),
        base_digests=_distinct(entry.base_digest for entry in made),
        measurement_versions=tuple(sorted(versions)),
        facts=merged(
            [*(tuple(flatten({"versions": entry.versions})) for entry in made), *(cell.facts for cell in cells)]
        ),
        pinned=tuple(name for name, _ in image.environment.expected_versions),
    )


def _distinct(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clean_line(text) for text in texts if text))
