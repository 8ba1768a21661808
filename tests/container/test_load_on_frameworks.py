"""The encoder under load in real frameworks: the laws of queues hold for what they answer."""

from itertools import pairwise
from typing import Any

import pytest
from container_support import Measure

from benchmarks.timing import load
from orchestrator.modes.parts.load import Load, Scenario
from orchestrator.results.contract import Result
from orchestrator.results.parts.requests import RequestMoments, broken_requests

pytestmark = pytest.mark.frameworks

BATCH, CLIENTS, REQUESTS, SEED = 2, 3, 60, 4
ASKED: dict[str, Any] = {"model": "encoder", "batch_size": BATCH, "seed": SEED, "warmup_steps": 2, "steps": 4}
ROUNDING_S = 1e-6
"""Of moments, which are stored as differences of clocks."""


def moments(result: Result) -> tuple[RequestMoments, list[float], list[float]]:
    """The requests of a result, with the moments at which the step of each begins and ends."""
    found = result.requests
    assert found is not None
    begins = [arrival + waited for arrival, waited in zip(found.arrival_s, found.waited_s, strict=True)]
    ends = [arrival + whole for arrival, whole in zip(found.arrival_s, result.latency_s, strict=True)]
    return found, begins, ends


def steps_of(begins: list[float], ends: list[float]) -> list[tuple[float, float, int]]:
    """Begin, end and size of each batch, whose requests begin together."""
    found: list[tuple[float, float, int]] = []
    for begin, end in zip(begins, ends, strict=True):
        if found and begin - found[-1][0] < ROUNDING_S:
            assert end == pytest.approx(found[-1][1], abs=ROUNDING_S)
            found[-1] = (*found[-1][:2], found[-1][2] + 1)
        else:
            found.append((begin, end, 1))
    return found


def test_schedule_is_answered_by_one_server(measure: Measure) -> None:
    """Arrivals are those of the seed, no step begins before the last one has ended, and each is waited for."""
    asked = {"scenario": "server", "rate": 150.0, "requests": REQUESTS}
    alone = measure(mode="infer", **ASKED)

    result = measure(mode="requests", load=asked, **ASKED)

    found, begins, ends = moments(result)
    assert found.arrival_s == pytest.approx(load.arrivals(asked, SEED).arrival_s, abs=ROUNDING_S)
    known = Load(scenario=Scenario.SERVER, rate=150.0, requests=REQUESTS)
    assert broken_requests(known, found, result.latency_s, BATCH) is None
    steps = steps_of(begins, ends)
    assert (len(steps), result.blocks[0].samples) == (result.blocks[0].steps, REQUESTS)
    assert max(size for _, _, size in steps) <= BATCH
    assert all(begin >= end - ROUNDING_S for (_, end, _), (begin, _, _) in pairwise(steps))
    # One that is issued alone would end far sooner. A host that is busy makes a step slower, and none faster.
    assert min(end - begin for begin, end, _ in steps) > 0.1 * min(alone.latency_s)
    assert result.loss is None


def test_clients_send_when_they_are_answered(measure: Measure) -> None:
    """Each arrival is the moment of an answer, and by Little's law there are always as many requests as clients."""
    asked = {"scenario": "closed", "concurrency": CLIENTS, "requests": REQUESTS}

    result = measure(mode="requests", load=asked, **ASKED)

    found, begins, ends = moments(result)
    known = Load(scenario=Scenario.CLOSED, concurrency=CLIENTS, requests=REQUESTS)
    assert broken_requests(known, found, result.latency_s, BATCH) is None
    answered = sorted(set(ends))
    later = [each for each in found.arrival_s if each > answered[0] - ROUNDING_S]
    assert len(later) > REQUESTS - 2 * CLIENTS
    assert all(min(abs(each - end) for end in answered) < ROUNDING_S for each in later)
    # The first one may have been shared with a request of the beginning, which does not count.
    assert {size for _, _, size in steps_of(begins, ends)[1:]} == {BATCH}
    assert sum(result.latency_s) / result.blocks[0].wall_s == pytest.approx(CLIENTS, rel=0.15)
