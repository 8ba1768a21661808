"""The series of a history as plain values for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from typing_extensions import TypedDict

from orchestrator.documents import DocumentKind, Envelope
from orchestrator.regression.history.series import Point, Series, Shift
from orchestrator.reporting.reports.history.words import is_worse


class ChangeData(TypedDict):
    """A lasting change in a series."""

    index: int
    """Index of the first point after it."""
    date: str
    run: str
    release: str
    since: str
    """The release of the point before it."""
    before: float
    after: float
    ratio: float
    """After over before."""
    p_value: float
    worse: bool
    acknowledged: str
    """The reason it is acknowledged; empty if it is not."""


class SeriesData(TypedDict):
    """One metric of one cell on one host, oldest first."""

    series: str
    cell: str
    metric: str
    host: str
    computes: bool
    points: list[Point]
    breaks: list[int]
    """Indices of points that are measured otherwise than the one before."""
    changes: list[ChangeData]


HISTORY_SERIES = DocumentKind("history", 1, list[SeriesData])


def history_document(every: Sequence[Series]) -> Envelope:
    """Return all series for programs."""
    return HISTORY_SERIES.envelope([_series(series) for series in every])


def _series(series: Series) -> dict[str, Any]:
    return {
        "series": series.name,
        "cell": series.pair,
        "metric": series.metric,
        "host": series.host,
        "computes": series.computes,
        "points": [asdict(point) for point in series.points],
        "breaks": list(series.breaks),
        "changes": [_change(series, shift) for shift in series.shifts],
    }


def _change(series: Series, shift: Shift) -> ChangeData:
    return {
        "index": shift.index, "date": shift.point.created_at[:10], "run": shift.point.run,
        "release": shift.point.release, "since": shift.since, "before": shift.before, "after": shift.after,
        "ratio": shift.ratio, "p_value": shift.p_value, "worse": is_worse(series, shift),
        "acknowledged": shift.acknowledged,
    }  # fmt: skip
