"""A run as test cases, one for every planned repeat and one for every skip."""

from collections.abc import Iterator, Mapping

from orchestrator.analysis.measurements import RepeatMeasurement
from orchestrator.domain import Status
from orchestrator.reporting.document import Case, CaseResult, Suite, Suites
from orchestrator.reporting.findings import shared_texts
from orchestrator.reporting.findings.model import CellReport, Repeat, Report
from orchestrator.reporting.findings.tables import largest_batches
from orchestrator.reporting.reports.run.claims import TITLE, claim_cases
from orchestrator.wording import rate

NEVER_BEGAN = frozenset({Status.BUILD_FAILED, Status.LAUNCH_FAILED, Status.IMPORT_FAILED})
"""Errors: nothing of the cell ran. Other failures are JUnit's failures, and what is none of both is skipped."""


def suites(report: Report) -> Suites:
    """Build a suite for each group and one for scripts, with a case for every repeat."""
    profile = f" ({report.profile.title})" if report.profile else ""
    return Suites(f"{report.matrix} {report.run}{profile}", tuple(_suites(report)))


def _suites(report: Report) -> Iterator[Suite]:
    cells = report.by_id
    tails = {log.log: log.tail for problem in report.problems for log in problem.logs}
    for group in report.groups:
        yield _suite(report, group.label, (case for name in group.cell_ids for case in _cases(cells[name], tails)))
    if report.searches:
        title = largest_batches.TITLE.lower()
        yield _suite(report, title, (case for cell in report.searches for case in _cases(cell, tails)))
    if report.scripts:
        yield _suite(
            report,
            shared_texts.PRINTED_TITLE.lower(),
            (case for cell in report.scripts for case in _cases(cell, tails)),
        )
    if report.study:
        yield _suite(report, TITLE.lower(), claim_cases(report.study))
    if report.skips:
        name = "skipped by the plan"
        skips = (
            Case(name, skip.cell_id, result=CaseResult.SKIPPED, message=skip.reason, word="skip")
            for skip in report.skips
        )
        yield _suite(report, name, skips)
    for further in report.replicates:
        yield from _suites(further)


def _suite(report: Report, name: str, cases: Iterator[Case]) -> Suite:
    return Suite(name, tuple(cases), report.created_at, dict(report.host).get("hostname", ""))


def _cases(cell: CellReport, tails: Mapping[str, str]) -> Iterator[Case]:
    for repeat in cell.repeats:
        yield _case(cell, repeat, tails)


def _case(cell: CellReport, repeat: Repeat, tails: Mapping[str, str]) -> Case:
    outcome = repeat.outcome
    name, group = f"repeat {outcome.repeat}", cell.cell.id
    said = [f"ok: {_figure(cell, repeat.measurement)}"] if repeat.measurement else []
    said += [f"disturbed: {outcome.disturbance}"] if outcome.disturbance else []
    said += [f"log: {outcome.log}"] if outcome.log else []
    if outcome.status is not Status.OK and outcome.status is cell.cell.expect:
        said.insert(0, f"{outcome.status.value}, as the matrix expects: {outcome.reason}")
    elif outcome.status is not Status.OK:
        return Case(
            name, group, outcome.wall_s, _result(outcome.status), outcome.reason, outcome.status.value,
            out="\n".join(said), log=tails.get(outcome.log or "", ""),
        )  # fmt: skip
    return Case(name, group, outcome.wall_s, out="\n".join(said))


def _figure(cell: CellReport, measured: RepeatMeasurement) -> str:
    if measured.search:
        return f"largest batch {largest_batches.size_text(measured.search.fits)}"
    return f"{rate(measured.samples_per_s)} {cell.cell.workload.rules.per_s}"


def _result(status: Status) -> CaseResult:
    if not status.is_failure:
        return CaseResult.SKIPPED
    return CaseResult.ERROR if status in NEVER_BEGAN else CaseResult.FAILURE
