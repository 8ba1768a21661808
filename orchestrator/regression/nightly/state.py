"""The contents of `state.json` and of `night.json`."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from orchestrator.regression.model import Regression, Share
from orchestrator.regression.nightly.records import Drift, Heartbeat, Noise, OpenDrift, Score, SelfTest
from orchestrator.results.contract import SCHEMA, Count, Finite, Strict


class Judgement(StrEnum):
    """The result of one release."""

    CLEAN = "clean"
    """Every deciding metric is the same or better."""
    INCONCLUSIVE = "inconclusive"
    """Nothing is shown to be worse, and not everything could be decided."""
    REGRESSED = "regressed"
    """Something is worse, again on fresh blocks if it has scatter, or it no longer runs."""
    BUILD_FAILED = "build_failed"
    """It does not install, which shows neither a regression nor health."""
    UNSUPPORTED = "unsupported"
    """The catalog has no environment for it."""
    NO_RESULT = "no_result"
    """Nothing was measured, or a part never ran for lack of an image, a start or a device."""
    NOT_RUN = "not_run"
    """The budget ended or the night was stopped; the next night continues."""

    @property
    def is_final(self) -> bool:
        """Return true if the release was measured, so that it is not measured again."""
        return self in {Judgement.CLEAN, Judgement.INCONCLUSIVE, Judgement.REGRESSED}


class Ending(StrEnum):
    """The end of a night; one of them is recorded in every case."""

    MEASURED = "measured"
    NOTHING_NEW = "nothing_new"
    INDEX_SILENT = "index_silent"
    """No place answered with a release, so that new releases are unknown."""
    NO_RESULT = "no_result"
    """There were new releases without a verdict, each with a reason."""
    STOPPED = "stopped"
    """A signal stopped it; the next night continues."""


class Alarm(Strict):
    """A regression that was reported; it is not reported again."""

    release: str
    cell: str
    """The part that its two cells share, such as `cpu/lenet-train-b200`."""
    metric: str
    """Empty if the release no longer runs there."""
    ratio: Finite | None = None
    """Candidate over baseline."""
    low: Finite | None = None
    high: Finite | None = None
    reason: str = ""
    confirmed: bool | None = None
    """True if fresh blocks confirm it, false for exact metrics, None if a release no longer runs."""
    acknowledged: str = ""
    """The reason in the file of acknowledged changes; such a change is shown without an alarm."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Return the key by which two alarms are the same."""
        return self.release, self.cell, self.metric


class ReleaseRecord(Strict):
    """One release that was tried, and what is known of it."""

    version: str
    uploaded_at: str = ""
    judgement: Judgement
    reason: str = ""
    """One line."""
    baseline: str = ""
    """The release that it was compared with."""
    night: str
    """The last night that tried it."""
    run: str = ""
    """The run with its measurements; empty if there are none."""
    attempts: Count = 1
    """Nights that tried it, without those that were cut short or say nothing of it."""
    images: tuple[str, ...] = ()
    """References of its own images."""


class Change(Strict):
    """A lasting change in a series over many nights; it is reported once, and alarms nobody."""

    series: str
    """The name of the series, such as `mxnet-*-cpu/lenet-train-b200`."""
    cell: str
    """As in `Alarm`."""
    metric: str
    host: str
    date: str
    """The date of the first night that shows it, such as `2026-11-22`."""
    run: str = ""
    """The run that shows it first, as a night may have several; empty in older records."""
    release: str
    """The release that was measured then."""
    since: str
    """The release that was measured the night before."""
    before: Finite
    after: Finite
    ratio: Finite
    """After over before."""
    p_value: Share
    worse: bool


class Tonight(Strict):
    """The work under way. If a state has it, a night was killed."""

    night: str
    release: str = ""
    baseline: str = ""
    run: str = ""
    is_self_test: bool = False
    """True if the release is another name of the baseline."""


class State(Strict):
    """The content of `state.json`, which is all that one night passes to the next one."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    watched: str
    accepted: str = ""
    """The release that was accepted last."""
    accepted_by: str = ""
    """The night that accepted it, or `hand`."""
    releases: tuple[ReleaseRecord, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    changes: tuple[Change, ...] = ()
    """Changes that were reported."""
    drifts: tuple[OpenDrift, ...] = ()
    """Drifts that were reported, oldest first."""
    scores: tuple[Score, ...] = ()
    """The answers to alarms, oldest first."""
    self_test: Tonight | None = None
    """The measurement of the baseline against itself that was cut short."""
    tonight: Tonight | None = None

    def release(self, version: str) -> ReleaseRecord | None:
        """Return the record of a release, or None if it was never tried."""
        return next((record for record in self.releases if record.version == version), None)


class Trying(Strict):
    """One release in one night."""

    record: ReleaseRecord
    regression: Regression | None = None
    """None if nothing was measured."""
    alarms: tuple[Alarm, ...] = ()
    """Alarms that tonight reports for the first time."""
    known: tuple[Alarm, ...] = ()
    """Alarms that are acknowledged, or were reported before."""
    drifts: Annotated[tuple[Drift, ...], Field(exclude_if=lambda drifts: not drifts)] = ()
    """Drifts that tonight reports for the first time, and those that are acknowledged."""
    page: str = ""
    """The run's own report, relative to the night's folder; empty if there is none."""


class Posted(Strict):
    """The result of calling the webhook."""

    url: str
    """The address without credentials."""
    delivered: bool
    attempts: Count
    reason: str = ""


class Night(Strict):
    """`night.json`: one night, whatever became of it."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    night: str
    """The sortable name of its folder, such as `20261122T030000Z-1f3a`."""
    began_at: str
    """ISO 8601, UTC."""
    ended_at: str
    orchestrator_version: str
    host: str
    watched: str
    distribution: str
    baseline: str
    """The release that was accepted when the night began, or the pin."""
    accepted: str
    """The release that counts as accepted now; empty with a pin."""
    ending: Ending
    offered: tuple[str, ...] = ()
    """Releases that the index has, oldest first."""
    problems: tuple[str, ...] = ()
    """The places that did not answer."""
    tried: tuple[Trying, ...] = ()
    waiting: tuple[str, ...] = ()
    """New releases that were not reached, which the next night measures."""
    given_up: tuple[ReleaseRecord, ...] = ()
    """Releases that never came to a verdict and are tried no more, which are neither regressions nor health."""
    changes: tuple[Change, ...] = ()
    """Changes of the history that tonight reports for the first time, without acknowledged ones."""
    removed_images: tuple[str, ...] = ()
    self_test: Annotated[SelfTest | None, Field(exclude_if=lambda test: test is None)] = None
    """The baseline against itself; None if there was none tonight."""
    noise: Annotated[Noise | None, Field(exclude_if=lambda noise: noise is None)] = None
    """The noise of the rig, which tonight's verdicts rest on; None if it is as quiet as it was."""
    heartbeat: Annotated[Heartbeat | None, Field(exclude_if=lambda heartbeat: heartbeat is None)] = None
    """None in records of an older orchestrator."""
    posted: Posted | None = None

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Return the alarms that are reported tonight for the first time and not acknowledged."""
        return tuple(alarm for trying in self.tried for alarm in trying.alarms)

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """Return the drifts that are reported tonight for the first time and not acknowledged."""
        return tuple(drift for trying in self.tried for drift in trying.drifts if not drift.acknowledged)

    @property
    def is_silent(self) -> bool:
        """Return true if there was no result for so many nights that this is an alarm."""
        return self.heartbeat is not None and self.heartbeat.is_silent

    @property
    def is_clean(self) -> bool:
        """Return true if something new was measured and all of it is clean."""
        return bool(self.tried) and all(trying.record.judgement is Judgement.CLEAN for trying in self.tried)

    @property
    def exit_code(self) -> int:
        """Return 1 with an alarm, 3 if this host found no answer, 130 if it was stopped, else 0.

        An alarm is a regression or a drift that is new and confirmed, or too many nights without a result. Releases
        that do not install are no error.
        """
        if self.alarms or self.drifts or self.is_silent:
            return 1
        if self.ending is Ending.STOPPED:
            return 130
        could_not = any(trying.record.judgement is Judgement.NO_RESULT for trying in self.tried)
        could_not = could_not or (self.self_test is not None and bool(self.self_test.reason))
        return 3 if could_not or self.ending is Ending.INDEX_SILENT else 0
