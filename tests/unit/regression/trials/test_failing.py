"""Trials in which repeats, checks or whole sides fail: what may be said of the candidate then."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.processes import Cause
from orchestrator.regression.model import Judged, Regression
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import DEFAULT_GATES, Gate, Rules
from orchestrator.regression.stored_runs.comparison import compare_runs
from orchestrator.regression.stored_runs.operands import Operand
from orchestrator.results.store import Run
from orchestrator.runtimes import Ended, Task
from tests.unit.regression.trials.bench_trials import Bench, at, crash, lost, steady, try_out, unsupported

Pair = Callable[..., Pairing]
End = Callable[[Task], Ended | None]
CELL = "lenet-train-b200"
ONE_LOOK = Rules(looks=(6,), confirm=False)
LONG = Rules(looks=(24,), confirm=False)


@pytest.fixture
def tried(tmp_path: Path, pair: Pair) -> Callable[[Bench, Rules], Regression]:
    """Carry out mxnet 1.9.1 beside 1.5.1."""
    return lambda runtime, rules: try_out(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1"), runtime, rules)


Tried = Callable[[Bench, Rules], Regression]


def metric(found: Regression, name: str = "throughput") -> Judged:
    return next(each for each in found.pairs[0].metrics if each.metric == name)


@pytest.mark.parametrize("failing", [(2,), (0, 3), (0, 3, 5)])
def test_a_few_crashes_leave_the_pair_inconclusive(tried: Tried, failing: tuple[int, ...]) -> None:
    """A candidate that crashes in up to half of a few repeats is not shown to be as good."""
    found = tried(Bench(ends={"1.9.1": at(crash, *failing)}), ONE_LOOK)

    (pair,) = found.pairs
    assert (pair.verdict, found.regressions, found.doubtful) == (Verdict.INCONCLUSIVE, (), (pair,))
    counted = f"{len(failing)} of 6 repeats of the candidate failed, and none of the baseline's: failed: "
    assert metric(found).reason.startswith(f"same by its figures, but {counted}")


def test_crashes_beyond_chance_mean_broke(tried: Tried) -> None:
    """A candidate that crashes more often than chance explains broke."""
    found = tried(Bench(ends={"1.9.1": at(crash, *range(0, 24, 3))}), LONG)

    (pair,) = found.pairs
    assert (pair.verdict, found.regressions) == (Verdict.BROKE, (pair,))
    assert pair.reason.startswith("8 of 24 repeats failed, and 0 of 24 of the baseline's (p = 0.0019): failed: ")


def test_baseline_crashes_beyond_chance_mean_fixed(tried: Tried) -> None:
    """A baseline that crashed more often than chance explains is fixed."""
    found = tried(Bench(ends={"1.5.1": at(crash, *range(0, 24, 3))}), LONG)

    (pair,) = found.pairs
    assert (pair.verdict, found.regressions, found.doubtful) == (Verdict.FIXED, (), ())
    assert pair.reason.startswith("the baseline: 8 of 24 repeats failed, and 0 of 24 of the candidate's")


def slow_to_end(task: Task) -> Ended:
    return Ended(Cause.TIMED_OUT, None, wall_s=1.0)


def unimportable(task: Task) -> Ended:
    task.log.write_text("ImportError: libmkl.so\n")
    return Ended(Cause.EXITED, 4, wall_s=1.0)


def first_then(first: Callable[[Task], Ended], then: Callable[[Task], Ended]) -> End:
    """End so in the first repeat, and otherwise in all others."""
    return lambda task: at(first, 0)(task) or then(task)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ({"1.9.1": first_then(slow_to_end, lost)}, "candidate: timeout: "),
        ({"1.9.1": first_then(crash, lost), "1.5.1": at(lost, *range(1, 6))}, "candidate: failed: "),
        ({"1.9.1": crash, "1.5.1": at(lost, *range(1, 6))}, "candidate: failed: "),
        ({"1.5.1": first_then(slow_to_end, lost)}, "baseline: timeout: "),
    ],
)
def test_a_single_informative_repeat_is_no_alarm(tried: Tried, ends: Mapping[str, End], said: str) -> None:
    """A pair of which a single repeat of a side says something is no alarm."""
    found = tried(Bench(ends=ends), ONE_LOOK)

    (pair,) = found.pairs
    assert (pair.verdict, found.regressions, found.tells_nothing) == (Verdict.NOT_MEASURED, (), True)
    assert pair.reason.startswith(said)
    assert pair.reason.endswith("; a single repeat of a side says nothing of how often it fails")


@pytest.mark.parametrize("end", [first_then(unimportable, lost), unimportable])
def test_a_failed_import_broke_in_few_repeats(tried: Tried, end: End) -> None:
    """A release that cannot be imported broke, in however few repeats."""
    (pair,) = tried(Bench(ends={"1.9.1": end}), ONE_LOOK).pairs

    assert (pair.verdict, pair.reason.partition(":")[0]) == (Verdict.BROKE, "import_failed")


def test_two_repeats_that_both_fail_are_enough(tried: Tried) -> None:
    (pair,) = tried(Bench(ends={"1.9.1": crash}), Rules(looks=(2,), confirm=False)).pairs

    assert pair.verdict is Verdict.BROKE


def test_a_shared_level_takes_more_failures(tmp_path: Path, pair: Pair) -> None:
    """A level that many pairs share takes more failures to call a candidate broken."""
    sizes = "batch_size: [100, 200, 300]"
    lines = f"models: [{{name: lenet, {sizes}}}, {{name: mlp, {sizes}}}]"
    ends = {"1.9.1-cpu/lenet-train-b200": at(crash, *range(6))}
    rules = Rules(looks=(24,), confirm=False)
    alone = try_out(tmp_path / "a", pair("mxnet==1.5.1", "mxnet==1.9.1"), Bench(ends=ends), rules)
    among = try_out(tmp_path / "b", pair("mxnet==1.5.1", "mxnet==1.9.1", lines), Bench(ends=ends), rules)

    # p = 0.011: below 5 %, and above a sixth of it.
    assert len(among.pairs) == 6
    assert alone.pairs[0].verdict is Verdict.BROKE
    (doubted,) = among.doubtful
    assert (doubted.id, doubted.verdict) == ("cpu/lenet-train-b200", Verdict.INCONCLUSIVE)


def test_an_occasionally_failing_pair_goes_on(tried: Tried) -> None:
    """A pair that fails now and then goes on until the failures decide."""
    runtime = Bench(ends={"1.9.1": at(crash, *range(1, 24, 4))})
    found = tried(runtime, Rules(confirm=False))

    assert found.pairs[0].verdict is Verdict.BROKE
    assert len(runtime.measured) == 2 * 24


@pytest.mark.parametrize(
    "ends", [{"1.5.1": at(crash, 2)}, {"1.5.1": at(crash, 2), "1.9.1": at(crash, 4)}], ids=["baseline", "both"]
)
def test_equally_failing_candidates_may_be_as_good(tried: Tried, ends: Mapping[str, End]) -> None:
    """A candidate that fails no more often may be as good, and the failures are reported."""
    found = tried(Bench(ends=ends), ONE_LOOK)

    assert found.pairs[0].verdict is Verdict.SAME
    failures = [note.partition(" did not end ok")[0] for note in found.pairs[0].notes if "did not end ok" in note]
    assert failures == [f"1 of 6 repeats of the {'baseline' if '1.5.1' in word else 'candidate'}" for word in ends]


def test_stored_runs_are_held_to_the_same(tmp_path: Path, tried: Tried) -> None:
    verdicts = {}
    for failing in (1, 8):
        tried(Bench(ends={"1.9.1": at(crash, *range(failing))}), LONG)
        run = (tmp_path / "run").rename(tmp_path / str(failing))
        sides = ("1.5.1", f"mxnet-1.5.1-cpu/{CELL}"), ("1.9.1", f"mxnet-1.9.1-cpu/{CELL}")
        one, other = (Operand(name, (Run(run),), cell_ids=frozenset({cell})) for name, cell in sides)
        (pair,) = compare_runs(one, other, DEFAULT_GATES).pairs
        verdicts[failing] = pair.verdict, pair.reason or pair.metrics[0].reason

    assert [verdict for verdict, _ in verdicts.values()] == [Verdict.INCONCLUSIVE, Verdict.BROKE]
    assert "1 of 24 repeats of the candidate failed" in verdicts[1][1]
    assert verdicts[8][1].startswith("8 of 24 repeats failed")


def test_a_slower_pair_stays_slower_despite_failures(tried: Tried) -> None:
    """A pair that is slower stays so, whatever fails next to it."""
    found = tried(Bench(rate=steady(**{"1.9.1": 0.8}), ends={"1.9.1": at(crash, 2)}), ONE_LOOK)

    assert (found.pairs[0].verdict, metric(found).is_regression) == (Verdict.SLOWER, True)


SLOW = steady(**{"1.9.1": 0.9})


def test_failing_all_fresh_blocks_means_broke(tried: Tried) -> None:
    """A candidate that fails in all fresh blocks broke and confirms no slowdown."""
    found = tried(Bench(rate=SLOW, ends={"1.9.1": at(crash, *range(6, 12))}), Rules())

    (pair,) = found.pairs
    assert (pair.verdict, found.regressions) == (Verdict.BROKE, (pair,))
    assert pair.reason.startswith("slower on 6 blocks, and on fresh ones failed: ")
    assert pair.metrics == ()


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ({"1.9.1": lost}, "candidate: launch_failed: "),
        ({"1.5.1": crash}, "the baseline: failed: "),
        ({"mxnet": crash}, "neither side runs: failed: "),
        ({"1.9.1": unsupported}, "unsupported: "),
    ],
)
def test_fresh_blocks_that_tell_nothing_confirm_no_slowdown(
    tried: Tried, ends: Mapping[str, Callable[[Task], Ended]], said: str
) -> None:
    fresh = {word: at(end, *range(6, 12)) for word, end in ends.items()}
    found = tried(Bench(rate=SLOW, ends=fresh), Rules())

    (pair,) = found.pairs
    assert (pair.verdict, found.regressions, found.doubtful) == (Verdict.INCONCLUSIVE, (), (pair,))
    assert metric(found).reason.startswith(f"slower on 6 blocks; fresh ones show nothing: {said}")
    assert metric(found).confirmation is None


def test_a_single_fresh_block_confirms_nothing(tried: Tried) -> None:
    """A single fresh block with both sides confirms nothing."""
    ends = {"1.9.1": at(crash, 6, 7, 8), "1.5.1": at(crash, 9, 10)}
    found = tried(Bench(rate=SLOW, ends=ends), Rules())

    assert (found.pairs[0].verdict, found.regressions) == (Verdict.INCONCLUSIVE, ())
    assert "fresh ones show nothing: one measurement says nothing about scatter" in metric(found).reason


def test_a_loss_without_parity_answer_is_unmeasured(tried: Tried) -> None:
    """A loss without an answer of the parity check is not measured, with the reason."""
    found = tried(Bench(parity_ends={"1.9.1": crash}), ONE_LOOK)

    (pair,) = found.pairs
    assert (metric(found).verdict, metric(found, "loss").verdict) == (Verdict.SAME, Verdict.NOT_MEASURED)
    assert metric(found, "loss").reason.startswith("parity: mxnet 1.9.1: its parity check ended as failed: ")
    assert (pair.verdict, found.doubtful, found.tells_nothing) == (Verdict.NOT_MEASURED, (pair,), False)
    assert pair.reason == f"loss after ten steps: {metric(found, 'loss').reason}"


def test_a_loss_without_a_gate_is_not_missed(tried: Tried) -> None:
    """A loss that is not to decide is not missed."""
    rules = Rules(gates=(Gate("throughput", 0.02),), looks=(6,), confirm=False)
    found = tried(Bench(parity_ends={"1.9.1": crash}), rules)

    assert found.pairs[0].verdict is Verdict.SAME
    assert "loss" not in {each.metric for each in found.pairs[0].metrics}


@pytest.mark.parametrize("ends", [{"mxnet": crash}, {"1.9.1": lost}])
def test_a_test_without_verdicts_shows_nothing(tried: Tried, ends: Mapping[str, End]) -> None:
    """A test in which no pair has a verdict says nothing."""
    found = tried(Bench(ends=ends), ONE_LOOK)

    assert (found.tells_nothing, found.regressions) == (True, ())


def test_a_models_tolerance_leaves_the_others_theirs(tmp_path: Path, pair: Pair) -> None:
    """A tolerance for one model leaves the other models theirs."""
    rules = Rules(gates=(Gate("throughput", 0.3, "mlp"),), confirm=False)
    found = try_out(
        tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1", "models: [lenet, mlp]"), Bench(rate=SLOW), rules
    )

    assert [(each.model, each.verdict) for each in found.pairs] == [("lenet", Verdict.SLOWER), ("mlp", Verdict.SAME)]


def flood(task: Task) -> Ended:
    """Leave more in the folder than the matrix allows."""
    with (task.folder / "flood").open("wb") as file:
        file.truncate(3 * 2**30)
    return Ended(Cause.CUT_OFF, None, 1.0)


def test_a_candidate_that_floods_its_folder_broke(tried: Tried) -> None:
    found = tried(Bench(ends={"1.9.1": at(flood, *range(6))}), ONE_LOOK)

    (pair,) = found.pairs
    assert (pair.verdict, found.regressions) == (Verdict.BROKE, (pair,))
    assert "output_limit: wrote 3 GiB or more into its folder; the limit is 2 GiB" in pair.reason
