"""Nights of the baseline against itself, and answers to alarms, as they are recorded."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.model import JudgedPair
from orchestrator.regression.nightly.records import Answer, Score, SelfTest
from orchestrator.regression.nightly.state import Ending, Night, State, Tonight
from orchestrator.regression.nightly.watch.whole import Watch, watch
from tests.unit.regression.nightly.night_fakes import CELL, judged, regression
from tests.unit.regression.nightly.night_records import a_night

DOUBTED = "cpu/mlp-train-b200"
BEGAN = datetime(2026, 11, 1, 3, tzinfo=UTC)


def scattering(deviation: float, verdict: Verdict = Verdict.SAME, cell: str = CELL) -> JudgedPair:
    """A pair of equal sides whose blocks scatter so much."""
    each = deviation * math.sqrt(11 / 12)
    values = tuple((100.0, 100.0 * math.exp(sign * each)) for sign in (1, -1) * 6)
    metric = judged(verdict).model_copy(update={"values": values, "blocks": 12})
    return JudgedPair(id=cell, baseline_cell=cell, candidate_cell=cell, verdict=verdict, metrics=(metric,))


def self_tested(day: int, *pairs: JudgedPair, **more: object) -> Night:
    """The night of a day, on which the baseline was measured against itself."""
    tonight = Tonight(night="n", release=f"1.5.1+{day}", baseline="1.5.1")
    found = regression(tonight, *pairs)
    test = SelfTest(release="1.5.1", name=tonight.release, complete=True, regression=found)
    return idle_night(day, **{"self_test": test} | more)


def idle_night(day: int, **more: object) -> Night:
    """A night without anything new."""
    began = BEGAN + timedelta(days=day)
    given = {
        "night": f"night-{day:03}", "began_at": began.isoformat(), "posted": None, "problems": (),
        "ended_at": (began + timedelta(hours=1)).isoformat(), "tried": (), "waiting": (), "ending": Ending.NOTHING_NEW,
    }  # fmt: skip
    return a_night(**given | more)


def scored(answers: Sequence[Answer], cell: str = CELL, anchor: str = "") -> tuple[Score, ...]:
    """Answers to alarms of one series, one release each."""
    return tuple(
        Score(release=f"1.{number}", cell=cell, metric="throughput", anchor=anchor, answer=answer, at="2026-11-22")
        for number, answer in enumerate(answers)
    )


def a_watch() -> Watch:
    """A rig that got noisier, an alarm with an answer, and a series in doubt."""
    quiet = [self_tested(day, scattering(0.02 + 0.001 * (day % 3))) for day in range(8)]
    noisy = [self_tested(day, scattering(0.05 + 0.001 * (day % 3))) for day in range(8, 14)]
    scores = (
        *scored([Answer.WRONG] * 3, cell=DOUBTED),
        Score(release="1.6.0", cell=CELL, metric="throughput", answer=Answer.RIGHT, at="2026-11-23", reason="bisected"),
    )
    nights = [*quiet, *noisy, a_night()]
    state = State(watched="mxnet", scores=scores)
    now = datetime.fromisoformat(nights[-1].ended_at) + timedelta(days=5)
    return watch(state, nights, now, limit=3)
