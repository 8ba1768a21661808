"""The time that a repeat under load takes, which is that of the server or that of the arrivals."""

from dataclasses import replace

import pytest

from orchestrator.domain import Duration, Mode, Workload
from orchestrator.modes.parts.load import Load, Scenario
from orchestrator.planning.cost.durations import START_S, WARM_UP_S
from tests.unit.planning.test_durations import VGG, run_s

PASS_S = 398_136_320 / 16e9
"""One sample of VGG-19, at 8e9 multiply-adds a second and CPU."""


def under(load: Load, batch_size: int) -> float:
    """Return the seconds of a repeat without its start and its warm-up of one step."""
    work = Workload("vgg19", Mode("requests"), batch_size, load=load)
    duration = Duration(1, load.requests, None, 1, load.requests)
    took_s = run_s(replace(VGG, id="torch/requests", workload=work, duration=duration))
    return took_s - START_S - max(PASS_S * batch_size, WARM_UP_S)


def test_slow_arrivals_take_their_time() -> None:
    """A thousand requests at ten a second take a hundred seconds, and a server that is slower takes longer."""
    slow = Load(Scenario.SERVER, 1000, rate=10.0)
    fast = Load(Scenario.SERVER, 1000, rate=1000.0)

    assert under(slow, 1) == pytest.approx(100.0)
    assert under(fast, 1) == pytest.approx(1000 * PASS_S)


def test_batches_are_as_full_as_clients_fill_them() -> None:
    """A batch is computed in full, however many requests it holds."""
    closed = Load(Scenario.CLOSED, 1000, concurrency=16)

    assert under(Load(Scenario.OFFLINE, 1000), 8) == pytest.approx(1000 * PASS_S)
    assert under(closed, 16) == pytest.approx(1000 * PASS_S)
    assert under(Load(requests=1000), 1) == pytest.approx(1000 * PASS_S)
