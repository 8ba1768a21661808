"""The block rule, on a clock that only steps move."""

from collections.abc import Callable, Iterable
from itertools import chain, repeat
from typing import Any

import pytest
from container_support import request_of

from benchmarks.errors import Diverged
from benchmarks.timing.measure import Clock, Measurement, measure


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


def test_timed_blocks_last_the_least_time() -> None:
    """Every timed block lasts at least the least time."""
    session = Session(repeat(0.01))

    taken = run(session)

    assert len(taken.blocks) == 10
    assert [block["steps"] for block in taken.blocks] == [25] * 10
    assert all(block["wall_s"] == pytest.approx(0.25) and block["samples"] == 5000 for block in taken.blocks)
    assert all(block["cpu_s"] == pytest.approx(0.5) for block in taken.blocks)


def test_first_step_stands_apart_from_warm_up() -> None:
    """The first step stands apart, and warm-up runs until a block is long enough."""
    taken = run(Session(chain([3.0], repeat(0.01))))

    assert (taken.first_step["steps"], taken.first_step["wall_s"]) == (1, 3.0)
    assert [block["steps"] for block in taken.warmup] == [10, 25]
    assert taken.phases["first_step_s"] == 3.0
    assert taken.phases["warmup_s"] == pytest.approx(0.35)
    assert taken.phases["steady_s"] == pytest.approx(2.5)


def test_short_block_joins_warm_up_and_next_grows() -> None:
    """The machine gets ten times as fast just after warm-up."""
    taken = run(Session(chain(repeat(0.04, 1 + 10), repeat(0.004))))

    assert [block["steps"] for block in taken.warmup] == [10, 7]
    assert taken.warmup[1]["wall_s"] < 0.2
    assert [block["steps"] for block in taken.blocks] == [63] * 10


def test_short_block_starts_the_count_anew() -> None:
    """After three timed blocks the machine gets four times as fast, so the fourth is over too soon."""
    taken = run(Session(chain(repeat(0.011, 1 + 10 + 23 + 3 * 23), repeat(0.0028))))

    assert [block["steps"] for block in taken.warmup] == [10, 23] + [23] * 3 + [23]
    assert [block["steps"] for block in taken.blocks] == [90] * 10
    assert [block["wall_s"] for block in taken.blocks] == [pytest.approx(0.252)] * 10


def test_long_step_is_its_own_block() -> None:
    taken = run(Session(repeat(5.0)), steps=1)

    assert [block["steps"] for block in taken.blocks] == [1] * 10


def test_at_least_the_asked_for_steps_are_timed() -> None:
    taken = run(Session(repeat(5.0)), steps=73)

    assert sum(block["steps"] for block in taken.blocks) >= 73
    assert len(taken.blocks) == 10


def test_free_steps_need_not_fill_blocks() -> None:
    """A builder whose steps are free need not fill blocks."""
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


def test_steps_go_round_the_ring_of_batches() -> None:
    """Steps go round the ring of batches without repeating one."""
    session = Session(repeat(0.01))

    run(session)

    assert session.seen == [("a", "b", "c")[number % 3] for number in range(len(session.seen))]


def test_every_epoch_is_a_block_even_the_first() -> None:
    taken = run(Session(chain([2.0], repeat(0.5, 7), repeat(0.01))), steps=None, epochs=3)

    assert [block["steps"] for block in taken.blocks] == [7, 7, 7]
    assert [block["wall_s"] for block in taken.blocks] == [pytest.approx(3.5), pytest.approx(0.07), pytest.approx(0.07)]
    assert taken.warmup == []


def test_epoch_is_a_whole_pass_from_the_start() -> None:
    """Every epoch is a whole pass from the first batch on."""
    session = Session(repeat(0.01))

    run(session, steps_per_epoch=3, steps=None, epochs=2, latency_steps=0)

    assert session.seen == ["a", *"abc", *"abc"], "the first step stands before the first epoch"


def test_evaluation_is_timed_apart_from_its_epoch() -> None:
    """Evaluation follows each epoch outside its time and has a time of its own."""
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
def test_non_finite_loss_is_no_measurement(losses: list[float], when: str) -> None:
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


def test_inference_fetches_only_in_the_latency_pass() -> None:
    """Inference fetches every step of the latency pass and nothing before it."""
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


def test_losses_are_of_first_and_last_step() -> None:
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


def test_conditions_are_read_outside_every_block() -> None:
    """Conditions are read around every block, and the time of reading is in none."""
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
