"""The result of a trial as it is written to `regression.json`."""

from collections.abc import Mapping

from orchestrator.analysis.verdicts import Verdict
from orchestrator.domain import Plan
from orchestrator.regression.judge.evidence import moved
from orchestrator.regression.judge.findings import PairFindings
from orchestrator.regression.model import JudgedPair, Moved, Regression, SideRecord
from orchestrator.regression.pairing import Unpaired
from orchestrator.regression.trials.files import Trial
from orchestrator.regression.trials.growing_run import GrowingRun
from orchestrator.results.records import EnvironmentRecord
from orchestrator.results.store import Run


def summary(run: GrowingRun, trial: Trial, findings: Mapping[str, PairFindings], *, complete: bool) -> Regression:
    """Return the result of a trial, with the findings of every pair and the cells without a counterpart."""
    record, plan = run.record, run.plan
    cells = {cell.id: cell for cell in plan.cells}
    pairs = [
        JudgedPair(
            id=pair.id,
            baseline_cell=pair.baseline,
            candidate_cell=pair.candidate,
            model=cells[pair.baseline].workload.model,
            verdict=known.overall,
            reason=known.because,
            notes=known.notes,
            metrics=tuple(known.metrics.values()),
        )
        for pair in trial.pairs
        for known in (findings.get(pair.id) or PairFindings(0, Verdict.NOT_MEASURED, "it was stopped before"),)
    ]
    pairs += [_unpaired(each, Verdict.GONE) for each in trial.gone]
    pairs += [_unpaired(each, Verdict.NEW) for each in trial.new]
    return Regression(
        run=run.run.name,
        created_at=record.created_at,
        host=str(record.host.get("hostname") or ""),
        runtime=record.runtime,
        baseline=SideRecord(text=trial.baseline.text, label=trial.baseline.label, python=_python(findings, 0)),
        candidate=SideRecord(text=trial.candidate.text, label=trial.candidate.label, python=_python(findings, 1)),
        measurement_version=max((known.measurement_version for known in findings.values()), default=0),
        alpha=trial.rules.alpha,
        family=trial.rules.family(len(trial.pairs)),
        looks=trial.rules.looks,
        confirms=trial.rules.confirm,
        complete=complete,
        moved=_moved(run.run, plan, trial),
        warnings=plan.warnings,
        pairs=tuple(pairs),
    )


def _unpaired(each: Unpaired, verdict: Verdict) -> JudgedPair:
    cell = "baseline_cell" if verdict is Verdict.GONE else "candidate_cell"
    return JudgedPair(id=each.id, verdict=verdict, reason=each.reason, **{cell: each.cell_id})


def _python(findings: Mapping[str, PairFindings], side: int) -> str:
    return " | ".join(dict.fromkeys(known.pythons[side] for known in findings.values() if known.pythons[side]))


def _moved(run: Run, plan: Plan, trial: Trial) -> tuple[Moved, ...]:
    """Return the packages that moved over all pairs, each once for each way it moved."""
    made: dict[str, EnvironmentRecord] = {record.image: record for record in run.environments().environments}
    images = {cell.id: cell.image for cell in plan.cells}
    every = dict.fromkeys(
        each
        for pair in trial.pairs
        for each in moved(made.get(images[pair.baseline]), made.get(images[pair.candidate]))
    )
    return tuple(every)
