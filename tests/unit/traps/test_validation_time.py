"""An epoch's time that holds its validation, while the count of samples does not."""

from itertools import repeat

import pytest
from counted_sessions import Queue, measured

from orchestrator.analysis.measurements import repeat_measurement
from orchestrator.results.contract import Result
from orchestrator.results.throughput import throughput

SCORES = {"train_loss": 0.5, "test_loss": 0.6, "test_accuracy": 0.9}


def run(*, validates: bool) -> Result:
    """Measure three epochs of five seconds, each with two seconds of validation or none."""
    session = Queue(repeat(0.1))

    def evaluate() -> dict[str, float]:
        session.pass_time(2.0)
        return SCORES

    return measured(session, 50, evaluate if validates else None)


def with_validation(result: Result) -> float:
    """Divide as the trap does."""
    held_s = sum(block.wall_s for block in result.blocks) + sum(each.evaluation_s for each in result.epochs)
    return sum(block.samples for block in result.blocks) / held_s


def test_validation_inside_the_time_makes_equals_differ() -> None:
    validating, other = run(validates=True), run(validates=False)

    assert with_validation(other) / with_validation(validating) == pytest.approx(1.4), "wrong: they are equally fast"
    assert throughput(validating, epochs=True) == pytest.approx(2000)
    assert throughput(other, epochs=True) == pytest.approx(2000)


def test_validation_is_a_phase_of_its_own() -> None:
    phases = dict(repeat_measurement(run(validates=True), None, in_epochs=True).phases_s)

    assert (phases["steady"], phases["evaluation"]) == (pytest.approx(15), pytest.approx(6))


def test_the_total_time_holds_no_validation() -> None:
    totals = [repeat_measurement(run(validates=each), None, in_epochs=True).epochs for each in (True, False)]

    assert [each.total_s for each in totals if each] == [pytest.approx(15.1)] * 2
