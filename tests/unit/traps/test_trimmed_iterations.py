"""Slow iterations that are left out of the time and not out of the count."""

from collections.abc import Iterator
from itertools import cycle

import pytest
from counted_sessions import Queue, measured

from orchestrator.results.throughput import block_rates, throughput

BATCH, FAST_S, SLOW_S = 32, 0.381, 7.887
STEPS = 100


def paces() -> Iterator[float]:
    """Yield the seconds of steps of which every fifth is slow."""
    return cycle([FAST_S] * 4 + [SLOW_S])


def test_trimming_the_time_alone_multiplies_the_rate() -> None:
    step_s = [pace for _, pace in zip(range(STEPS), paces(), strict=False)]
    kept_s = sum(pace for pace in step_s if pace < 1)
    assert STEPS * BATCH / kept_s == pytest.approx(105, abs=0.5), "wrong"

    result = measured(Queue(paces()), STEPS, batch_size=BATCH)

    assert throughput(result, epochs=True) == pytest.approx(17, abs=0.5)


def test_no_block_leaves_a_step_out() -> None:
    session = Queue(paces())

    result = measured(session, STEPS, batch_size=BATCH, steps=STEPS, epochs=None)

    blocks = (result.first_step, *result.warmup, *result.blocks)
    assert sum(block.wall_s for block in blocks) == pytest.approx(session.now)
    assert all(block.samples == BATCH * block.steps for block in blocks)
    assert block_rates(result, epochs=False) == [pytest.approx(17, abs=0.5)] * 10
