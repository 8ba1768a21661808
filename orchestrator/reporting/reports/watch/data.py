"""A watch as plain values for programs."""

from dataclasses import asdict
from typing import Any

from typing_extensions import TypedDict

from orchestrator.documents import DocumentKind, Envelope
from orchestrator.regression.nightly.records import Answer, Heartbeat, Noise
from orchestrator.regression.nightly.watch.quiet import CellNoise, Rate, SelfNight
from orchestrator.regression.nightly.watch.scores import Precision, RaisedAlarm
from orchestrator.regression.nightly.watch.whole import Watch


class RateData(TypedDict):
    """A share of nights or comparisons with a false alarm."""

    false_alarms: int
    of: int
    low: float
    """Lower end of the exact 95 % interval."""
    high: float


class SelfTestData(TypedDict):
    """A night of the baseline against itself."""

    night: str
    date: str
    host: str
    release: str
    comparisons: int
    alarms: list[str]
    withdrawn: int
    """Alarms that fresh blocks did not confirm."""
    faster: int
    deviation: float
    """Standard deviation of the logarithm of a block's ratio, a geometric mean over cells and metrics."""
    floor: float
    """The loss that a trial of all blocks finds in four of five cases, as a share."""
    cells: list[CellNoise]


class AlarmData(TypedDict):
    """An alarm of a night."""

    date: str
    release: str
    cell: str
    metric: str
    """Empty if the release no longer runs there."""
    anchor: str
    """Empty for a regression next to the baseline."""
    answer: Answer | None


class PrecisionData(TypedDict):
    """The alarms of a month by their answers."""

    month: str
    """Empty for all months."""
    right: int
    wrong: int
    known: int
    unanswered: int
    precision: float | None
    """Right ones among those that were right or wrong; None without any."""
    low: float
    """Lower end of its exact 95 % interval."""
    high: float


class DoubtedData(TypedDict):
    """A series that needs more blocks to alarm."""

    cell: str
    metric: str
    anchor: bool
    """True if its alarms next to the anchor were wrong, false for those next to the baseline."""


class WatchData(TypedDict):
    """The state of a watch."""

    watched: str
    at: str
    nights: int
    heartbeat: Heartbeat
    noise: Noise | None
    by_night: RateData
    by_comparison: RateData
    self_tests: list[SelfTestData]
    """Oldest first."""
    precision: list[PrecisionData]
    """Month by month, all months last."""
    alarms: list[AlarmData]
    """Oldest first."""
    doubted: list[DoubtedData]
    further_blocks: int
    """Blocks that doubted series have taken beyond those of others."""


WATCH_STATUS = DocumentKind("watch-status", 1, WatchData)


def watch_document(watch: Watch) -> Envelope:
    """Return a watch for programs."""
    return WATCH_STATUS.envelope(
        {
            "watched": watch.watched,
            "at": watch.at,
            "nights": watch.nights,
            "heartbeat": watch.heartbeat.model_dump(mode="json"),
            "noise": watch.quiet.noise.model_dump(mode="json") if watch.quiet.noise else None,
            "by_night": _rate(watch.quiet.by_night),
            "by_comparison": _rate(watch.quiet.by_comparison),
            "self_tests": [_self_test(each) for each in watch.quiet.nights],
            "precision": [_precision(each) for each in watch.precision],
            "alarms": [_alarm(each) for each in watch.alarms],
            "doubted": [
                {"cell": cell, "metric": metric, "anchor": anchor}
                for series, anchor in ((watch.doubted, False), (watch.doubted_drifts, True))
                for cell, metric in series
            ],
            "further_blocks": watch.further_blocks,
        }
    )


def _rate(rate: Rate) -> RateData:
    low, high = rate.interval
    return {"false_alarms": rate.hits, "of": rate.draws, "low": low, "high": high}


def _self_test(night: SelfNight) -> dict[str, Any]:
    return {
        "night": night.night, "date": night.date, "host": night.host, "release": night.release,
        "comparisons": night.comparisons, "alarms": list(night.alarms), "withdrawn": night.withdrawn,
        "faster": night.faster, "deviation": night.deviation, "floor": night.floor,
        "cells": [asdict(each) for each in night.cells],
    }  # fmt: skip


def _alarm(alarm: RaisedAlarm) -> AlarmData:
    release, cell, metric, anchor = alarm.key
    return {
        "date": alarm.date, "release": release, "cell": cell, "metric": metric, "anchor": anchor,
        "answer": alarm.answer,
    }  # fmt: skip


def _precision(found: Precision) -> PrecisionData:
    low, high = found.interval
    return {
        "month": found.month, "right": found.counts[Answer.RIGHT], "wrong": found.counts[Answer.WRONG],
        "known": found.counts[Answer.KNOWN], "unanswered": found.unanswered, "precision": found.share,
        "low": low, "high": high,
    }  # fmt: skip
