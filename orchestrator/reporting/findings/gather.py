"""Read a run's files into a report."""

from dataclasses import replace
from functools import cache

from orchestrator.catalog import load, load_faults
from orchestrator.domain import Outcome, Plan
from orchestrator.files import read_tail
from orchestrator.planning import checks
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.groups import unknown
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.findings.parity import NOT_ASKED, Answer, Parity
from orchestrator.resources import IMAGES
from orchestrator.results.evidence import read_cells, read_check
from orchestrator.results.store import Run

_TAIL_BYTES = 16_384


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
    )
    compared = any(len(group.places) > 1 for group in content.groups)
    return content if plan.parity or not compared else replace(content, warnings=(*content.warnings, NOT_ASKED))


@cache
def idle_builders() -> frozenset[str]:
    """Return the builders that compute nothing, as the catalog says, because plans of older runs do not."""
    entries = load(IMAGES / "catalog").entries.values()
    return frozenset(entry.builder for entry in entries if not entry.computes)


def parity(run: Run, plan: Plan) -> Parity:
    """Read the parity checks of a run, where a damaged answer counts as `invalid_result`."""
    answers: dict[str, Answer] = {}
    for check in checks(plan):
        stored = read_check(run, check.id)
        answers[check.id] = (stored.outcome, stored.result)
    return Parity(plan, answers, load_faults(IMAGES / "known_faults.yaml"))


def log_tail(run: Run, outcome: Outcome) -> str:
    """The last few kilobytes of an outcome's log; empty where there is none, or it lies outside the run's folder."""
    if outcome.log is None:
        return ""
    path = (run.folder / outcome.log).resolve()
    if not path.is_relative_to(run.folder.resolve()):
        return ""
    return read_tail(path, _TAIL_BYTES)
