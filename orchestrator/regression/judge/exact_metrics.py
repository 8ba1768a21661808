"""Metrics that are known once and exactly, such as the size of the image."""

from dataclasses import dataclass, replace

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.parity.work import PairParity
from orchestrator.domain import Cell
from orchestrator.regression.judge import comparable
from orchestrator.regression.judge.metric_rule import MetricRule
from orchestrator.regression.model import Judged
from orchestrator.results.store import Run


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """The exact figures of a cell in one run, read when a metric takes them."""

    run: Run
    cell: Cell
    image_bytes: int | None

    @property
    def last_loss(self) -> float | None:
        """Return the loss of the parity check after its last step, or None."""
        return comparable.loss(self.run, self.cell) if compares_losses(self.cell) else None


def compares_losses(cell: Cell) -> bool:
    """Return true if the parity rule of a cell's mode compares losses."""
    return "losses" in cell.workload.rules.parity.compared


def judged_exact(
    rule: MetricRule, parity: PairParity | None, one: StoredFigures, other: StoredFigures
) -> Judged | None:
    """Judge an exact metric, or return None if it decides nothing and a value is not known."""
    if rule.metric.by_parity:
        return _judged_by_parity(rule, parity, one, other)
    values = _values(rule, one, other)
    return None if None in values and not rule.gates else rule.exact(*values)


def _judged_by_parity(
    rule: MetricRule, parity: PairParity | None, one: StoredFigures, other: StoredFigures
) -> Judged | None:
    """Judge the losses after the same steps from the same weights.

    What parity takes for rounding is never called a drift. Return None if the mode's parity rule
    compares no losses, if no parity check was asked for, and if the losses decide nothing and are not known.
    """
    if parity is None or not compares_losses(one.cell):
        return None
    bars = [difference.bar for difference in parity.differences if difference.evidence == "losses"]
    if bars:
        rule = replace(rule, tolerance=max(rule.tolerance, bars[-1]))
        return rule.exact(*_values(rule, one, other))
    if not rule.gates or not all(comparable.is_checked(side.run, side.cell) for side in (one, other)):
        return None
    work = comparable.work_difference(parity)
    if work:
        return rule.empty(Verdict.NOT_COMPARABLE, work)
    return rule.empty(Verdict.NOT_MEASURED, f"parity: {parity.reason or 'it compared no losses'}")


def _values(rule: MetricRule, *sides: StoredFigures) -> tuple[float | None, float | None]:
    source = rule.metric.exact
    one, other = (None if source is None or (value := source(side)) is None else float(value) for side in sides)
    return one, other
