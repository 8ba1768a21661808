"""An epoch that compiles, counted among those that do not."""

from itertools import chain, repeat

import pytest
from counted_sessions import BATCH, Queue, measured

from orchestrator.analysis.measurements import repeat_measurement
from orchestrator.results.contract import Result
from orchestrator.results.throughput import throughput

STEPS = 50


def compiled(first_step_s: float, first_epoch_s: float) -> Result:
    """Measure two epochs, the second of a second, and the first step before them."""
    first = repeat(first_epoch_s / STEPS, STEPS)
    return measured(Queue(chain([first_step_s], first, repeat(1.0 / STEPS))), STEPS, epochs=2)


def with_first_epoch(result: Result) -> float:
    """Divide as the trap does."""
    blocks = (result.first_step, *result.blocks)
    return sum(block.samples for block in result.blocks) / sum(block.wall_s for block in blocks)


def test_compiling_makes_equals_differ() -> None:
    compiling, other = compiled(20.0, 8.0), compiled(0.02, 1.0)

    assert with_first_epoch(other) / with_first_epoch(compiling) == pytest.approx(29 / 2.02), "wrong: equally fast"
    assert [throughput(each, epochs=True) for each in (compiling, other)] == [pytest.approx(STEPS * BATCH)] * 2


def test_totals_tell_both_times() -> None:
    epochs = repeat_measurement(compiled(20.0, 8.0), None, in_epochs=True).epochs

    assert epochs
    assert (epochs.total_s, epochs.after_first_s) == (pytest.approx(29), pytest.approx(1))
