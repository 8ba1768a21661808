"""A regression test as plain figures: each metric of the candidate, and its ratio to the baseline with the interval."""

from collections.abc import Iterator

from orchestrator.regression.model import Judged, JudgedPair, Regression
from orchestrator.reporting.measures import MeasuredMetric, MeasuredRun


def measures(regression: Regression) -> tuple[MeasuredRun, ...]:
    """Return the measures of every pair that has figures."""
    return (
        MeasuredRun(
            run=regression.run,
            created_at=regression.created_at,
            host=regression.host,
            host_facts={"runtime": regression.runtime} if regression.runtime else {},
            measures=tuple(each for pair in regression.pairs for each in _measures(regression, pair)),
        ),
    )


def _measures(regression: Regression, pair: JudgedPair) -> Iterator[MeasuredMetric]:
    facts = {
        "model": pair.model, "baseline": regression.baseline.label, "candidate": regression.candidate.label,
    }  # fmt: skip
    known = {name: text for name, text in facts.items() if text}
    for judged in pair.metrics:
        said = known | {"verdict": judged.verdict.value}
        if judged.candidate is not None:
            values = tuple(candidate for _, candidate in judged.values)
            yield MeasuredMetric(
                pair.id, judged.metric, judged.unit, judged.better, judged.candidate, values=values, facts=said
            )
        if judged.ratio is not None:
            yield _ratio(pair, judged, judged.ratio, said)


def _ratio(pair: JudgedPair, judged: Judged, ratio: float, facts: dict[str, str]) -> MeasuredMetric:
    values = tuple(candidate / baseline for baseline, candidate in judged.values if baseline)
    return MeasuredMetric(
        pair.id, f"{judged.metric}_ratio", "", judged.better, ratio, judged.low, judged.high, values, facts
    )
