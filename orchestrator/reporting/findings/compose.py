"""From the files of a run to a report that has everything planned."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from orchestrator.analysis.parity.sides import output_evidence
from orchestrator.analysis.rankings import RankingLooks
from orchestrator.catalog import idle_builders, load_faults
from orchestrator.domain import Cell, ImageSpec, Outcome, Plan, Skip, System, Workload
from orchestrator.files import read_tail
from orchestrator.planning import checks
from orchestrator.reporting.findings.cells import cell_reports, counts, flatten, merged
from orchestrator.reporting.findings.certainty.limits import with_limits
from orchestrator.reporting.findings.certainty.looks import (
    at_its_look,
    compared_groups,
    ranking_looks,
    run_line,
    with_looks,
)
from orchestrator.reporting.findings.certainty.looks_model import until_decided
from orchestrator.reporting.findings.certainty.shortened import shortened_lines, smoke_headline, smoke_lines
from orchestrator.reporting.findings.claims import judgement as claims
from orchestrator.reporting.findings.groups import Judge, group, unknown
from orchestrator.reporting.findings.model import (
    CellReport,
    CheckReport,
    ImageReport,
    Report,
)
from orchestrator.reporting.findings.parity import NOT_ASKED, Answer, Parity
from orchestrator.reporting.findings.problems import no_tail, problems, warnings
from orchestrator.reporting.findings.shared_texts import labels
from orchestrator.reporting.findings.summary import headline
from orchestrator.reporting.findings.tables.efficiency import with_efficiencies
from orchestrator.results.builds import builds
from orchestrator.results.decisions import Decisions, stored_decisions
from orchestrator.results.evidence import Stored, read_cells, read_check
from orchestrator.results.records import EnvironmentRecord, RunRecord
from orchestrator.results.store import Run
from orchestrator.user_files import stand_in_warnings
from orchestrator.wording import clean_line

_TAIL_BYTES = 16_384


def compose(  # noqa: PLR0913, PLR0917 -- all that a report is made of
    record: RunRecord,
    plan: Plan,
    stored: Iterable[Stored],
    tail: Callable[[Outcome], str] = no_tail,
    environments: Sequence[EnvironmentRecord] = (),
    judge: Judge = unknown,
    checks: tuple[CheckReport, ...] = (),
    idle_builders: Collection[str] = (),
    decisions: Decisions | None = None,
) -> Report:
    """Say what a run found.

    `stored` may come in any order and is read once; what the plan does not hold is left out, and a planned repeat
    without an outcome is `not_run`. `tail` gives the end of an outcome's log, asked once for each log that is shown.
    `judge` says whether two cells do the same work, by what the parity `checks` found.
    `idle_builders` are those that compute nothing. `decisions` are those of a run until decided.
    """
    looks = ranking_looks(decisions) if decisions else None
    groups = _groups(plan)
    named = {
        cell.id: label for members in groups.values() for cell, label in zip(members, labels(members), strict=True)
    }
    reports = _computing(plan, cell_reports(plan.cells, named, stored), idle_builders)
    cells = tuple(_at_their_looks(plan, reports, looks, idle_builders) if looks else reports)
    by_id = {cell.cell.id: cell for cell in cells}
    ranked = [
        group(system, workload, [by_id[cell.id] for cell in members], judge, looks)
        for (system, workload), members in groups.items()
        if workload.rules.times_steps
    ]
    compared = tuple(with_efficiencies(ranked, cells))
    compared = tuple(with_limits(with_looks(each, by_id) if looks else each, by_id) for each in compared)
    images = image_reports(plan.images, cells, environments)
    asked = until_decided(decisions) if decisions else None
    return Report(
        run=record.run,
        matrix=clean_line(plan.name),
        created_at=clean_line(record.created_at),
        runtime=record.runtime,
        orchestrator_version=record.orchestrator_version,
        host=tuple(flatten(record.host)),
        headline=smoke_headline(headline(compared, by_id, asked), plan.profile),
        groups=compared,
        cells=cells,
        statuses=counts(repeat.outcome.status for cell in cells for repeat in cell.repeats),
        problems=problems(cells, tail),
        skips=tuple(Skip(clean_line(skip.cell_id), clean_line(skip.reason)) for skip in plan.skips),
        images=images,
        warnings=(
            *([run_line(asked)] if asked else []),
            *_lines_of_plan(plan, cells),
            *warnings(images, cells, record.proved_with),
        ),
        checks=checks,
        study=claims.of_plan(plan, by_id, judge),
        profile=plan.profile,
        until_decided=asked,
    )


def _groups(plan: Plan) -> dict[tuple[System, Workload], list[Cell]]:
    """Return the cells that do the same on a system, in the order of the plan."""
    groups: dict[tuple[System, Workload], list[Cell]] = {}
    for cell in plan.cells:
        groups.setdefault((cell.system, cell.workload), []).append(cell)
    return groups


def _lines_of_plan(plan: Plan, cells: Sequence[CellReport]) -> Iterator[str]:
    """Yield the warnings that follow from the plan."""
    yield from smoke_lines(plan)
    yield from (clean_line(warning) for warning in plan.warnings)
    yield from stand_in_warnings(plan.data)
    yield from shortened_lines(cells, plan)


def _computing(plan: Plan, cells: Iterable[CellReport], idle_builders: Collection[str]) -> Iterator[CellReport]:
    """Mark the cells whose builder computes nothing."""
    idle = {image.name for image in plan.images if image.environment.builder in idle_builders}
    for cell in cells:
        yield replace(cell, computes=False) if cell.cell.image in idle and not cell.cell.script else cell


def _at_their_looks(
    plan: Plan, cells: Iterable[CellReport], looks: RankingLooks, idle_builders: Collection[str]
) -> Iterator[CellReport]:
    """Show the cells that are ranked at the level of the look that decided."""
    ranked = {cell.id for members in compared_groups(plan, idle_builders) for cell in members}
    for cell in cells:
        yield at_its_look(cell, looks) if cell.cell.id in ranked else cell


def report(run: Run) -> Report:
    """Report on a run's folder, one repeat in memory at a time; raises `InputError` where there is no such run."""
    record = run.record()
    plan = run.plan()
    known = parity(run, plan)
    content = compose(
        record.model_copy(update={"plan": {}, "matrix": {}}),  # of many cells, the heaviest thing in memory
        plan,
        read_cells(run, plan.cells),
        lambda outcome: log_tail(run, outcome),
        run.environments().environments,
        known.judge if plan.parity else unknown,
        known.reports(),
        idle_builders(),
        stored_decisions(run),
    )
    content = replace(content, builds=builds(run.folder))
    compared = any(len(group.places) > 1 for group in content.groups)
    return content if plan.parity or not compared else replace(content, warnings=(*content.warnings, NOT_ASKED))


def parity(run: Run, plan: Plan) -> Parity:
    """Read the parity checks of a run, where a damaged answer counts as `invalid_result`."""
    answers: dict[str, Answer] = {}
    for check in checks(plan):
        stored = read_check(run, check.id)
        answers[check.id] = (stored.outcome, stored.result)
    outputs = {cell.id: output_evidence(run, cell) for cell in plan.cells if cell.workload.rules.subjects}
    return Parity(plan, answers, load_faults(), outputs)


def log_tail(run: Run, outcome: Outcome) -> str:
    """The last few kilobytes of an outcome's log; empty where there is none, or it lies outside the run's folder."""
    if outcome.log is None:
        return ""
    path = (run.folder / outcome.log).resolve()
    if not path.is_relative_to(run.folder.resolve()):
        return ""
    return read_tail(path, _TAIL_BYTES)


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
