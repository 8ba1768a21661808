"""The lasting changes of the history that a night reports, each once."""

from collections.abc import Collection, Sequence

from orchestrator.regression.history.series import Series, Shift
from orchestrator.regression.nightly.state import Change
from orchestrator.regression.rules import BY_NAME

SAME_WITHIN = 3
"""Points of a series by which a reported change may move in later nights and still be the same one."""


def new_changes(tracked: Sequence[Series], metrics: Collection[str], reported: Sequence[Change]) -> tuple[Change, ...]:
    """Return the changes of deciding metrics that no night has reported yet, oldest first."""
    changes = [
        change(series_of_cell, shift)
        for series_of_cell in tracked
        if series_of_cell.metric in metrics
        for shift in series_of_cell.shifts
        if not shift.acknowledged and not _is_reported(series_of_cell, shift, reported)
    ]
    return tuple(sorted(changes, key=lambda each: (each.date, each.series, each.metric)))


def change(series: Series, shift: Shift) -> Change:
    """Return a change as a night reports it."""
    return Change(
        series=series.name,
        cell=series.pair,
        metric=series.metric,
        host=series.host,
        date=shift.point.created_at[:10],
        run=shift.point.run,
        release=shift.point.release,
        since=shift.since,
        before=shift.before,
        after=shift.after,
        ratio=shift.ratio,
        p_value=shift.p_value,
        worse=BY_NAME[series.metric].is_worse(shift.ratio),
    )


def _is_reported(series: Series, shift: Shift, reported: Sequence[Change]) -> bool:
    """Return true if it was reported, for its own run or a neighbouring one."""
    return any(
        (each.series, each.metric, each.host) == (series.name, series.metric, series.host)
        and (each.ratio < 1) == (shift.ratio < 1)
        and abs(_index(series, each) - shift.index) <= SAME_WITHIN
        for each in reported
    )


def _index(series: Series, reported: Change) -> int:
    """Return the point of a reported change, by its run or else by its date."""
    by_run = (index for index, point in enumerate(series.points) if point.run == reported.run)
    return next(by_run, sum(point.created_at[:10] < reported.date for point in series.points))
