"""A regression test as records of raw numbers in SI units, one for every metric of every pair of cells."""

from collections.abc import Iterator
from typing import Any

from orchestrator.regression.model import Judged, JudgedPair, Regression
from orchestrator.reporting.document import Records

_TEST = ("run", "created_at", "host", "runtime", "baseline", "candidate", "design")
_PAIR = ("cell", "baseline_cell", "candidate_cell", "model", "cell_verdict", "cell_reason")
_FIGURES = (
    *("metric", "unit", "better", "gates", "verdict", "reason", "tolerance"),
    *("baseline_value", "candidate_value", "ratio", "low", "high", "confidence", "equivalence", "p_value"),
    *("minimum_detectable_effect", "more_blocks", "blocks", "confirmed", "is_regression"),
)


def records(regression: Regression) -> Records:
    """Return a row for every metric of every pair, and one for a pair that has no metric."""
    return Records((*_TEST, *_PAIR, *_FIGURES), _rows(regression))


def _rows(regression: Regression) -> Iterator[dict[str, Any]]:
    sides = (regression.baseline.text, regression.candidate.text)
    values = (regression.run, regression.created_at, regression.host, regression.runtime, *sides, regression.design)
    of_test = dict(zip(_TEST, values, strict=True))
    for pair in regression.pairs:
        of_pair = of_test | _pair_columns(pair)
        yield from (of_pair | _figures(judged) for judged in pair.metrics)
        if not pair.metrics:
            yield of_pair | {"is_regression": _flag(pair.is_regression)}


def _pair_columns(pair: JudgedPair) -> dict[str, Any]:
    values = (pair.id, pair.baseline_cell, pair.candidate_cell, pair.model, pair.verdict.value, pair.reason)
    return dict(zip(_PAIR, values, strict=True))


def _figures(judged: Judged) -> dict[str, Any]:
    values = (
        *(judged.metric, judged.unit, judged.better.value, _flag(judged.gates), judged.verdict.value, judged.reason),
        *(judged.tolerance, judged.baseline, judged.candidate, judged.ratio, judged.low, judged.high),
        *(judged.confidence, judged.equivalence, judged.p_value),
        *(judged.minimum_detectable_effect, judged.more_blocks, judged.blocks),
        *(_flag(judged.confirmation.confirmed) if judged.confirmation else None, _flag(judged.is_regression)),
    )
    return dict(zip(_FIGURES, values, strict=True))


def _flag(value: bool) -> str:
    return "true" if value else "false"
