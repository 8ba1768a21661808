"""Nights as they are recorded, for those who show them."""

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.nightly.state import (
    Alarm,
    Change,
    Ending,
    Judgement,
    Night,
    Posted,
    ReleaseRecord,
    Tonight,
    Trying,
)
from tests.unit.regression.nightly.night_fakes import CELL, pair, regression


def record(version: str, judgement: Judgement, reason: str = "", run: str = "") -> ReleaseRecord:
    return ReleaseRecord(
        version=version, uploaded_at="2026-11-20T00:00:00Z", judgement=judgement, reason=reason, baseline="1.5.1",
        night="20261122T030000Z-1f3a", run=run,
    )  # fmt: skip


def alarm(**more: object) -> Alarm:
    given = {"release": "1.6.0", "cell": CELL, "metric": "throughput", "ratio": 0.9, "low": 0.89, "high": 0.91} | {
        "confirmed": True
    }
    return Alarm.model_validate(given | more)


def a_change(**more: object) -> Change:
    given = {
        "series": f"mxnet-*-{CELL}", "cell": CELL, "metric": "throughput", "host": "far", "date": "2026-11-20",
        "release": "1.7.0", "since": "1.6.0", "before": 100.0, "after": 93.0, "ratio": 0.93, "p_value": 1e-6,
        "worse": True,
    }  # fmt: skip
    return Change.model_validate(given | more)


def a_night(**more: object) -> Night:
    """One regression, one known change, one release that does not install, one not reached; hostile words among it."""
    slower = Trying(
        record=record("1.6.0", Judgement.REGRESSED, f"{CELL}: throughput × 0.900", "run-1.6.0"),
        regression=regression(Tonight(night="n", release="1.6.0", baseline="1.5.1"), pair(Verdict.SLOWER, 0.9)),
        alarms=(alarm(),),
    )
    known = Trying(
        record=record("1.7.0", Judgement.CLEAN, "the one pair is the same or better"),
        regression=regression(Tonight(night="n", release="1.7.0", baseline="1.5.1"), pair(Verdict.SLOWER, 0.9)),
        known=(alarm(release="1.7.0", acknowledged="agreed | in the <team>"),),
    )
    broken = Trying(record=record("1.8.0", Judgement.BUILD_FAILED, "no matching <b>distribution</b> \x1b[31m"))
    given = {
        "night": "20261122T030000Z-1f3a", "began_at": "2026-11-22T03:00:00+00:00", "host": "bench-1",
        "ended_at": "2026-11-22T04:00:00+00:00", "orchestrator_version": "0.1.0", "watched": "mxnet",
        "distribution": "mxnet", "baseline": "1.5.1", "accepted": "1.7.0", "ending": Ending.MEASURED,
        "offered": ("1.5.1", "1.6.0", "1.7.0", "1.8.0", "1.9.1"), "problems": ("https://more/: does not answer",),
        "tried": (slower, known, broken), "waiting": ("1.9.1",),
        "posted": Posted(url="https://chat/hook", delivered=False, attempts=3, reason="answers 500"),
    }  # fmt: skip
    return Night(**given | more)  # type: ignore[arg-type]


def silent_night() -> Night:
    return a_night(ending=Ending.INDEX_SILENT, tried=(), waiting=(), offered=(), posted=None)
