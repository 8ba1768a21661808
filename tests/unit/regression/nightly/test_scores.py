"""Answers to alarms: their precision, and the series that need more to alarm again."""

import pytest

from orchestrator.regression.nightly.records import Answer, Score
from orchestrator.regression.nightly.watch.scores import answers, doubted, precision, raised_alarms
from tests.unit.regression.nightly.night_fakes import CELL
from tests.unit.regression.nightly.night_records import a_night, alarm
from tests.unit.regression.nightly.watch_records import idle_night, scored

RIGHT, WRONG, KNOWN = Answer.RIGHT, Answer.WRONG, Answer.KNOWN


@pytest.mark.parametrize(
    ("given", "is_doubted"),
    [
        ((WRONG, WRONG), False),
        ((WRONG, WRONG, WRONG), True),
        ((WRONG, KNOWN, WRONG, WRONG), True),
        ((WRONG, WRONG, RIGHT, WRONG), False),
        ((WRONG, WRONG, WRONG, RIGHT), False),
        ((RIGHT, WRONG, WRONG, WRONG, WRONG), True),
    ],
)
def test_three_wrong_alarms_put_a_series_in_doubt(given: tuple[Answer, ...], is_doubted: bool) -> None:
    """They count since the last right one; what was known before says nothing."""
    assert doubted(scored(given), of_anchor=False) == (((CELL, "throughput"),) if is_doubted else ())


def test_drifts_and_regressions_are_doubted_apart() -> None:
    scores = scored([WRONG] * 3, anchor="1.4.1")

    assert doubted(scores, of_anchor=False) == ()
    assert doubted(scores, of_anchor=True) == ((CELL, "throughput"),)


def test_the_last_answer_to_an_alarm_counts() -> None:
    first = scored([WRONG, WRONG, WRONG])
    mended = Score(**first[1].model_dump() | {"answer": KNOWN})

    assert answers((*first, mended))[mended.alarm] is KNOWN
    assert doubted((*first, mended), of_anchor=False) == ()


def test_precision_is_that_of_right_and_wrong_alarms() -> None:
    """Known and unanswered alarms are counted, and are none of them."""
    nights = [a_night(), *(_alarming(day, f"1.{day}") for day in range(5))]
    scores = scored([RIGHT, WRONG, RIGHT, KNOWN])
    october, november, total = precision(raised_alarms([_alarming(-20, "1.20"), *nights], scores))

    assert (october.month, october.unanswered, october.share) == ("2026-10", 1, None)
    assert (november.month, november.answered, november.unanswered) == ("2026-11", 3, 2)
    assert total.share == pytest.approx(2 / 3)
    low, high = total.interval
    assert (low, high) == pytest.approx((0.0943, 0.9916), abs=1e-3)


def _alarming(day: int, release: str):  # type: ignore[no-untyped-def]
    night = a_night()
    trying = night.tried[0].model_copy(update={"alarms": (alarm(release=release),)})
    return idle_night(day, tried=(trying,))


def test_an_alarm_that_two_nights_record_counts_once() -> None:
    assert len(raised_alarms([a_night(), a_night()], ())) == 1
