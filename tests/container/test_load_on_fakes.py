"""A server under load, by fakes whose times are known."""

import math
import random
from typing import Any

import pytest
from container_support import request_of, start
from fake_load_server import latencies, under_load

from benchmarks.errors import BadRequest
from benchmarks.timing import load

SERVICE_S = 0.010


def _same(_step: int) -> float:
    return SERVICE_S


def _stalling(step: int) -> float:
    return 0.200 if step == 50 else SERVICE_S


def test_lone_request_waits_for_nothing() -> None:
    answered = under_load(_same, scenario="single_stream", requests=100)

    assert latencies(answered) == pytest.approx([SERVICE_S] * 100)
    assert answered.begin_s == answered.arrival_s
    assert len(answered.end_s) / (answered.last_s - answered.first_s) == pytest.approx(100.0)


@pytest.mark.parametrize(("clients", "most", "latency_s", "rate"), [(4, 1, 0.040, 100.0), (8, 4, 0.020, 400.0)])
def test_clients_take_turns(clients: int, most: int, latency_s: float, rate: float) -> None:
    """Each of N clients waits for the others of its turn, from the first request that counts to the last."""
    answered = under_load(_same, most, scenario="closed", concurrency=clients, requests=200)

    assert latencies(answered) == pytest.approx([latency_s] * 200)
    assert answered.batches == 200 // most
    assert len(answered.end_s) / (answered.last_s - answered.first_s) == pytest.approx(rate)


def test_offline_takes_full_batches() -> None:
    answered = under_load(_same, 8, scenario="offline", requests=100)

    assert answered.batches == 13
    assert answered.end_s[-1] == pytest.approx(13 * SERVICE_S)
    assert latencies(answered)[:8] == pytest.approx([SERVICE_S] * 8)


def test_queue_is_that_of_the_recursion() -> None:
    """A request waits for the end of the one before it, after all that were there earlier (Lindley, 1952)."""
    answered = under_load(lambda step: 0.004 + 0.012 * (step % 3 == 0), scenario="server", rate=100.0, requests=5000)

    expected, free_s = [], 0.0
    for number, arrival_s in enumerate(answered.arrival_s):
        free_s = max(free_s, arrival_s) + 0.004 + 0.012 * (number % 3 == 0)
        expected.append(free_s - arrival_s)
    assert latencies(answered) == pytest.approx(expected, rel=1e-6)


def test_mean_wait_is_that_of_theory() -> None:
    """Poisson arrivals at half of the rate of a constant server wait half of a service (Pollaczek-Khinchine)."""
    answered = under_load(_same, scenario="server", rate=50.0, requests=400_000)

    waited_s = sum(latencies(answered)) / 400_000 - SERVICE_S
    assert waited_s == pytest.approx(0.5 * SERVICE_S / (2 * (1 - 0.5)), rel=0.01)
    assert 400_000 / answered.end_s[-1] == pytest.approx(50.0, rel=0.01)


def test_share_without_a_wait_is_that_of_theory() -> None:
    """A server that is busy for 30 % of the time is idle for 70 % of Poisson arrivals, and these are in the limit."""
    answered = under_load(_same, scenario="server", rate=30.0, requests=200_000)

    good = sum(each <= SERVICE_S * 1.000001 for each in latencies(answered)) / 200_000
    assert good == pytest.approx(0.7, rel=0.01)


def test_open_loop_counts_all_that_waited() -> None:
    """One stall of 200 ms is one slow request to a client that waits for its answer, and a queue to a schedule."""
    closed = under_load(_stalling, scenario="single_stream", requests=100)
    opened = under_load(_stalling, scenario="server", rate=80.0, requests=100)

    assert sum(each > 2 * SERVICE_S for each in latencies(closed)) == 1
    during = [each for each in opened.arrival_s if opened.begin_s[50] <= each < opened.begin_s[50] + 0.2]
    slow = sum(each > 2 * SERVICE_S for each in latencies(opened))
    assert len(during) > 10
    assert slow > len(during)


def test_schedule_is_drawn_from_the_seed() -> None:
    asked: dict[str, Any] = {"scenario": "server", "rate": 10.0, "requests": 50}
    first, again, other = (load.arrivals(asked, seed).arrival_s for seed in (1, 1, 2))

    assert first == again
    assert first != other
    draw = random.Random(1)
    gaps = [-math.log(1 - draw.random()) / 10.0 for _ in range(2)]
    assert first[:2] == pytest.approx([gaps[0], sum(gaps)])


def test_schedule_does_not_wait_for_the_server() -> None:
    """Arrivals are the same of a server that is a hundred times as slow."""
    fast, slow = (
        under_load(lambda _step, each_s=each_s: each_s, scenario="server", rate=100.0, requests=300)  # type: ignore[misc]
        for each_s in (0.001, 0.100)
    )

    assert fast.arrival_s == slow.arrival_s


def test_moments_are_stored_of_every_request() -> None:
    ended = start(
        "mlp", "--mode", "requests", "--axis", "scenario=server", "--axis", "rate=2000", "--axis", "requests=40",
        "--json", BENCH_BUILDER="noop",
    )  # fmt: skip

    assert ended.returncode == 0, ended.stderr
    assert '"arrival_s"' in ended.stdout
    assert '"waited_s"' in ended.stdout


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (None, "the mode 'requests' and a 'load' go together"),
        ({"scenario": "server"}, "'load' must say the 'scenario' and the number of 'requests', and may say"),
        ({"scenario": "open", "requests": 5}, "'load' must have a scenario of 'single_stream', 'offline', 'server'"),
        ({"scenario": "server", "requests": 5}, "'load' must have a 'rate' in the scenario server"),
        ({"scenario": "offline", "requests": 5, "rate": 2}, "'load' must have no 'rate' in the scenario offline"),
        ({"scenario": "closed", "requests": 5}, "'load' must have a 'concurrency' in the scenario closed"),
        ({"scenario": "closed", "requests": 5, "concurrency": 0}, "'load' must have a number above 0 as 'concurrency'"),
        ({"scenario": "server", "requests": 5, "rate": 0}, "'load' must have a number above 0 as 'rate'"),
        ({"scenario": "offline", "requests": 0}, "'load' must have a number above 0 as 'requests'"),
        ({"scenario": "offline", "requests": 5, "latency_limit_s": -1}, "a number above 0 as 'latency_limit_s'"),
    ],
)
def test_wrong_load_is_refused_in_one_line(asked: dict[str, Any] | None, said: str) -> None:
    with pytest.raises(BadRequest, match="bad request") as caught:
        request_of(mode="requests", load=asked)

    assert said in str(caught.value)
