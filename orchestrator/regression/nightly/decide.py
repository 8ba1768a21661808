"""The decisions of a night, as pure functions of the state, the releases and the verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass

from packaging.version import Version

from orchestrator.analysis.comparison import Verdict
from orchestrator.domain import Outcome, Status
from orchestrator.images.reasons import is_of_surroundings
from orchestrator.regression.history.acknowledged import BROKE, AcknowledgedEntry, ObservedChange, covering
from orchestrator.regression.model import SILENT, Judged, JudgedPair, Regression
from orchestrator.regression.nightly.drift import open_drifts
from orchestrator.regression.nightly.settings import ACCEPTED, Accept, NightlyFile
from orchestrator.regression.nightly.state import Alarm, Ending, Judgement, ReleaseRecord, State, Trying
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.regression.sides import watched_version


@dataclass(frozen=True, slots=True)
class TrialOutcomes:
    """The outcomes of the repeats of a trial."""

    baseline: tuple[Outcome, ...]
    candidate: tuple[Outcome, ...]


def baseline(settings: NightlyFile, state: State) -> str:
    """Return the current baseline, or an empty text if no release is accepted yet."""
    return (state.accepted or settings.first or "") if settings.baseline == ACCEPTED else settings.baseline


def fresh(settings: NightlyFile, state: State, offered: Sequence[PublishedRelease]) -> tuple[PublishedRelease, ...]:
    """Return the releases to measure, oldest first, which are newer than the baseline and still open.

    Oldest first, so that a change is put down to the release that brought it.
    """
    current = baseline(settings, state)
    return tuple(
        release
        for release in sorted(offered, key=lambda one: Version(one.version))
        if Version(release.version) > Version(current)
        and not _is_same(release.version, current)
        and (settings.prereleases or not release.is_prerelease)
        and (settings.yanked or release.yanked is None)
        and _is_open(state.release(release.version), settings.attempts)
    )


def _is_same(version: str, other: str) -> bool:
    """Return true if the pin of a release installs this post-release, as 1.7.0 takes 1.7.0.post2."""
    one, two = Version(version), Version(other)
    bases = Version(one.base_version), Version(two.base_version)
    return one.post is not None and two.post is None and bases[0] == bases[1] and one.pre == two.pre


def is_listed(version: str, offered: Sequence[PublishedRelease]) -> bool:
    """Return true if an index has a release, by itself or as the post-release that its pin installs."""
    public = Version(version).public
    return any(Version(one.version) == Version(public) or _is_same(one.version, public) for one in offered)


def was_measured(version: str, state: State) -> bool:
    """Return true if a night has measured a release, as a candidate or as a baseline."""
    measured = {
        one for record in state.releases if record.judgement.is_final for one in (record.version, record.baseline)
    }
    return any(Version(version) == Version(one) for one in measured if one)


def _is_open(record: ReleaseRecord | None, attempts: int) -> bool:
    """Return true if a release is still to be tried. One that the catalog lacks costs nothing to try."""
    if record is None or record.judgement in {Judgement.NOT_RUN, Judgement.UNSUPPORTED}:
        return True
    return not record.judgement.is_final and record.attempts < attempts


def given_up(settings: NightlyFile, state: State) -> tuple[ReleaseRecord, ...]:
    """Return the releases newer than the baseline that were given up without a verdict, oldest first."""
    current = Version(baseline(settings, state))
    return tuple(
        record
        for record in sorted(state.releases, key=lambda one: Version(one.version))
        if Version(record.version) > current
        and not record.judgement.is_final
        and not _is_open(record, settings.attempts)
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a release after its trial."""

    judgement: Judgement
    reason: str
    alarms: tuple[Alarm, ...] = ()
    """New ones."""
    known: tuple[Alarm, ...] = ()
    """Acknowledged, or reported before."""
    is_attempt: bool = True
    """True if this was a try of the release, rather than a failure of the host or of the baseline."""


def decide(
    regression: Regression, outcomes: TrialOutcomes, known: Sequence[AcknowledgedEntry], reported: Sequence[Alarm]
) -> Decision:
    """Decide on a release. `reported` are the alarms of earlier nights."""
    if _all_failed_to_build(outcomes.candidate):
        return _not_installed(outcomes)
    if not regression.complete:
        # What is not confirmed yet is no alarm.
        return Decision(Judgement.NOT_RUN, "not_run: out of budget or stopped; it goes on the next night")
    alarms = [alarm for pair in regression.pairs for alarm in _alarms(pair, regression, known)]
    before = {alarm.key for alarm in reported}
    new = tuple(alarm for alarm in alarms if not alarm.acknowledged and alarm.key not in before)
    old = tuple(alarm for alarm in alarms if alarm not in new)
    agreed = sum(bool(alarm.acknowledged) for alarm in alarms)
    but = f", {agreed} acknowledged" if agreed else ""
    if agreed < len(alarms):
        return Decision(Judgement.REGRESSED, f"{_sentence(alarms)}{but}", new, old)
    unmeasured = regression.unmeasured
    silent = tuple(pair for pair in unmeasured if _never_ran(pair, outcomes))
    if silent or len(unmeasured) == len(regression.pairs):
        return _without_result(silent or unmeasured, outcomes, old)
    keys = {(alarm.cell, alarm.metric) for alarm in alarms}
    doubtful = [pair for pair in regression.pairs if not _is_good(pair, keys)]
    if doubtful:
        first = doubtful[0]
        more = f" and {len(doubtful) - 1} more" if len(doubtful) > 1 else ""
        return Decision(Judgement.INCONCLUSIVE, f"{first.verdict.value}: {first.id}{more}{but}", new, old)
    pairs = len(regression.pairs)
    said = "the one pair is" if pairs == 1 else f"all {pairs} pairs are"
    return Decision(Judgement.CLEAN, f"{said} the same or better{but}", new, old)


def _not_installed(outcomes: TrialOutcomes) -> Decision:
    reason = outcomes.candidate[0].reason
    if is_of_surroundings(reason):
        return Decision(Judgement.NO_RESULT, reason, is_attempt=False)
    if _all_failed_to_build(outcomes.baseline):
        # The baseline has been in use: that neither installs is no fault of the release.
        return Decision(Judgement.NO_RESULT, f"not even the baseline installs: {reason}", is_attempt=False)
    return Decision(Judgement.BUILD_FAILED, reason)


def _without_result(pairs: Sequence[JudgedPair], outcomes: TrialOutcomes, known: tuple[Alarm, ...]) -> Decision:
    """Decide on pairs that another night may measure."""
    reason = next((f"{pair.id}: {pair.reason}" for pair in pairs if pair.reason), "nothing was measured")
    runs = any(outcome.status is Status.OK for outcome in outcomes.baseline)
    out_of_reach = any(is_of_surroundings(ended.reason) for pair in pairs for ended in _never_ran(pair, outcomes))
    return Decision(Judgement.NO_RESULT, reason, known=known, is_attempt=runs and not out_of_reach)


def _never_ran(pair: JudgedPair, outcomes: TrialOutcomes) -> tuple[Outcome, ...]:
    """Return the outcomes of sides that had no image, start or device."""
    sides = (
        [outcome for outcome in ended if outcome.cell_id == cell]
        for ended, cell in ((outcomes.candidate, pair.candidate_cell), (outcomes.baseline, pair.baseline_cell))
    )
    return tuple(each for side in sides if all(one.status in SILENT for one in side) for each in side)


def _all_failed_to_build(outcomes: Sequence[Outcome]) -> bool:
    return bool(outcomes) and all(outcome.status is Status.BUILD_FAILED for outcome in outcomes)


def _is_good(pair: JudgedPair, acknowledged: set[tuple[str, str]]) -> bool:
    """Return true if nothing of a pair is against the release, apart from acknowledged changes."""
    deciding = [metric for metric in pair.metrics if metric.gates]
    if not deciding:
        return pair.verdict.is_good or (pair.id, "") in acknowledged
    return all(metric.verdict.is_good or (pair.id, metric.metric) in acknowledged for metric in deciding)


def _alarms(pair: JudgedPair, regression: Regression, known: Sequence[AcknowledgedEntry]) -> Sequence[Alarm]:
    release, since = watched_version(regression.candidate.text), watched_version(regression.baseline.text)
    if pair.verdict is Verdict.BROKE:
        entry = covering(known, ObservedChange(pair.id, BROKE, 1.0, release, since))
        return [Alarm(release=release, cell=pair.id, metric="", reason=pair.reason,
                      acknowledged=entry.reason if entry else "")]  # fmt: skip
    return [_alarm(pair, metric, release, since, known) for metric in pair.metrics if metric.is_regression]


def _alarm(pair: JudgedPair, metric: Judged, release: str, since: str, known: Sequence[AcknowledgedEntry]) -> Alarm:
    # What fell to 0 has no ratio, and is a larger change than any that is known.
    entry = covering(known, ObservedChange(pair.id, metric.metric, metric.ratio or 0.0, release, since))
    return Alarm(
        release=release,
        cell=pair.id,
        metric=metric.metric,
        reason=f"{metric.title}: {metric.reason}" if metric.ratio is None else "",
        ratio=metric.ratio,
        low=metric.low,
        high=metric.high,
        confirmed=metric.confirmation is not None and metric.confirmation.confirmed,
        acknowledged=entry.reason if entry else "",
    )


def _sentence(all_alarms: Sequence[Alarm]) -> str:
    alarms = [alarm for alarm in all_alarms if not alarm.acknowledged]
    first = alarms[0]
    what = f"{first.metric} × {first.ratio:.3f}" if first.ratio is not None else first.reason or "no longer runs"
    more = f" and {len(alarms) - 1} more" if len(alarms) > 1 else ""
    return f"{first.cell}: {what}{more}"


def after(settings: NightlyFile, state: State, tried: Trying) -> State:
    """Return the state after a release was tried."""
    record = tried.record
    others = tuple(one for one in state.releases if one.version != record.version)
    accepted, by = state.accepted, state.accepted_by
    if settings.baseline == ACCEPTED and _is_accepted(settings.accept, tried):
        accepted, by = record.version, record.night
    return state.model_copy(
        update={
            "releases": (*others, record),
            "alarms": (*state.alarms, *tried.alarms),
            "drifts": open_drifts(state.drifts, tried),
            "accepted": accepted,
            "accepted_by": by,
        }
    )


def _is_accepted(accept: Accept, tried: Trying) -> bool:
    if accept is Accept.BY_HAND:
        return False
    if tried.record.judgement is Judgement.CLEAN:
        return True
    if accept is not Accept.UNLESS_WORSE or tried.record.judgement is not Judgement.INCONCLUSIVE:
        return False
    # What was not measured may be worse.
    pairs = tried.regression.pairs if tried.regression is not None else ()
    return all(pair.verdict is not Verdict.NOT_MEASURED for pair in pairs)


def ending(problems: Sequence[str], tried: Sequence[Trying], *, stopped: bool) -> Ending:
    """Return how a night ended."""
    if stopped:
        return Ending.STOPPED
    if any(trying.record.judgement.is_final for trying in tried):
        return Ending.MEASURED
    if tried:
        return Ending.NO_RESULT
    return Ending.INDEX_SILENT if problems else Ending.NOTHING_NEW


def dropped_images(settings: NightlyFile, state: State) -> tuple[str, ...]:
    """Return the images that need not stay: not those of the newest releases, the baseline and the anchor."""
    if settings.keep_images is None:
        return ()
    measured = sorted((one for one in state.releases if one.images), key=lambda one: Version(one.version), reverse=True)
    needed = {baseline(settings, state), *(one.version for one in measured[: settings.keep_images])}
    if settings.anchor is not None:
        needed.add(settings.anchor.release)
    open_still = {one.version for one in measured if one.judgement is Judgement.NOT_RUN}
    stay = {name for one in measured if one.version in needed | open_still for name in one.images}
    return tuple(dict.fromkeys(name for one in measured for name in one.images if name not in stay))
