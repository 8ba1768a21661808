"""The block rule, on a clock that only steps move."""

from collections.abc import Callable, Iterable
from itertools import chain, repeat
from typing import Any

import pytest
from container_support import request_of

from benchmarks.errors import Diverged
from benchmarks.measure import Clock, Measurement, measure


class Session:
    """Steps that take the time a test says, asynchronously: synchronising is what makes it pass."""

    def __init__(self, step_s: Iterable[float], losses: Iterable[float] = (), *, short_blocks: bool = False) -> None:
        self.now = 0.0
        self.short_blocks = short_blocks
        self.batches = ["a", "b", "c"]
        self.seen: list[str] = []
        self.synchronised = 0
        self.fetched = 0
        self._pending = 0.0
        self._step_s = iter(step_s)
        self._losses = chain(losses, repeat(1.0))

    def step(self, batch: str) -> int:
        self.seen.append(batch)
        self._pending += next(self._step_s)
        return len(self.seen)

    def synchronise(self, handle: int) -> None:
        assert handle == len(self.seen), "the handle of the last step is what is waited for"
        self.synchronised += 1
        self.now += self._pending
        self._pending = 0.0

    def fetch(self, handle: int) -> str:
        self.fetched += 1
        self.now += self._pending
        self._pending = 0.0
        return f"logits of step {handle}"

    def loss(self, handle: int) -> float:
        assert self._pending == 0, "a loss is read outside timed blocks"
        return next(self._losses)


class Sampling:
    """A sampler that is slow: each reading takes three seconds."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._began = 0.0

    def begin(self) -> None:
        self._session.now += 3.0
        self._began = self._session.now

    def end(self) -> dict[str, float]:
        wall_s = self._session.now - self._began
        self._session.now += 3.0
        return {"wall_s": wall_s}


def run(
    session: Session, steps_per_epoch: int = 7, evaluate: Any = None, sampler: Any = None, **changes: Any
) -> Measurement:
    clock = Clock(lambda: session.now, lambda: 2 * session.now)
    request = request_of(**changes)
    return measure(session, request, steps_per_epoch, lambda _phase: None, clock, evaluate=evaluate, sampler=sampler)


def test_every_timed_block_lasts_at_least_the_least_time() -> None:
    session = Session(repeat(0.01))

    taken = run(session)

    assert len(taken.blocks) == 10
    assert [block["steps"] for block in taken.blocks] == [25] * 10
    assert all(block["wall_s"] == pytest.approx(0.25) and block["samples"] == 5000 for block in taken.blocks)
    assert all(block["cpu_s"] == pytest.approx(0.5) for block in taken.blocks)


def test_the_first_step_stands_apart_and_warm_up_runs_until_a_block_is_long_enough() -> None:
    taken = run(Session(chain([3.0], repeat(0.01))))

    assert (taken.first_step["steps"], taken.first_step["wall_s"]) == (1, 3.0)
    assert [block["steps"] for block in taken.warmup] == [10, 25]
    assert taken.phases["first_step_s"] == 3.0
    assert taken.phases["warmup_s"] == pytest.approx(0.35)
    assert taken.phases["steady_s"] == pytest.approx(2.5)


def test_a_block_that_came_out_short_is_kept_in_the_warm_up_and_the_next_one_grows() -> None:
    """The machine gets ten times as fast just after warm-up."""
    taken = run(Session(chain(repeat(0.04, 1 + 10), repeat(0.004))))

    assert [block["steps"] for block in taken.warmup] == [10, 7]
    assert taken.warmup[1]["wall_s"] < 0.2
    assert [block["steps"] for block in taken.blocks] == [63] * 10


def test_a_short_block_starts_the_count_anew_so_that_fast_blocks_are_not_the_only_ones_left_out() -> None:
    """After three timed blocks the machine gets four times as fast, so the fourth is over too soon."""
    taken = run(Session(chain(repeat(0.011, 1 + 10 + 23 + 3 * 23), repeat(0.0028))))

    assert [block["steps"] for block in taken.warmup] == [10, 23] + [23] * 3 + [23]
    assert [block["steps"] for block in taken.blocks] == [90] * 10
    assert [block["wall_s"] for block in taken.blocks] == [pytest.approx(0.252)] * 10


def test_a_long_step_is_a_block_of_its_own() -> None:
    taken = run(Session(repeat(5.0)), steps=1)

    assert [block["steps"] for block in taken.blocks] == [1] * 10


def test_at_least_the_asked_for_steps_are_timed() -> None:
    taken = run(Session(repeat(5.0)), steps=73)

    assert sum(block["steps"] for block in taken.blocks) >= 73
    assert len(taken.blocks) == 10


def test_a_builder_whose_steps_are_free_need_not_fill_blocks() -> None:
    taken = run(Session(repeat(1e-9), short_blocks=True))

    assert len(taken.blocks) == 10
    assert sum(block["steps"] for block in taken.blocks) == 50


def test_nothing_is_synchronised_inside_a_block() -> None:
    session = Session(repeat(0.01))

    taken = run(session, latency_steps=0)

    assert session.synchronised == 1 + len(taken.warmup) + len(taken.blocks)


def test_the_latency_pass_synchronises_every_step() -> None:
    session = Session(repeat(0.01))

    taken = run(session, latency_steps=20)

    assert taken.latency_s == [pytest.approx(0.01)] * 20
    assert session.synchronised == 1 + len(taken.warmup) + len(taken.blocks) + 20


def test_steps_go_round_the_ring_of_batches_without_repeating_one() -> None:
    session = Session(repeat(0.01))

    run(session)

    assert session.seen == [("a", "b", "c")[number % 3] for number in range(len(session.seen))]


def test_each_epoch_is_a_block_and_the_first_is_among_them() -> None:
    taken = run(Session(chain([2.0], repeat(0.5, 7), repeat(0.01))), steps=None, epochs=3)

    assert [block["steps"] for block in taken.blocks] == [7, 7, 7]
    assert [block["wall_s"] for block in taken.blocks] == [pytest.approx(3.5), pytest.approx(0.07), pytest.approx(0.07)]
    assert taken.warmup == []


def test_every_epoch_is_a_whole_pass_from_the_first_batch_on() -> None:
    session = Session(repeat(0.01))

    run(session, steps_per_epoch=3, steps=None, epochs=2, latency_steps=0)

    assert session.seen == ["a", *"abc", *"abc"], "the first step stands before the first epoch"


def test_evaluation_follows_each_epoch_outside_its_time_and_has_its_own() -> None:
    session = Session(repeat(0.5))
    seen_at: list[int] = []

    def evaluate() -> dict[str, float]:
        assert session._pending == 0, "what the epoch issued is done before the evaluation begins"
        seen_at.append(len(session.seen))
        session.now += 100.0
        return {"test_accuracy": 0.1 * len(seen_at)}

    taken = run(session, steps=None, epochs=2, evaluate=evaluate)

    assert seen_at == [8, 15]
    assert [block["wall_s"] for block in taken.blocks] == [pytest.approx(3.5)] * 2
    assert taken.epochs == [
        {"test_accuracy": pytest.approx(0.1), "evaluation_s": pytest.approx(100.0)},
        {"test_accuracy": pytest.approx(0.2), "evaluation_s": pytest.approx(100.0)},
    ]
    assert taken.phases["steady_s"] == pytest.approx(7.0)
    assert taken.phases["evaluation_s"] == pytest.approx(200.0)


def test_one_evaluation_follows_the_last_epoch_on_request() -> None:
    session = Session(repeat(0.5))
    seen_at: list[int] = []

    def evaluate() -> dict[str, float]:
        seen_at.append(len(session.seen))
        return {"test_accuracy": 0.9}

    taken = run(session, steps=None, epochs=3, evaluate=evaluate, evaluate_every_epoch=False)

    assert seen_at == [22], "the first step and three epochs of seven"
    assert [scores["test_accuracy"] for scores in taken.epochs] == [0.9]
    assert len(taken.blocks) == 3


@pytest.mark.parametrize("changes", [{"mode": "infer", "steps": None, "epochs": 2}, {"steps": 50}])
def test_neither_inference_nor_steps_are_evaluated(changes: dict[str, Any]) -> None:
    taken = run(Session(repeat(0.01)), evaluate=lambda: {"test_accuracy": 1.0}, **changes)

    assert taken.epochs == []
    assert "evaluation_s" not in taken.phases


@pytest.mark.parametrize(
    ("losses", "when"), [([float("nan")], "after the first step"), ([1.0, float("inf")], "at the end")]
)
def test_a_loss_that_is_not_finite_is_no_measurement(losses: list[float], when: str) -> None:
    with pytest.raises(Diverged, match=when):
        run(Session(repeat(0.01), losses))


def test_inference_has_no_loss() -> None:
    taken = run(Session(repeat(0.01), [float("nan")]), mode="infer")

    assert taken.loss is None


@pytest.mark.parametrize(
    ("step_s", "asked", "run_steps"),
    [(0.19, 150, 150), (0.3, 150, 100), (0.61, 150, 50), (5.0, 150, 50), (5.0, 20, 20), (5.0, 0, 0)],
)
def test_a_slow_latency_pass_is_shorter(step_s: float, asked: int, run_steps: int) -> None:
    """At most 30 s, but 50 steps if so many are asked for; the host accepts that number and no other."""
    taken = run(Session(repeat(step_s)), latency_steps=asked, steps=10)

    assert len(taken.latency_s) == run_steps


def test_inference_fetches_every_step_of_the_latency_pass_and_nothing_before_it() -> None:
    session = Session(repeat(0.01))

    taken = run(session, mode="infer", latency_steps=20)

    assert taken.latency_s == [pytest.approx(0.01)] * 20
    assert session.synchronised == 1 + len(taken.warmup) + len(taken.blocks)
    assert session.fetched == 20 + 1
    assert taken.logits == f"logits of step {len(session.seen)}"


def test_training_fetches_no_logits() -> None:
    session = Session(repeat(0.01))

    assert run(session).logits is None
    assert session.fetched == 0


def test_the_losses_are_those_of_the_first_and_the_last_step() -> None:
    taken = run(Session(repeat(0.01), [2.5, 0.5]))

    assert taken.loss == {"first": 2.5, "last": 0.5}


def test_each_phase_is_told_where_it_begins() -> None:
    session = Session(repeat(0.01))
    told: list[tuple[str, int]] = []
    enter: Callable[[str], None] = lambda phase: told.append((phase, len(session.seen)))  # noqa: E731 (a name for a listener)
    clock = Clock(lambda: session.now, lambda: session.now)

    taken = measure(session, request_of(latency_steps=5), 7, enter, clock)

    warm = 1 + sum(block["steps"] for block in taken.warmup)
    timed = sum(block["steps"] for block in taken.blocks)
    assert told == [("first_step", 0), ("warmup", 1), ("steady", warm), ("latency", warm + timed)]


def test_conditions_are_read_around_every_block_and_the_reading_is_in_none() -> None:
    session = Session(repeat(0.01))

    taken = run(session, sampler=Sampling(session))

    sampled = [taken.first_step, *taken.warmup, *taken.blocks]
    assert all(block["conditions"]["wall_s"] == pytest.approx(block["wall_s"]) for block in sampled)
    assert all(block["wall_s"] == pytest.approx(0.01 * block["steps"]) for block in sampled)
    assert taken.latency_s == pytest.approx([0.01] * 50)
    assert taken.latency_conditions["wall_s"] == pytest.approx(sum(taken.latency_s))


def test_without_a_sampler_blocks_have_no_conditions() -> None:
    taken = run(Session(repeat(0.01)))

    assert "conditions" not in taken.blocks[0]
    assert taken.latency_conditions is None
