"""CPU seconds over all threads, taken for wall time."""

from itertools import repeat

import pytest
from counted_sessions import Queue, measured

from orchestrator.analysis.measurements import cores_busy
from orchestrator.results.contract import Result
from orchestrator.results.throughput import throughput


def by_cpu_seconds(result: Result) -> float:
    """Divide as the trap does."""
    return sum(block.samples for block in result.blocks) / sum(block.cpu_s for block in result.blocks)


def test_cpu_seconds_turn_the_ranking_round() -> None:
    threaded = measured(Queue(repeat(0.1), cores=4), 50)
    single = measured(Queue(repeat(0.2), cores=1), 50)

    assert (by_cpu_seconds(threaded), by_cpu_seconds(single)) == (pytest.approx(500), pytest.approx(1000)), "wrong"
    assert throughput(threaded, epochs=True) == pytest.approx(2000)
    assert throughput(single, epochs=True) == pytest.approx(1000)


def test_cpu_seconds_are_told_as_busy_cores() -> None:
    assert cores_busy(measured(Queue(repeat(0.1), cores=4), 50).blocks) == pytest.approx(4)
