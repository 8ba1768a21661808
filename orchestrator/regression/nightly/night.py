"""One night, which can be killed at any moment and taken up again.

Every step is on disk before the next one: the state names what is under way, the night's record holds what is done.
A night that was killed is taken up under its own name; what its record holds and the state does not is added first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from orchestrator import __version__
from orchestrator.catalog import UnsupportedError
from orchestrator.errors import HostError, InputError
from orchestrator.events import Notice
from orchestrator.regression.history.acknowledged import AcknowledgedEntry
from orchestrator.regression.nightly.decide import (
    after,
    baseline,
    decide,
    ending,
    fresh,
    given_up,
    was_measured,
)
from orchestrator.regression.nightly.drift import drifts
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.loading import Nightly
from orchestrator.regression.nightly.records import SelfTest
from orchestrator.regression.nightly.services import NightServices
from orchestrator.regression.nightly.settings import ACCEPTED
from orchestrator.regression.nightly.state import Ending, Judgement, Night, ReleaseRecord, State, Tonight, Trying
from orchestrator.regression.nightly.watch.self_test import carry_out, pending_test
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease, one_line


@dataclass
class NightInProgress:
    """A night in progress."""

    nightly: Nightly
    files: NightFiles
    services: NightServices
    known: Sequence[AcknowledgedEntry]
    state: State = field(init=False)
    name: str = field(init=False)
    tried: list[Trying] = field(init=False)
    began_at: str = field(init=False)
    baseline: str = field(init=False)
    offered: Offered = field(init=False)
    self_test: SelfTest | None = field(init=False)

    def __post_init__(self) -> None:
        self.state = self.files.state(self.nightly.watched)
        killed = self.state.tonight
        self.name = killed.night if killed else self.services.new_name
        before = self.files.night(self.name) if killed else None
        self.tried = list(before.tried) if before else []
        self.self_test = before.self_test if before else None
        self.began_at = before.began_at if before else _iso(self.services.now())
        for trying in self.tried:
            if self.state.release(trying.record.version) != trying.record:
                self.state = after(self.nightly.settings, self.state, trying)
        self.baseline = before.baseline if before else baseline(self.nightly.settings, self.state)
        if not self.baseline:
            raise InputError(
                f"{self.nightly.path}: baseline: no release of {self.nightly.name} is accepted yet; say which with "
                f"`first:` there, or with orchestrator nightly accept {self.nightly.name}==VERSION"
            )
        if killed:
            self.services.listener(Notice(f"the night {self.name} was interrupted; it goes on"))

    def try_releases(self) -> Night:
        """Try new releases until none or no time is left. Return the record without its reports."""
        self.offered = self.services.offered()
        # What was measured and is on no index any more is no mistake of anybody's.
        if not was_measured(current := baseline(self.nightly.settings, self.state), self.state):
            self.services.check_listed(current, self.offered)
        # The state says which release was under way when a night was killed.
        under_way = self.state.tonight
        self._remember(self.state.tonight or Tonight(night=self.name))
        folder = self.files.night_folder(self.name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HostError(f"{folder}: cannot be made: {error.strerror}; choose other `reports`") from error
        for problem in self.offered.problems:
            self.services.listener(Notice(f"warning: {problem}"))
        while (release := next(iter(self._waiting()), None)) and not self.services.is_over():
            going_on = under_way if under_way is not None and under_way.release == release.version else None
            trying = self._try(release, going_on)
            self.tried = [one for one in self.tried if one.record.version != release.version] + [trying]
            self.files.write_night(self.record())
            self.state = after(self.nightly.settings, self.state, trying)
            self._remember(Tonight(night=self.name))
            if trying.record.judgement is Judgement.NO_RESULT and trying.regression is None:
                break  # what this host cannot do for one release it cannot do for the next one
        return self.record()

    def test_itself(self) -> Night:
        """Measure the baseline against itself if there is time and nothing new. Return the record of the night.

        It is judged under another name, as a release is. A test that was cut short goes on.
        """
        measure = self.services.measure_itself
        is_over = self.self_test is not None and self.self_test.is_over
        if measure is None or is_over or self.services.is_over() or not self._is_idle():
            return self.record()
        tonight = pending_test(self.state.self_test, baseline(self.nightly.settings, self.state), self.name)
        self._remember(tonight)
        self.services.listener(Notice(f"{self.nightly.name} {tonight.baseline} against itself"))
        self.self_test = carry_out(tonight, measure, self._remember_test)
        self.files.write_night(self.record())
        self._remember(Tonight(night=self.name))
        return self.record()

    def _remember_test(self, tonight: Tonight) -> None:
        self.state = self.state.model_copy(update={"self_test": tonight})
        self._remember(tonight)

    def _is_idle(self) -> bool:
        """Return true if the index answered, and no new release can be measured."""
        nothing = all(trying.record.judgement is Judgement.UNSUPPORTED for trying in self.tried)
        return nothing and not self.offered.problems and not self._waiting()

    def record(self) -> Night:
        """Return the record of the night so far."""
        return Night(
            night=self.name,
            began_at=self.began_at,
            ended_at=_iso(self.services.now()),
            orchestrator_version=__version__,
            host=self.services.host,
            watched=self.nightly.watched,
            distribution=self.nightly.distribution,
            baseline=self.baseline,
            accepted=baseline(self.nightly.settings, self.state) if self.nightly.settings.baseline == ACCEPTED else "",
            ending=self._ending(),
            offered=tuple(release.version for release in self.offered.releases),
            problems=self.offered.problems,
            tried=tuple(self.tried),
            waiting=tuple(release.version for release in self._waiting()),
            given_up=given_up(self.nightly.settings, self.state),
            self_test=self.self_test,
        )

    def end(self, night: Night) -> None:
        """Write the final record. The next night starts again."""
        self.files.write_night(night)
        is_over = night.self_test is not None and night.self_test.is_over
        self.state = self.state.model_copy(
            update={
                "tonight": None,
                "changes": (*self.state.changes, *night.changes),
                "self_test": None if is_over else self.state.self_test,
            }
        )
        self.files.write_state(self.state)

    def _ending(self) -> Ending:
        return ending(self.offered.problems, self.tried, stopped=self.services.is_interrupted())

    def _waiting(self) -> tuple[PublishedRelease, ...]:
        tried = {trying.record.version for trying in self.tried if trying.record.judgement is not Judgement.NOT_RUN}
        cut = {trying.record.version for trying in self.tried} if self.services.is_over() else set()
        new = fresh(self.nightly.settings, self.state, self.offered.releases)
        return tuple(release for release in new if release.version not in tried | cut)

    def _remember(self, tonight: Tonight) -> None:
        self.state = self.state.model_copy(update={"tonight": tonight})
        self.files.write_state(self.state)

    def _try(self, release: PublishedRelease, under_way: Tonight | None) -> Trying:
        against = baseline(self.nightly.settings, self.state)
        tonight = Tonight(
            night=self.name, release=release.version, baseline=against, run=self._begun(release, under_way, against)
        )
        self._remember(tonight)
        self.services.listener(Notice(f"{self.nightly.name} {release.version} against {against}"))
        if unsupported := self.services.unsupported_reason(release):
            return self._unmeasured(release, tonight, Judgement.UNSUPPORTED, unsupported)
        try:
            measured = self.services.measure(
                tonight, lambda begun: self._remember(tonight.model_copy(update={"run": begun}))
            )
        except UnsupportedError as error:
            return self._unmeasured(release, tonight, Judgement.UNSUPPORTED, error.reason)
        except HostError as error:
            return self._unmeasured(release, tonight, Judgement.NO_RESULT, str(error))
        decision = decide(measured.regression, measured.outcomes, self.known, self.state.alarms)
        is_attempt = decision.is_attempt and decision.judgement is not Judgement.NOT_RUN
        record = self._record(release, tonight, decision.judgement, decision.reason, is_attempt=is_attempt)
        is_final = decision.judgement.is_final
        return Trying(
            record=record.model_copy(update={"run": measured.regression.run, "images": measured.images}),
            regression=measured.regression,
            alarms=decision.alarms,
            known=decision.known,
            drifts=drifts(measured.regression, self.known, self.state, self._past) if is_final else (),
        )

    def _past(self) -> list[Trying]:
        """Return all that nights have tried, oldest first."""
        before = [trying for night in self.files.nights() if night.night != self.name for trying in night.tried]
        return [*before, *self.tried]

    def _begun(self, release: PublishedRelease, under_way: Tonight | None, against: str) -> str:
        """Return the run to go on with, or an empty text if there is none with the same baseline."""
        record = self.state.release(release.version)
        before = record if record is not None and record.judgement is Judgement.NOT_RUN else None
        begun = under_way or before
        if begun is None or not begun.run or begun.baseline == against:
            return begun.run if begun is not None else ""
        text = f"{self.nightly.name} {release.version} starts again: {begun.run} compares it with {begun.baseline}"
        self.services.listener(Notice(f"{text}, and stays as it is"))
        return ""

    def _unmeasured(self, release: PublishedRelease, tonight: Tonight, judgement: Judgement, reason: str) -> Trying:
        """Return a record that costs the release none of its attempts."""
        return Trying(record=self._record(release, tonight, judgement, reason, is_attempt=False))

    def _record(
        self, release: PublishedRelease, tonight: Tonight, judgement: Judgement, reason: str, *, is_attempt: bool
    ) -> ReleaseRecord:
        before = self.state.release(release.version)
        return ReleaseRecord(
            version=release.version,
            uploaded_at=release.uploaded_at,
            judgement=judgement,
            reason=one_line(reason)[:500],
            baseline=tonight.baseline,
            night=self.name,
            run=self.state.tonight.run if self.state.tonight else "",
            attempts=(before.attempts if before else 0) + is_attempt,
        )


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
