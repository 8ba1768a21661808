"""The contents of `state.json` and of `night.json`."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from orchestrator.regression.model import Regression, Share, Strict
from orchestrator.results.contract import SCHEMA, Count, Finite


class Judgement(StrEnum):
    """What became of one release."""

    CLEAN = "clean"
    """Every deciding metric is the same or better."""
    INCONCLUSIVE = "inconclusive"
    """Nothing is worse as far as could be told, and not everything could."""
    REGRESSED = "regressed"
    """Something is worse, again on fresh blocks where it has scatter; or it no longer runs."""
    BUILD_FAILED = "build_failed"
    """It does not install: neither a regression nor health."""
    UNSUPPORTED = "unsupported"
    """The catalog has no environment for it."""
    NO_RESULT = "no_result"
    """Nothing was measured, or part of it never came to run: for want of an image, a start or a device."""
    NOT_RUN = "not_run"
    """Out of budget, or stopped; it goes on the next night."""

    @property
    def is_final(self) -> bool:
        """Return true if the release was measured, so that it is not measured again."""
        return self in {Judgement.CLEAN, Judgement.INCONCLUSIVE, Judgement.REGRESSED}


class Ending(StrEnum):
    """How a night ended; one of them is recorded in every case."""

    MEASURED = "measured"
    NOTHING_NEW = "nothing_new"
    INDEX_SILENT = "index_silent"
    """No place answered with a release, so that nobody knows whether there is something new."""
    NO_RESULT = "no_result"
    """There was something new, and nothing of it came to a verdict: each release says why."""
    STOPPED = "stopped"
    """By a signal; the next night goes on."""


class Alarm(Strict):
    """A regression that was told; it is not told again."""

    release: str
    cell: str
    """The part that its two cells share, such as `cpu/lenet-train-b200`."""
    metric: str
    """Empty where the release no longer runs there."""
    ratio: Finite | None = None
    """Candidate over baseline."""
    low: Finite | None = None
    high: Finite | None = None
    reason: str = ""
    confirmed: bool | None = None
    """True if fresh blocks confirm it, false for exact metrics, None if a release no longer runs."""
    acknowledged: str = ""
    """The reason in the file of acknowledged changes; such a change is shown, and alarms nobody."""

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
    """The release that it was held against."""
    night: str
    """The last one that tried it."""
    run: str = ""
    """The run with its measurements; empty if there are none."""
    attempts: Count = 1
    """Nights on which it was tried; those that say nothing of it, and those that were cut short, left out."""
    images: tuple[str, ...] = ()
    """References of its own images."""


class Change(Strict):
    """A lasting change in a series over many nights; it is told once, and alarms nobody."""

    series: str
    """`mxnet-*-cpu/lenet-train-b200`."""
    cell: str
    """As in `Alarm`."""
    metric: str
    host: str
    date: str
    """Of the first night that shows it, `2026-11-22`."""
    run: str = ""
    """That shows it first: a night may have several; older records do not tell."""
    release: str
    """That was measured then."""
    since: str
    """That was measured the night before."""
    before: Finite
    after: Finite
    ratio: Finite
    """After over before."""
    p_value: Share
    worse: bool


class Tonight(Strict):
    """What is under way: with it in the state, a night was killed."""

    night: str
    release: str = ""
    baseline: str = ""
    run: str = ""


class State(Strict):
    """`state.json`: all that one night tells the next one."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    watched: str
    accepted: str = ""
    """The release that was accepted last."""
    accepted_by: str = ""
    """The night that did, or `hand`."""
    releases: tuple[ReleaseRecord, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    changes: tuple[Change, ...] = ()
    """Those that were told."""
    tonight: Tonight | None = None

    def release(self, version: str) -> ReleaseRecord | None:
        """Return the record of a release, or None if it was never tried."""
        return next((one for one in self.releases if one.version == version), None)


class Trying(Strict):
    """One release in one night."""

    record: ReleaseRecord
    regression: Regression | None = None
    """None where nothing was measured."""
    alarms: tuple[Alarm, ...] = ()
    """Told tonight for the first time."""
    known: tuple[Alarm, ...] = ()
    """Acknowledged, or told before."""
    page: str = ""
    """The run's own report, relative to the night's folder; empty where there is none."""


class Posted(Strict):
    """What became of the webhook."""

    url: str
    """Without credentials."""
    delivered: bool
    attempts: Count
    reason: str = ""


class Night(Strict):
    """`night.json`: one night, whatever became of it."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    night: str
    """Sortable name of its folder: `20261122T030000Z-1f3a`."""
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
    """New releases that were not reached; the next night does them."""
    given_up: tuple[ReleaseRecord, ...] = ()
    """Releases that never came to a verdict, and are tried no more: neither regressions nor health."""
    changes: tuple[Change, ...] = ()
    """Of the history, told tonight for the first time; those that somebody has acknowledged are not among them."""
    removed_images: tuple[str, ...] = ()
    posted: Posted | None = None

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Return the alarms that are reported tonight for the first time and not acknowledged."""
        return tuple(alarm for trying in self.tried for alarm in trying.alarms)

    @property
    def is_clean(self) -> bool:
        """Return true if something new was measured and all of it is clean."""
        return bool(self.tried) and all(trying.record.judgement is Judgement.CLEAN for trying in self.tried)

    @property
    def exit_code(self) -> int:
        """Return 1 with a new confirmed regression, 3 if this host could not find out, 130 if it was stopped.

        0 where all was done that could be, releases that do not install among it.
        """
        if self.alarms:
            return 1
        if self.ending is Ending.STOPPED:
            return 130
        could_not = any(trying.record.judgement is Judgement.NO_RESULT for trying in self.tried)
        return 3 if could_not or self.ending is Ending.INDEX_SILENT else 0
