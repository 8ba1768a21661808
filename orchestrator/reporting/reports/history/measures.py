"""The newest value of every series as plain figures."""

from collections.abc import Sequence

from orchestrator.modes.parts.metrics import Better
from orchestrator.regression.history.series import Series
from orchestrator.regression.rules import BY_NAME
from orchestrator.reporting.measures import MeasuredMetric, MeasuredRun


def newest(every: Sequence[Series]) -> tuple[MeasuredRun, ...]:
    """Return the newest value of each series, under the run that it is of."""
    by_run: dict[tuple[str, str, str], list[MeasuredMetric]] = {}
    for series in every:
        point = series.points[-1]
        by_run.setdefault((point.run, point.created_at, series.host), []).append(_measure(series))
    return tuple(
        MeasuredRun(run, created_at, host, {}, tuple(measures)) for (run, created_at, host), measures in by_run.items()
    )


def _measure(series: Series) -> MeasuredMetric:
    point, metric = series.points[-1], BY_NAME.get(series.metric)
    unit, better = (metric.unit, metric.better) if metric else ("", Better.EQUAL)
    return MeasuredMetric(
        series.name, series.metric, unit, better, point.value, facts={"version": point.release, "cell": series.pair}
    )
