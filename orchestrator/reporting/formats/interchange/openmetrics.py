"""OpenMetrics text, for the textfile collector of Prometheus' node exporter."""

from collections import Counter
from collections.abc import Iterator, Sequence

from orchestrator import openmetrics
from orchestrator.openmetrics import Family, Labels, name_part, unit_name
from orchestrator.reporting.measures import MeasuredMetric, MeasuredRun, named, nanoseconds
from orchestrator.wording import clean_line

_PREFIX = "orchestrator"
_OF_A_CELL = ("framework", "version", "model", "mode")
_ENDS = (("", "Value"), ("_low", "Lower end of the interval"), ("_high", "Upper end of the interval"))


def texts(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """Render the time of the last success, the repeats that ended how, and every metric with its interval."""
    yield openmetrics.text((*_of_runs(runs), *_of_metrics(runs)))


def _of_runs(runs: Sequence[MeasuredRun]) -> Iterator[Family]:
    """Yield what is known of whole runs, for each host and matrix once, however many runs there are of them."""
    success: dict[tuple[tuple[str, str], ...], float] = {}
    ended: Counter[tuple[tuple[str, str], ...]] = Counter()
    for run in (run for run in runs if run.ended is not None):
        labels = tuple(_labels(run).items())
        success[labels] = max(success.get(labels, 0.0), (nanoseconds(run.succeeded_at) or 0) / 1e9)
        for status, count in (run.ended or {}).items():
            ended[*labels, ("status", status)] += int(count)
    if not success:
        return
    newest = tuple((dict(labels), at) for labels, at in success.items())
    yield Family(
        f"{_PREFIX}_last_success_timestamp_seconds", "End of the last repeat that ended ok; 0: none.", newest, "seconds"
    )
    counts = tuple((dict(labels), float(count)) for labels, count in ended.items())
    yield Family(f"{_PREFIX}_repeats", "Repeats, by how they ended.", counts)


def _of_metrics(runs: Sequence[MeasuredRun]) -> Iterator[Family]:
    by_metric: dict[tuple[str, str], list[tuple[Labels, MeasuredMetric]]] = {}
    for name, run, measure in named(runs):
        facts = measure.facts or {}
        labels = _labels(run) | {"cell": clean_line(name)} | {key: facts[key] for key in _OF_A_CELL if key in facts}
        by_metric.setdefault((measure.metric, measure.unit), []).append((labels, measure))
    for (metric, unit), measured in by_metric.items():
        ending = unit_name(unit)
        for suffix, title in _ENDS:
            samples = tuple((labels, value) for labels, each in measured if (value := _end(each, suffix)) is not None)
            if samples:
                name = "_".join(filter(None, (_PREFIX, name_part(metric) + suffix, ending)))
                yield Family(name, f"{title} of {clean_line(metric)}.", samples, ending)


def _end(measure: MeasuredMetric, suffix: str) -> float | None:
    return {"_low": measure.low, "_high": measure.high}.get(suffix, measure.value)


def _labels(run: MeasuredRun) -> dict[str, str]:
    return {"host": clean_line(run.host)} | ({"matrix": clean_line(run.title)} if run.title else {})
