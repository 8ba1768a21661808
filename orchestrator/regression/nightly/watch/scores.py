"""The answers to alarms: their precision over time, and the series whose alarms were wrong."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from orchestrator.analysis.proportions import clopper_pearson
from orchestrator.regression.nightly.records import Answer, Score
from orchestrator.regression.nightly.state import Night

MOST_WRONG = 3
"""Wrong alarms of a series since its last right one, from which on it needs more blocks to alarm."""
Key = tuple[str, str, str, str]
"""Release, cell, metric and anchor of an alarm."""


def answers(scores: Iterable[Score]) -> dict[Key, Answer]:
    """Return the last answer to each alarm, in the order in which the alarms were answered last."""
    last: dict[Key, Answer] = {}
    for score in scores:
        last.pop(score.alarm, None)
        last[score.alarm] = score.answer
    return last


def doubted(scores: Iterable[Score], *, of_anchor: bool) -> tuple[tuple[str, str], ...]:
    """Return cell and metric of the series with three wrong alarms since their last right one.

    Alarms of the anchor and those of baselines are series of their own.
    """
    wrong: dict[tuple[str, str], int] = {}
    for (_, cell, metric, anchor), answer in answers(scores).items():
        if bool(anchor) is not of_anchor or answer is Answer.KNOWN:
            continue
        wrong[cell, metric] = wrong.get((cell, metric), 0) + 1 if answer is Answer.WRONG else 0
    return tuple(sorted(series for series, number in wrong.items() if number >= MOST_WRONG))


@dataclass(frozen=True, slots=True)
class RaisedAlarm:
    """An alarm of a night, with its answer."""

    date: str
    """Of the night, such as `2026-11-22`."""
    key: Key
    answer: Answer | None
    """None as long as nobody has answered."""


def raised_alarms(nights: Iterable[Night], scores: Iterable[Score]) -> tuple[RaisedAlarm, ...]:
    """Return every alarm of the nights, oldest first, each once."""
    given = answers(scores)
    raised: dict[Key, str] = {}
    for night in nights:
        date = night.began_at[:10]
        for alarm in night.alarms:
            raised.setdefault((*alarm.key, ""), date)
        for drift in night.drifts:
            raised.setdefault((drift.release, drift.cell, drift.metric, drift.anchor), date)
    return tuple(RaisedAlarm(date, key, given.get(key)) for key, date in raised.items())


@dataclass(frozen=True, slots=True)
class Precision:
    """The alarms of a month, or of all months, by their answers."""

    month: str
    """Such as `2026-11`; empty for all of them."""
    counts: Mapping[Answer, int]
    unanswered: int

    @property
    def answered(self) -> int:
        """Return the alarms that were right or wrong. What was known before says nothing of either."""
        return self.counts[Answer.RIGHT] + self.counts[Answer.WRONG]

    @property
    def share(self) -> float | None:
        """Return the share of right ones among them, or None without any."""
        return self.counts[Answer.RIGHT] / self.answered if self.answered else None

    @property
    def interval(self) -> tuple[float, float]:
        """Return the exact 95 % interval of the share."""
        return clopper_pearson(self.counts[Answer.RIGHT], self.answered)


def precision(alarms: Sequence[RaisedAlarm]) -> tuple[Precision, ...]:
    """Return the precision of each month with alarms, oldest first, and that of all months last."""
    months = groupby(sorted(alarms, key=lambda alarm: alarm.date), key=lambda alarm: alarm.date[:7])
    return (*(_precision(month, list(of_month)) for month, of_month in months), _precision("", alarms))


def _precision(month: str, alarms: Sequence[RaisedAlarm]) -> Precision:
    counts = {answer: sum(alarm.answer is answer for alarm in alarms) for answer in Answer}
    return Precision(month, counts, sum(alarm.answer is None for alarm in alarms))
