"""From a plan and what became of it to a report: pure, and nothing planned gets lost on the way."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from orchestrator.analysis import measurement, ranks, ratio_matrix, repeat_measurement
from orchestrator.domain import Cell, ImageSpec, Outcome, Plan, Skip, Status, System, Workload
from orchestrator.reporting.model import CellReport, Group, ImageReport, Placed, Repeat, Report, StatusCounts
from orchestrator.reporting.problems import no_tail, problems
from orchestrator.reporting.summary import sentence
from orchestrator.reporting.text import clean_line, flatten, labels
from orchestrator.reporting.warnings import warnings
from orchestrator.results.contract import EnvironmentRecord, Result, RunRecord
from orchestrator.results.store import Stored

NO_OUTCOME = "no outcome was recorded: the run was stopped, or is still going on"
NO_RESULT = "result.json is missing or unreadable"
_MOST_VALUES = 4

Facts = tuple[tuple[str, str], ...]
Seen = Mapping[tuple[str, int], tuple[Repeat, Facts, int | None]]


def document(
    record: RunRecord,
    plan: Plan,
    stored: Iterable[Stored],
    tail: Callable[[Outcome], str] = no_tail,
    environments: Sequence[EnvironmentRecord] = (),
) -> Report:
    """Say what a run found.

    `stored` may come in any order and is read once; what the plan does not hold is left out, and a planned repeat
    without an outcome is `not_run`. `tail` gives the end of an outcome's log, asked once for each log that is shown.
    """
    in_epochs = {cell.id: cell.duration.epochs is not None for cell in plan.cells}
    seen = {
        (item.outcome.cell_id, item.outcome.repeat): _repeat(item, in_epochs[item.outcome.cell_id])
        for item in stored
        if item.outcome.cell_id in in_epochs
    }
    groups: dict[tuple[System, Workload], list[Cell]] = {}
    for cell in plan.cells:
        groups.setdefault((cell.system, cell.workload), []).append(cell)
    named = {
        cell.id: label for members in groups.values() for cell, label in zip(members, labels(members), strict=True)
    }
    cells = tuple(_cell(cell, named[cell.id], seen) for cell in plan.cells)
    by_id = {cell.cell.id: cell for cell in cells}
    images = tuple(_image(image, cells, seen, environments) for image in plan.images)
    return Report(
        run=record.run,
        matrix=clean_line(plan.name),
        created_at=clean_line(record.created_at),
        runtime=record.runtime,
        orchestrator_version=record.orchestrator_version,
        host=tuple(flatten(record.host)),
        groups=tuple(_group(*key, [by_id[cell.id] for cell in members]) for key, members in groups.items()),
        cells=cells,
        statuses=_counts(repeat.outcome.status for cell in cells for repeat in cell.repeats),
        problems=problems(cells, tail),
        skips=tuple(Skip(clean_line(skip.cell_id), clean_line(skip.reason)) for skip in plan.skips),
        images=images,
        warnings=(*(clean_line(warning) for warning in plan.warnings), *warnings(images, cells)),
    )


def _repeat(item: Stored, in_epochs: bool) -> tuple[Repeat, Facts, int | None]:
    outcome, result = item.outcome, item.result
    outcome = replace(outcome, reason=clean_line(outcome.reason))
    if outcome.status is not Status.OK:
        return Repeat(outcome, None), (), None
    if result is None:
        return (
            Repeat(replace(outcome, status=Status.INVALID_RESULT, reason=outcome.reason or NO_RESULT), None),
            (),
            None,
        )
    measured = repeat_measurement(result, outcome.create_s, in_epochs=in_epochs)
    return Repeat(outcome, measured), _facts(result), result.measurement_version


def _facts(result: Result) -> Facts:
    return tuple(flatten(result.facts))


def _cell(cell: Cell, label: str, seen: Seen) -> CellReport:
    missing = {
        number: Repeat(Outcome(cell.id, number, Status.NOT_RUN, NO_OUTCOME), None) for number in range(cell.repeats)
    }
    found = [seen[cell.id, number] for number in missing if (cell.id, number) in seen]
    repeats = tuple((missing | {repeat.outcome.repeat: repeat for repeat, _, _ in found}).values())
    measured = [repeat.measurement for repeat in repeats if repeat.measurement is not None]
    return CellReport(
        cell=cell,
        label=label,
        repeats=repeats,
        statuses=_counts(repeat.outcome.status for repeat in repeats),
        measurement=measurement(measured) if measured else None,
        facts=_merged(facts for _, facts, _ in found),
    )


def _group(system: System, workload: Workload, cells: Sequence[CellReport]) -> Group:
    measured = [(cell, cell.measurement.throughput.value) for cell in cells if cell.measurement is not None]
    ordered = [cell for cell, _ in sorted(measured, key=lambda pair: -pair[1])]
    matrix = ratio_matrix([_values(cell) for cell in ordered])
    places = [
        Placed(cell.cell.id, cell.label, rank, row[0])
        for cell, rank, row in zip(ordered, ranks(matrix), matrix, strict=True)
    ]
    places += [Placed(cell.cell.id, cell.label, None, None) for cell in cells if cell.measurement is None]
    return Group(system, workload, tuple(places), matrix, sentence(ordered, matrix, cells))


def _values(cell: CellReport) -> list[float]:
    return [repeat.measurement.samples_per_s for repeat in cell.repeats if repeat.measurement is not None]


def _image(
    image: ImageSpec, cells: Sequence[CellReport], seen: Seen, environments: Sequence[EnvironmentRecord]
) -> ImageReport:
    mine = [cell for cell in cells if cell.cell.image == image.name]
    made = [entry for entry in environments if entry.image == image.name]
    ids = (entry.image_id for entry in made)
    launched = (repeat.outcome.image_id for cell in mine for repeat in cell.repeats)
    versions = {
        seen[cell.cell.id, repeat.outcome.repeat][2]
        for cell in mine
        for repeat in cell.repeats
        if repeat.measurement is not None
    }
    return ImageReport(
        name=image.name,
        references=_distinct(entry.reference for entry in made),
        image_ids=_distinct([*ids, *launched]),
        base_digests=_distinct(entry.base_digest for entry in made),
        measurement_versions=tuple(sorted(version for version in versions if version is not None)),
        facts=_merged(
            [*(tuple(flatten({"versions": entry.versions})) for entry in made), *(cell.facts for cell in mine)]
        ),
        pinned=tuple(name for name, _ in image.environment.expected_versions),
    )


def _distinct(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clean_line(text) for text in texts if text))


def _merged(several: Iterable[Facts]) -> Facts:
    """One value per fact; where containers disagree, the values joined by ` | `."""
    values: dict[str, dict[str, None]] = {}
    for facts in several:
        for name, value in facts:
            values.setdefault(name, {})[value] = None
    return tuple(
        (name, " | ".join([*found][:_MOST_VALUES]) + (" | …" if len(found) > _MOST_VALUES else ""))
        for name, found in values.items()
    )


def _counts(statuses: Iterable[Status]) -> StatusCounts:
    found = Counter(statuses)
    return tuple((status, found[status]) for status in Status if found[status])
