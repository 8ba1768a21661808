"""The drift from an anchor, from the verdicts on a release to alarms that are raised once."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from packaging.version import Version

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.history.acknowledged import AcknowledgedEntry, ObservedChange, covering
from orchestrator.regression.model import Judged, Regression
from orchestrator.regression.nightly.records import Answer, Drift, DriftStep, OpenDrift
from orchestrator.regression.nightly.state import State, Trying
from orchestrator.regression.nightly.watch.scores import answers
from orchestrator.regression.rules import BY_NAME
from orchestrator.regression.sides import watched_version


def drifts(
    regression: Regression, known: Sequence[AcknowledgedEntry], state: State, past: Callable[[], Sequence[Trying]]
) -> tuple[Drift, ...]:
    """Return the drifts of a release that are new, and those that are acknowledged.

    A loss that is a regression next to the baseline is no sum of small ones, and is left out. `past` returns what
    nights have tried so far, oldest first; it is asked only if there is a drift.
    """
    if regression.anchored is None:
        return ()
    anchor = watched_version(regression.anchored.anchor.text)
    worse = {(pair.id, metric.metric) for pair in regression.pairs for metric in pair.metrics if metric.is_regression}
    found = [
        _drift(regression, pair.id, metric, known)
        for pair in regression.anchored.pairs
        for metric in pair.metrics
        if metric.is_regression and metric.ratio is not None and (pair.id, metric.metric) not in worse
    ]
    new = [each for each in found if each.acknowledged or is_new(each, state)]
    tried = past() if new else ()
    return tuple(_with_steps(each, regression, tried, anchor) for each in new)


def _drift(regression: Regression, cell: str, judged: Judged, known: Sequence[AcknowledgedEntry]) -> Drift:
    anchored = regression.anchored
    assert anchored is not None  # noqa: S101 -- for the type alone
    assert judged.ratio is not None  # noqa: S101 -- as above
    release, anchor = watched_version(regression.candidate.text), watched_version(anchored.anchor.text)
    entry = covering(known, ObservedChange(cell, judged.metric, judged.ratio, release, anchor))
    return Drift(
        release=release,
        anchor=anchor,
        cell=cell,
        metric=judged.metric,
        tolerance=anchored.tolerance,
        ratio=judged.ratio,
        low=judged.low or judged.ratio,
        high=judged.high or judged.ratio,
        over=anchored.over,
        acknowledged=entry.reason if entry else "",
    )


def is_new(drift: Drift, state: State) -> bool:
    """Return true if a drift alarms.

    It does if its series never did, or was as good as the anchor since. After an answer it does if the alarm was wrong,
    or if the loss has grown beyond the tolerance once more.
    """
    before = next((each for each in reversed(state.drifts) if each.series == drift.series), None)
    if before is None or before.recovered:
        return True
    answer = answers(state.scores).get((before.release, before.cell, before.metric, before.anchor))
    if answer is None:
        return False
    return answer is Answer.WRONG or _has_grown(drift, before.ratio)


def _has_grown(drift: Drift, before: float) -> bool:
    """Return true if the whole interval lies beyond the tolerance from the ratio of the earlier alarm."""
    if BY_NAME[drift.metric].higher_is_better:
        return drift.high < before / (1 + drift.tolerance)
    return drift.low > before * (1 + drift.tolerance)


def _with_steps(drift: Drift, regression: Regression, past: Sequence[Trying], anchor: str) -> Drift:
    """Return a drift with the releases that make it up, back from the candidate over the baseline of each."""
    tried = {each.record.version: each for each in past if each.record.judgement.is_final}
    steps = [step for step in [_step(regression, drift, "")] if step]
    release = watched_version(regression.baseline.text)
    while Version(release) != Version(anchor) and (found := _measured(release, tried, drift)) is not None:
        steps.append(found)
        tried.pop(release)
        release = found.since
    reaches = Version(release) == Version(anchor)
    return drift.model_copy(update={"steps": tuple(reversed(steps)), "unknown_until": "" if reaches else release})


def _measured(release: str, tried: Mapping[str, Trying], drift: Drift) -> DriftStep | None:
    trying = tried.get(release)
    if trying is None or trying.regression is None:
        return None
    return _step(trying.regression, drift, trying.record.night)


def _step(regression: Regression, drift: Drift, night: str) -> DriftStep | None:
    """Return the ratio of a release to its own baseline, or None if it has none."""
    for metric in _metrics(regression, drift.cell):
        if metric.metric == drift.metric and metric.ratio is not None:
            return DriftStep(
                release=watched_version(regression.candidate.text),
                since=watched_version(regression.baseline.text),
                night=night,
                ratio=metric.ratio,
                low=metric.low,
                high=metric.high,
            )
    return None


def _metrics(regression: Regression, cell: str) -> Iterator[Judged]:
    return (metric for pair in regression.pairs if pair.id == cell for metric in pair.metrics)


def open_drifts(before: Sequence[OpenDrift], trying: Trying) -> tuple[OpenDrift, ...]:
    """Return the drifts that were reported, after a release was tried.

    A series that is `same` or `faster` next to the anchor has recovered.
    """
    regression = trying.regression
    good = set()
    if regression is not None and regression.anchored is not None and trying.record.judgement.is_final:
        anchor = watched_version(regression.anchored.anchor.text)
        good = {
            (anchor, pair.id, metric.metric)
            for pair in regression.anchored.pairs
            for metric in pair.metrics
            if metric.verdict in {Verdict.SAME, Verdict.FASTER}
        }
    kept = [
        each.model_copy(update={"recovered": trying.record.version})
        if each.series in good and not each.recovered
        else each
        for each in before
    ]
    new = [each for each in trying.drifts if not each.acknowledged]
    return (*kept, *map(_opened, new))


def _opened(drift: Drift) -> OpenDrift:
    return OpenDrift(
        release=drift.release, anchor=drift.anchor, cell=drift.cell, metric=drift.metric, ratio=drift.ratio
    )
