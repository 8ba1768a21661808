"""Trials with an anchor as a third side of their blocks."""

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.anchoring import Anchor, anchored
from orchestrator.regression.model import Anchored, Regression
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import Gate, Rules
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.carry_out import first_plan, trial_of
from orchestrator.regression.trials.files import store_trial, stored_trial
from orchestrator.results.records import plan_to_json
from orchestrator.results.store import Run
from tests.unit.regression.trials.bench_trials import Bench, begin, crash, go_on, steady

Pair = Callable[..., Pairing]
ANCHOR = Anchor(Side("mxnet", "1.5.1"), 0.05)
RULES = Rules(gates=(Gate("throughput", 0.02),))


def try_anchored(
    folder: Path, runtime: Bench, pairing: Pairing, chain: list[Pairing], anchor: Anchor = ANCHOR
) -> Regression:
    begin_anchored(folder, pairing, chain, anchor)
    return go_on(folder, runtime)


def begin_anchored(folder: Path, pairing: Pairing, chain: list[Pairing], anchor: Anchor = ANCHOR) -> None:
    whole, found = anchored(pairing, anchor, chain)
    begin(folder, whole, RULES)
    run = Run(folder)
    store_trial(run, trial_of(whole, RULES, found))
    run.write_record(run.record().model_copy(update={"plan": plan_to_json(first_plan(whole.plan, RULES))}))


def next_to(found: Regression) -> Anchored:
    assert found.anchored is not None
    return found.anchored


@pytest.fixture
def two(pair: Pair) -> Pairing:
    return pair("mxnet==1.8.0", "mxnet==1.9.1")


@pytest.fixture
def direct(pair: Pair) -> list[Pairing]:
    return [pair("mxnet==1.5.1", "mxnet==1.9.1")]


def test_a_drift_is_slower_next_to_the_anchor_alone(tmp_path: Path, two: Pairing, direct: list[Pairing]) -> None:
    """The last release is the same as its baseline, and both are 9 % slower than the anchor."""
    runtime = Bench(rate=steady(**{"1.8.0": 0.91, "1.9.1": 0.91}))
    found = try_anchored(tmp_path / "run", runtime, two, direct)

    assert (found.pairs[0].verdict, found.regressions) == (Verdict.SAME, ())
    (pair,) = next_to(found).pairs
    (metric,) = pair.metrics
    assert (pair.baseline_cell, metric.verdict, metric.tolerance) == (
        "mxnet-1.5.1-cpu/lenet-train-b200", Verdict.SLOWER, 0.05,
    )  # fmt: skip
    assert metric.confirmation is not None
    assert metric.confirmation.confirmed
    assert (found.family, next_to(found).links) == (2, ())


def test_a_loss_within_the_anchors_tolerance_is_the_same(tmp_path: Path, two: Pairing, direct: list[Pairing]) -> None:
    found = try_anchored(tmp_path / "run", Bench(rate=steady(**{"1.8.0": 0.97, "1.9.1": 0.97})), two, direct)

    assert [pair.verdict for pair in next_to(found).pairs] == [Verdict.SAME]


def test_every_block_holds_all_three_sides(tmp_path: Path, two: Pairing, direct: list[Pairing]) -> None:
    """A pair and its anchor go on together, though the pair is decided at the first look."""
    runtime = Bench(rate=steady(**{"1.8.0": 0.95, "1.9.1": 0.95}))
    found = try_anchored(tmp_path / "run", runtime, two, direct)

    assert (found.pairs[0].metrics[0].blocks, next_to(found).pairs[0].metrics[0].blocks) == (6, 24)
    assert set(Counter(cell for cell, _ in runtime.measured).values()) == {24}
    assert len({cell for cell, _ in runtime.measured}) == 3


def test_a_stopped_anchored_trial_reaches_the_same_end(tmp_path: Path, two: Pairing, direct: list[Pairing]) -> None:
    rate = steady(**{"1.8.0": 0.91, "1.9.1": 0.91})
    expected = try_anchored(tmp_path / "run", Bench(rate=rate), two, direct)

    folder = tmp_path / "again" / "run"
    begin_anchored(folder, two, direct)
    half = go_on(folder, Bench(rate=rate, stop_after=25))
    assert not half.complete
    assert not next_to(half).pairs[0].is_regression
    assert go_on(folder, Bench(rate=rate)) == expected


def test_a_broken_anchor_blames_nobody(tmp_path: Path, two: Pairing, direct: list[Pairing]) -> None:
    found = try_anchored(tmp_path / "run", Bench(ends={"1.5.1": crash}), two, direct)

    assert (found.pairs[0].verdict, found.regressions) == (Verdict.SAME, ())
    assert next_to(found).pairs[0].verdict is Verdict.FIXED


def test_a_chain_multiplies_its_ratios(tmp_path: Path, pair: Pair, two: Pairing) -> None:
    """The release in the middle is faster on the later Python, which does not count."""
    chain = [pair("mxnet==1.4.1", "mxnet==1.8.0"), two]
    rate = steady(**{"1.8.0-python": 0.94, "1.8.0": 1.2, "1.9.1": 1.2})
    old = {"facts": {"python": "3.6.15"}}
    runtime = Bench(rate=rate, facts={"1.4.1": old["facts"], "1.8.0-python": old["facts"]})
    anchor = replace(ANCHOR, side=Side("mxnet", "1.4.1"), over=("1.8.0",))
    found = try_anchored(tmp_path / "run", runtime, two, chain, anchor)

    (metric,) = next_to(found).pairs[0].metrics
    assert metric.ratio == pytest.approx(0.94, abs=0.01)
    assert metric.verdict is Verdict.INCONCLUSIVE or metric.is_regression
    one, other = next_to(found).links
    assert (one.baseline, one.candidate, one.python) == ("1.4.1", "1.8.0", "3.6")
    assert (other.baseline, other.candidate) == ("1.8.0", "1.9.1")
    assert one.ratio * other.ratio == pytest.approx(metric.ratio)


def test_the_errors_of_a_chain_add_up(tmp_path: Path, pair: Pair, two: Pairing) -> None:
    """The interval of the product is as wide as the sum of the variances says."""
    chain = [pair("mxnet==1.4.1", "mxnet==1.8.0"), two]
    anchor = replace(ANCHOR, side=Side("mxnet", "1.4.1"), over=("1.8.0",))
    old = {"python": "3.6.15"}
    runtime = Bench(facts={"1.4.1": old, "1.8.0-python": old})
    found = try_anchored(tmp_path / "run", runtime, two, chain, anchor)

    (metric,) = next_to(found).pairs[0].metrics
    logs = [math.log(candidate / baseline) for baseline, candidate in metric.values]
    mean = math.fsum(logs) / len(logs)
    error = math.sqrt(math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1) / len(logs))
    added = math.sqrt(sum(link.error**2 for link in next_to(found).links))
    assert error == pytest.approx(added, rel=0.35)
    assert error > max(link.error for link in next_to(found).links)


def test_a_link_across_pythons_is_not_comparable(tmp_path: Path, two: Pairing, direct: list[Pairing]) -> None:
    found = try_anchored(tmp_path / "run", Bench(facts={"1.5.1": {"python": "3.6.15"}}), two, direct)

    (pair,) = next_to(found).pairs
    assert (pair.verdict, pair.reason) == (Verdict.NOT_COMPARABLE, "environment: Python 3.6 against 3.11")


def test_an_older_trial_has_no_anchor(tmp_path: Path, two: Pairing) -> None:
    begin(tmp_path / "run", two, RULES)
    path = tmp_path / "run" / "trial.json"
    document = json.loads(path.read_text())
    del document["anchor"], document["rules"]["doubted"]
    path.write_text(json.dumps(document))

    assert stored_trial(Run(tmp_path / "run")) == trial_of(two, RULES)


def test_a_doubted_series_takes_twice_the_fresh_blocks(tmp_path: Path, two: Pairing) -> None:
    rules = replace(RULES, doubted=(("cpu/lenet-train-b200", "throughput"),))
    begin(tmp_path / "run", two, rules)
    found = go_on(tmp_path / "run", Bench(rate=steady(**{"1.9.1": 0.9})))

    (metric,) = (each for each in found.pairs[0].metrics if each.gates)
    assert metric.confirmation is not None
    assert (metric.blocks, metric.confirmation.blocks, metric.is_regression) == (6, 12, True)


def test_a_doubted_series_needs_the_verdict_again(tmp_path: Path, two: Pairing) -> None:
    """Fresh blocks that are worse by little more than the tolerance confirm any other series."""

    def rate(cell: str, repeat: int) -> float:
        return steady(**{"1.9.1": 0.9 if repeat < 6 else 0.9774})(cell, repeat)

    ends = {}
    for name, doubted in (("any", ()), ("doubted", (("cpu/lenet-train-b200", "throughput"),))):
        begin(tmp_path / name, two, replace(RULES, doubted=doubted))
        found = go_on(tmp_path / name, Bench(rate=rate))
        ends[name] = found.pairs[0].is_regression
    assert ends == {"any": True, "doubted": False}
