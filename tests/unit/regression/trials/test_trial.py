"""Trials carried out on a fake runtime: looks, confirmation, verdicts, and being killed."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.domain import Status
from orchestrator.errors import InputError
from orchestrator.regression.model import Judged, Regression
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import Gate, Rules
from orchestrator.regression.trials.files import stored_regression, stored_trial
from orchestrator.results.store import Run
from tests.unit.regression.trials.bench_trials import (
    Bench,
    begin,
    crash,
    go_on,
    steady,
    try_out,
    unbuildable,
    unsupported,
)

Pair = Callable[..., Pairing]
OLD, NEW = "mxnet-1.5.1-cpu", "mxnet-1.9.1-cpu"


def metric(found: Regression, name: str = "throughput", pair: int = 0) -> Judged:
    return next(each for each in found.pairs[pair].metrics if each.metric == name)


def test_a_slower_candidate_is_found_and_confirmed(tmp_path: Path, pair: Pair) -> None:
    """A slower candidate is found at the first look and confirmed on as many fresh blocks."""
    runtime = Bench(rate=steady(**{"1.9.1": 0.9}))
    found = try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), runtime)

    judged = metric(found)
    assert (found.pairs[0].verdict, judged.verdict, judged.blocks) == (Verdict.SLOWER, Verdict.SLOWER, 6)
    assert judged.low is not None
    assert judged.high is not None
    assert judged.low < 0.9 < judged.high < 1
    assert judged.confirmation is not None
    assert (judged.confirmation.confirmed, judged.confirmation.blocks) == (True, 6)
    assert [each.id for each in found.regressions] == ["cpu/lenet-train-b200"]
    assert Counter(cell for cell, _ in runtime.measured) == {
        f"{OLD}/lenet-train-b200": 12,
        f"{NEW}/lenet-train-b200": 12,
    }


def test_every_block_holds_both_sides(tmp_path: Path, pair: Pair) -> None:
    runtime = Bench()
    try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1", "models: [lenet, mlp]"), runtime)

    blocks = [repeat for _, repeat in runtime.measured]
    assert blocks == sorted(blocks)
    assert set(Counter(blocks).values()) <= {4, 2}


def test_only_undecided_pairs_go_on(tmp_path: Path, pair: Pair) -> None:
    """Only undecided pairs go on, and the plan grows with them."""

    def rate(cell: str, repeat: int) -> float:
        # A pair that hovers at the edge of the tolerance stays undecided.
        return steady(**{"1.9.1-cpu/mlp": 1 / 1.02})(cell, repeat)

    folder = tmp_path / "run"
    runtime = Bench(rate=rate)
    found = try_out(folder, pair("mxnet==1.5.1", "mxnet==1.9.1", "models: [lenet, mlp]"), runtime, Rules(confirm=False))

    lenet, mlp = metric(found, pair=0), metric(found, pair=1)
    assert (lenet.verdict, lenet.blocks) == (Verdict.SAME, 6)
    assert mlp.blocks == 24
    plan = Run(folder).plan()
    assert {cell.id.partition("/")[2][:4]: cell.repeats for cell in plan.cells} == {"lene": 6, "mlp-": mlp.blocks}
    assert len(list(Run(folder).outcomes(plan.cells))) == sum(cell.repeats for cell in plan.cells)


def test_what_is_not_slower_again_is_no_regression(tmp_path: Path, pair: Pair) -> None:
    def rate(cell: str, repeat: int) -> float:
        return steady(**({"1.9.1": 0.9} if repeat < 6 else {}))(cell, repeat)

    found = try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(rate=rate))

    judged = metric(found)
    assert (judged.verdict, found.regressions) == (Verdict.INCONCLUSIVE, ())
    assert judged.reason == "slower on 6 blocks, and not on 6 fresh ones"
    assert judged.confirmation is not None
    assert not judged.confirmation.confirmed


def test_noisy_fresh_blocks_can_confirm_a_slowdown(tmp_path: Path, pair: Pair) -> None:
    """Fresh blocks confirm a slowdown even if they alone cannot show it all to be beyond the tolerance."""

    def rate(cell: str, repeat: int) -> float:
        drawn = random.Random(f"{cell} {repeat}").gauss(0, 0.003 if repeat < 6 else 0.02)
        return 1000 * (1 + drawn) * (0.95 if "1.9.1" in cell else 1)

    found = try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(rate=rate))

    again = metric(found).confirmation
    assert again is not None
    assert again.high is not None
    assert 1 / 1.02 < again.high < 1
    assert again.confirmed
    assert found.regressions


def test_fresh_blocks_within_tolerance_confirm_nothing(tmp_path: Path, pair: Pair) -> None:
    """Fresh blocks that are worse by less than the tolerance confirm nothing."""

    def rate(cell: str, repeat: int) -> float:
        return steady(**{"1.9.1": 0.95 if repeat < 6 else 0.985})(cell, repeat % 6)

    found = try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(rate=rate))

    again = metric(found).confirmation
    assert again is not None
    assert again.high is not None
    assert again.high < 1
    assert not again.confirmed
    assert not found.regressions


def test_without_confirmation_slower_is_a_regression_at_once(tmp_path: Path, pair: Pair) -> None:
    runtime = Bench(rate=steady(**{"1.9.1": 0.9}))
    found = try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), runtime, Rules(confirm=False))

    assert len(found.regressions) == 1
    assert (metric(found).confirmation, len(runtime.measured)) == (None, 12)


def test_a_release_is_the_same_as_itself(tmp_path: Path, pair: Pair) -> None:
    """A release that is compared with itself is measured twice and is the same."""
    runtime = Bench(rate=lambda cell, repeat: 1000.0 + repeat % 3 + len(cell) % 2)
    found = try_out(tmp_path / "run", pair("mxnet==1.9.1", "mxnet==1.9.1"), runtime)

    assert found.pairs[0].verdict is Verdict.SAME
    assert len(set(runtime.measured)) == len(runtime.measured) == 12


def test_a_crashing_side_is_broke_or_fixed(tmp_path: Path, pair: Pair) -> None:
    """A candidate that crashes broke, and a baseline that crashed is fixed."""
    broke = try_out(tmp_path / "a", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(ends={"1.9.1": crash}))
    fixed = try_out(tmp_path / "b", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(ends={"1.5.1": crash}))

    assert (broke.pairs[0].verdict, len(broke.regressions)) == (Verdict.BROKE, 1)
    assert broke.pairs[0].reason.startswith("failed: ")
    assert (fixed.pairs[0].verdict, fixed.regressions) == (Verdict.FIXED, ())


def test_unsupported_by_the_candidate_means_gone(tmp_path: Path, pair: Pair) -> None:
    """A cell that the candidate does not support any more is gone."""
    found = try_out(tmp_path / "a", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(ends={"1.9.1": unsupported}))

    assert (found.pairs[0].verdict, found.regressions) == (Verdict.GONE, ())


def test_a_failed_install_is_not_measured(tmp_path: Path, pair: Pair) -> None:
    """A release that cannot be installed shows neither a regression nor health."""
    image = "bench/mxnet:1.9.1-cpu"
    found = try_out(
        tmp_path / "a", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(unavailable={image: unbuildable(image)})
    )

    assert (found.pairs[0].verdict, found.regressions) == (Verdict.NOT_MEASURED, ())
    assert found.pairs[0].reason == "candidate: build_failed: no matching distribution"


def test_a_failed_repeats_block_does_not_count(tmp_path: Path, pair: Pair) -> None:
    """A single repeat that fails is reported, and its block does not count."""
    tries = Counter[str]()

    def sometimes(cell: str, repeat: int) -> float:
        tries[cell] += 1
        return 1000.0 + repeat if not ("1.9.1" in cell and repeat == 2) else -1.0

    found = try_out(
        tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(rate=sometimes), Rules(looks=(6,), confirm=False)
    )

    assert metric(found).blocks == 5
    assert any(
        note.startswith("1 of 6 repeats of the candidate did not end ok: invalid_result")
        for note in found.pairs[0].notes
    )


def test_another_python_is_another_environment(tmp_path: Path, pair: Pair) -> None:
    found = try_out(
        tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(facts={"1.9.1": {"python": "3.12.1"}})
    )

    assert (found.pairs[0].verdict, found.pairs[0].reason) == (
        Verdict.NOT_COMPARABLE,
        "environment: Python 3.11 against 3.12",
    )
    assert (found.baseline.python, found.candidate.python) == ("3.11.7", "3.12.1")


def test_other_work_is_not_comparable(tmp_path: Path, pair: Pair) -> None:
    """A candidate that does other work is not comparable, and its drift is a regression."""
    drift = {"losses": {"1": 2.3, "3": 2.2, "10": 1.0}}
    found = try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(parity={"1.9.1": drift}))

    throughput, loss = metric(found), metric(found, "loss")
    assert throughput.verdict is Verdict.NOT_COMPARABLE
    assert throughput.reason.startswith("parity: loss after 10 steps")
    assert (loss.verdict, loss.is_regression) == (Verdict.SLOWER, True)
    assert found.pairs[0].is_regression


def test_metrics_without_a_gate_alarm_nobody(tmp_path: Path, pair: Pair) -> None:
    """Metrics that do not gate are shown and alarm nobody."""
    runtime = Bench(rate=steady(**{"1.9.1": 0.9}))
    rules = Rules(gates=(Gate("peak_memory", 0.05),))
    found = try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), runtime, rules)

    assert (metric(found).verdict, metric(found).gates) == (Verdict.SLOWER, False)
    assert (found.pairs[0].verdict, found.regressions) == (Verdict.SAME, ())


def test_a_tolerance_may_be_that_of_one_model(tmp_path: Path, pair: Pair) -> None:
    runtime = Bench(rate=steady(**{"1.9.1": 0.9}))
    rules = Rules(gates=(Gate("throughput", 0.02), Gate("throughput", 0.3, "mlp")), confirm=False)
    found = try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1", "models: [lenet, mlp]"), runtime, rules)

    assert [(each.model, each.verdict) for each in found.pairs] == [("lenet", Verdict.SLOWER), ("mlp", Verdict.SAME)]


def test_a_stopped_trial_reaches_the_same_end(tmp_path: Path, pair: Pair) -> None:
    """A trial that was stopped goes on where it stopped and comes to the same end."""
    rate = steady(**{"1.9.1": 0.9})
    whole = Bench(rate=rate)
    expected = try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), whole)

    folder = tmp_path / "again" / "run"
    begin(folder, pair("mxnet==1.5.1", "mxnet==1.9.1"), Rules())
    first = Bench(rate=rate, stop_after=15)
    half = go_on(folder, first)
    second = Bench(rate=rate)
    found = go_on(folder, second)

    assert not half.complete
    assert half.regressions == ()
    assert half.pairs[0].metrics[0].reason == "slower on 6 blocks, and stopped before it was confirmed"
    assert found == expected == stored_regression(Run(folder))
    done = first.measured[:15] + second.measured
    assert sorted(done) == sorted(whole.measured)


def test_packages_that_moved_beside_the_release_are_named(tmp_path: Path, pair: Pair) -> None:
    versions = {
        "bench/mxnet:1.5.1-cpu": (("numpy", "1.16.6"), ("mxnet", "1.5.1"), ("idna", "2.6")),
        "bench/mxnet:1.9.1-cpu": (("numpy", "1.23.5"), ("mxnet", "1.9.1"), ("idna", "2.6")),
    }
    found = try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(versions=versions))

    assert [(each.name, each.baseline, each.candidate) for each in found.moved] == [
        ("mxnet", "1.5.1", "1.9.1"),
        ("numpy", "1.16.6", "1.23.5"),
    ]


def test_the_more_is_decided_the_wider_the_intervals(tmp_path: Path, pair: Pair) -> None:
    one = try_out(tmp_path / "a", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(), Rules(confirm=False))
    lines = "models: [lenet, mlp]\nmodes: [train, infer]"
    four = try_out(tmp_path / "b", pair("mxnet==1.5.1", "mxnet==1.9.1", lines), Bench(), Rules(confirm=False))

    assert (one.family, four.family) == (1, 4)
    assert metric(four).confidence > metric(one).confidence  # type: ignore[operator]


def test_a_run_that_is_no_trial_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no regression test"):
        stored_trial(Run(tmp_path))
    (tmp_path / "trial.json").write_text("{")
    with pytest.raises(InputError, match=r"not a regression test: Invalid JSON: .*; bring back a copy, or test again"):
        stored_trial(Run(tmp_path))


def test_a_broken_judgement_names_its_remedy(tmp_path: Path, pair: Pair) -> None:
    """A broken judgement says how it is made anew, and doing so works."""
    folder = tmp_path / "run"
    judged = try_out(folder, pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(), Rules(confirm=False))
    (folder / "regression.json").write_text("{")
    remedy = rf"`orchestrator regress --resume run --results {tmp_path}` makes it again"
    with pytest.raises(InputError, match=rf"regression\.json: not a regression: Invalid JSON: .*; {remedy}"):
        stored_regression(Run(folder))

    assert go_on(folder, Bench()) == judged
    assert stored_regression(Run(folder)) == judged


def test_every_planned_repeat_has_one_outcome(tmp_path: Path, pair: Pair) -> None:
    folder = tmp_path / "run"
    try_out(folder, pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(rate=steady(**{"1.9.1": 0.9})))

    plan = Run(folder).plan()
    outcomes = list(Run(folder).outcomes(plan.cells))
    assert len(outcomes) == sum(cell.repeats for cell in plan.cells) == 24
    assert {outcome.status for outcome in outcomes} == {Status.OK}
