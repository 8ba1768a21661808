"""The records of a nightly besides its releases: drifts, scores, the baseline against itself, and the heartbeat."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from orchestrator.regression.model import Positive, Regression, Share
from orchestrator.results.contract import Count, Finite, Strict


class DriftStep(Strict):
    """One accepted release, with its part of a drift."""

    release: str
    since: str
    """The release that was the baseline then."""
    night: str
    """Empty for the night that reports the drift."""
    ratio: Positive
    low: Positive | None = None
    high: Positive | None = None


class Drift(Strict):
    """A sum of small losses beyond the tolerance of the anchor, which alarms once."""

    release: str
    anchor: str
    cell: str
    """The part that its cells share, such as `cpu/lenet-train-b200`."""
    metric: str
    tolerance: Share
    ratio: Positive
    """Candidate over anchor."""
    low: Positive
    high: Positive
    over: tuple[str, ...] = ()
    """The releases that the ratio is chained over; empty if one Python runs anchor and candidate."""
    steps: tuple[DriftStep, ...] = ()
    """The releases that make it up, oldest first, as the nights that measured them found them."""
    unknown_until: str = ""
    """The first release that no night measured next to its own baseline; empty if the steps reach the anchor."""
    acknowledged: str = ""
    """The reason in the file of acknowledged changes; such a drift is shown without an alarm."""

    @property
    def series(self) -> tuple[str, str, str]:
        """Return anchor, cell and metric."""
        return self.anchor, self.cell, self.metric


class OpenDrift(Strict):
    """A drift that was reported, and what became of it."""

    release: str
    anchor: str
    cell: str
    metric: str
    ratio: Positive
    recovered: str = ""
    """The release that was as good as the anchor again; empty as long as there is none."""

    @property
    def series(self) -> tuple[str, str, str]:
        """Return anchor, cell and metric."""
        return self.anchor, self.cell, self.metric


class Answer(StrEnum):
    """Somebody's answer to an alarm."""

    RIGHT = "right"
    """The release, or the sum of releases, is worse."""
    WRONG = "wrong"
    """It is not, so that the alarm was false."""
    KNOWN = "known"
    """It is, and that was known or agreed before."""


class Score(Strict):
    """An alarm that somebody has answered; of several answers to one alarm the last counts."""

    release: str
    cell: str
    metric: str
    """Empty if the release no longer runs there."""
    anchor: str = ""
    """The anchor of a drift; empty for a regression."""
    answer: Answer
    at: str
    """ISO 8601, UTC."""
    reason: str = ""

    @property
    def alarm(self) -> tuple[str, str, str, str]:
        """Return the key of the alarm."""
        return self.release, self.cell, self.metric, self.anchor


class SelfTest(Strict):
    """The baseline measured against itself under another name, which only the night knows after the verdicts."""

    release: str
    name: str
    """The name that the judge was given for the second side."""
    run: str = ""
    complete: bool
    """False if it failed or was cut short; the next idle night goes on with what was cut short."""
    reason: str = ""
    """The reason this host has no verdict; empty if there are verdicts, or it was cut short."""
    regression: Regression | None = None

    @property
    def is_over(self) -> bool:
        """Return true if it came to verdicts or failed, so that the next one is another."""
        return self.complete or bool(self.reason)


class Noise(Strict):
    """A lasting rise of the scatter of this rig, as the nights of the baseline against itself show it."""

    since: str
    """The date of the first night that shows it."""
    before: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Standard deviation of the logarithm of a block's ratio, before it."""
    after: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    floor_before: Finite
    """The loss that a trial of all blocks would find in four of five cases, before it, as a share."""
    floor: Finite
    is_new: bool = False
    """True for the first night that reports it."""


class Heartbeat(Strict):
    """The time since a night had a result."""

    last_success: str = ""
    """The end of the last night with a result, in ISO 8601; empty if there was none."""
    since: str = ""
    """The moment from which on there was no result; empty if there was nothing before."""
    failed: Count = 0
    """Nights in a row without a result, tonight's included."""
    limit: Count
    """The number of nights after which silence is an alarm; 0 means never."""
    is_silent: bool = False
    """True if there was no result for so many nights, also if tonight has one again."""
