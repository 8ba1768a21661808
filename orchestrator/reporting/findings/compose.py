"""From a plan and its outcomes to a report that has everything planned."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from orchestrator.domain import Cell, Outcome, Plan, Skip, System, Workload
from orchestrator.reporting.findings.cells import cell_reports, counts
from orchestrator.reporting.findings.environments import image_reports
from orchestrator.reporting.findings.facts import flatten
from orchestrator.reporting.findings.groups import Judge, group, unknown
from orchestrator.reporting.findings.labels import labels
from orchestrator.reporting.findings.model import CheckReport, Report
from orchestrator.reporting.findings.problems import no_tail, problems
from orchestrator.reporting.findings.summary import headline
from orchestrator.reporting.findings.warnings import warnings
from orchestrator.results.evidence import Stored
from orchestrator.results.records import EnvironmentRecord, RunRecord
from orchestrator.wording import clean_line


def compose(  # noqa: PLR0913, PLR0917 -- all that a report is made of
    record: RunRecord,
    plan: Plan,
    stored: Iterable[Stored],
    tail: Callable[[Outcome], str] = no_tail,
    environments: Sequence[EnvironmentRecord] = (),
    judge: Judge = unknown,
    checks: tuple[CheckReport, ...] = (),
    idle_builders: Collection[str] = (),
) -> Report:
    """Say what a run found.

    `stored` may come in any order and is read once; what the plan does not hold is left out, and a planned repeat
    without an outcome is `not_run`. `tail` gives the end of an outcome's log, asked once for each log that is shown.
    `judge` says whether two cells do the same work, by what the parity `checks` found.
    `idle_builders` are those that compute nothing.
    """
    groups: dict[tuple[System, Workload], list[Cell]] = {}
    for cell in plan.cells:
        groups.setdefault((cell.system, cell.workload), []).append(cell)
    named = {
        cell.id: label for members in groups.values() for cell, label in zip(members, labels(members), strict=True)
    }
    idle = {image.name for image in plan.images if image.environment.builder in idle_builders}
    cells = tuple(
        replace(cell, computes=False) if cell.cell.image in idle and not cell.cell.script else cell
        for cell in cell_reports(plan.cells, named, stored)
    )
    by_id = {cell.cell.id: cell for cell in cells}
    compared = tuple(
        group(system, workload, [by_id[cell.id] for cell in members], judge)
        for (system, workload), members in groups.items()
        if workload.rules.times_steps
    )
    images = image_reports(plan.images, cells, environments)
    return Report(
        run=record.run,
        matrix=clean_line(plan.name),
        created_at=clean_line(record.created_at),
        runtime=record.runtime,
        orchestrator_version=record.orchestrator_version,
        host=tuple(flatten(record.host)),
        headline=headline(compared, by_id),
        groups=compared,
        cells=cells,
        statuses=counts(repeat.outcome.status for cell in cells for repeat in cell.repeats),
        problems=problems(cells, tail),
        skips=tuple(Skip(clean_line(skip.cell_id), clean_line(skip.reason)) for skip in plan.skips),
        images=images,
        warnings=(*(clean_line(warning) for warning in plan.warnings), *warnings(images, cells)),
        checks=checks,
    )
