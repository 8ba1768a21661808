"""Stored runs held against each other: what is paired, what does not count, and the parts of the variance."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import modes
from orchestrator.analysis.comparison import Verdict
from orchestrator.domain import Framework, Skip
from orchestrator.errors import InputError
from orchestrator.regression.model import Judged, JudgedPair, Moved, Regression
from orchestrator.regression.pairing import Unpaired
from orchestrator.regression.rules import BY_NAME, DEFAULT_GATES, Rules, parse_gates
from orchestrator.regression.sides import Side
from orchestrator.regression.stored_runs.comparison import compare_runs
from orchestrator.regression.stored_runs.operands import Operand
from orchestrator.regression.trials.files import Trial, store_trial
from orchestrator.results.store import Run
from tests.unit.regression.stored_runs.measured_runs import NEW, OLD, Made, stored
from tests.unit.reporting import synthetic

HOSTS = (1000.0, 500.0, 250.0, 700.0, 900.0)
"""The host's effect in each night: far more than any release's."""


def of(release: str, *runs: Run) -> Operand:
    return Operand(f"{','.join(run.name for run in runs)}:mxnet=={release}", runs, Side("mxnet", release))


def releases(*runs: Run, others: tuple[Run, ...] = ()) -> Regression:
    """1.5.1 beside 1.9.1, in the same runs unless there are others."""
    return compare_runs(of("1.5.1", *runs), of("1.9.1", *(others or runs)), DEFAULT_GATES)


def only(found: Regression) -> JudgedPair:
    (pair,) = found.pairs
    return pair


def judged(pair: JudgedPair, metric: str = "throughput") -> Judged:
    return next(each for each in pair.metrics if each.metric == metric)


def around(rate: float) -> tuple[float, float]:
    return 0.999 * rate, 1.001 * rate


def slow_nights(results: Path, *, silent: dict[int, str] | None = None, count: int = 5) -> list[Run]:
    """Nights of both releases, of which the newer one is slower by a tenth; in some, a release has no result."""
    made = []
    for night in range(1, count + 1):
        lacking = (silent or {}).get(night)
        sides = [
            Made(framework, () if framework.version == lacking else around(rate * HOSTS[night - 1] + night / 10))
            for framework, rate in ((OLD, 1.0), (NEW, 0.9))
        ]
        made.append(stored(results, night, *sides))
    return made


def test_unmatched_cells_are_gone_or_new(tmp_path: Path) -> None:
    """A cell that only one run has is gone or new, with what the other run says of it."""
    cell = Made(OLD, workload=synthetic.MLP_EPOCHS).cell
    one = stored(
        tmp_path, 1, Made(rates=around(100)), Made(rates=around(100), workload=synthetic.MLP),
        skips=(Skip(cell.id, "excluded by matrix.yaml:12"),),
    )  # fmt: skip
    other = stored(
        tmp_path, 2, Made(rates=around(100)), Made(rates=around(100), workload=synthetic.MLP_EPOCHS),
    )  # fmt: skip
    found = compare_runs(Operand("run-1", (one,)), Operand("run-2", (other,)), DEFAULT_GATES)

    assert [(pair.id, pair.baseline_cell, pair.candidate_cell) for pair in found.pairs] == [
        ("cpu/lenet-train-b200", "mxnet-1.5.1-cpu/lenet-train-b200", "mxnet-1.5.1-cpu/lenet-train-b200"),
        ("cpu/mlp-train-b32", "mxnet-1.5.1-cpu/mlp-train-b32", ""),
        ("cpu/mlp-train-b256", "", "mxnet-1.5.1-cpu/mlp-train-b256"),
    ]
    assert [(pair.verdict, pair.reason) for pair in found.pairs[1:]] == [
        (Verdict.GONE, "it is not in the plan of run-2"),
        (Verdict.NEW, "excluded by matrix.yaml:12"),
    ]


def test_unmatched_cells_keep_their_release_in_names(tmp_path: Path) -> None:
    """Cells of several releases that only one run has keep the release in their names."""
    one = stored(tmp_path, 1, Made(OLD, around(100)), Made(NEW, around(100)))
    other = stored(tmp_path, 2, Made(NEW, around(100)))
    found = compare_runs(Operand("run-1", (one,)), Operand("run-2", (other,)), DEFAULT_GATES)

    assert [(pair.id, pair.verdict) for pair in found.pairs] == [
        ("mxnet-1.9.1-cpu/lenet-train-b200", Verdict.SAME),
        ("mxnet-1.5.1-cpu/lenet-train-b200", Verdict.GONE),
    ]


WITH = [replace(OLD, packages=(("numpy", version),)) for version in ("1.22.4", "1.23.5")]


def with_numpy(version: str, run: Run) -> Operand:
    side = Side("mxnet", "1.5.1", packages=(("numpy", version),))
    return Operand(f"{run.name}:{side.text}", (run,), side)


def of_side(framework: Framework, *runs: Run) -> Operand:
    """As RUN:baseline means it: by the ids of its cells."""
    return Operand("x", runs, cell_ids=frozenset({Made(framework).cell.id}))


@pytest.mark.parametrize(
    ("rates", "verdict", "said"),
    [
        ((1.0, 1.0), Verdict.SLOWER, "the candidate is 0 in 2 of 2"),
        ((1.0, 100.0), Verdict.INCONCLUSIVE, "the candidate is 0 in 1 of 2"),
    ],
)
def test_stored_runs_show_falls_to_0_as_worse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rates: tuple[float, ...], verdict: Verdict, said: str
) -> None:
    """By a metric that is 0 below ten samples/s."""
    metric = replace(BY_NAME["throughput"], take=lambda found: found.samples_per_s * (found.samples_per_s > 10))
    only_this = {**modes.RULES, "train": replace(modes.RULES["train"], metrics=(metric,))}
    monkeypatch.setattr(modes, "RULES", only_this)
    one = stored(tmp_path, 1, Made(OLD, around(100)), Made(NEW, rates))
    other = stored(tmp_path, 2, Made(OLD, around(101)), Made(NEW, rates))
    by_run, by_night = (judged(only(releases(one, others=(other,)))), judged(only(releases(one, other))))

    assert (by_run.verdict, by_run.reason) == (verdict, f"{said} measurements")
    # A night in which one repeat is 0 has a mean of 0.
    assert (by_night.verdict, by_night.reason) == (Verdict.SLOWER, "the candidate is 0 in 2 of 2 measurements")
    assert by_night.ratio is None
    assert releases(one, other).regressions


def test_exact_metric_of_a_mode_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = replace(
        BY_NAME["image_size"], name="image_mb", exact=lambda run: run.image_bytes and run.image_bytes / 1e6
    )
    monkeypatch.setattr(modes, "RULES", {**modes.RULES, "train": replace(modes.RULES["train"], metrics=(metric,))})
    sizes = {OLD: 2_000_000, NEW: 3_000_000}
    run = stored(tmp_path, 1, *(Made(each, around(100), size_bytes=size) for each, size in sizes.items()))

    size = judged(only(releases(run)), "image_mb")
    assert (size.baseline, size.candidate, size.verdict) == (2.0, 3.0, Verdict.SLOWER)


def test_labels_name_the_package_that_differs(tmp_path: Path) -> None:
    """Releases that differ by a package are named by it."""
    one, other = (stored(tmp_path, night, *(Made(each, around(100)) for each in WITH)) for night in (1, 2))
    old, new = "mxnet 1.5.1 with numpy 1.22.4", "mxnet 1.5.1 with numpy 1.23.5"

    for sides in (
        (with_numpy("1.22.4", one), with_numpy("1.23.5", one)),
        (of_side(WITH[0], one), of_side(WITH[1], one)),
        (of_side(WITH[0], one, other), of_side(WITH[1], one, other)),
    ):
        found = compare_runs(*sides, DEFAULT_GATES)
        assert (found.baseline.label, found.candidate.label) == (old, new)
        assert [pair.id for pair in found.pairs] == ["cpu/lenet-train-b200"]


def test_several_packages_are_compared_one_by_one(tmp_path: Path) -> None:
    """Runs of one release with several packages are compared package by package."""
    one, other = (stored(tmp_path, night, *(Made(each, around(100)) for each in WITH)) for night in (1, 2))
    found = compare_runs(Operand("run-1", (one,)), Operand("run-2", (other,)), DEFAULT_GATES)

    assert [(pair.id, pair.verdict) for pair in found.pairs] == [
        ("mxnet-1.5.1-numpy=1.22.4-cpu/lenet-train-b200", Verdict.SAME),
        ("mxnet-1.5.1-numpy=1.23.5-cpu/lenet-train-b200", Verdict.SAME),
    ]


def test_an_ambiguous_pin_is_refused(tmp_path: Path) -> None:
    """A pin that means several packages is refused, and the message offers one that means one."""
    run = stored(tmp_path, 1, *(Made(each, around(100)) for each in WITH))

    with pytest.raises(InputError, match=r"both meant; say which, .* or run-1:mxnet==1.5.1,numpy==1.23.5$"):
        compare_runs(of("1.5.1", run), of("1.5.1", run), DEFAULT_GATES)
    assert compare_runs(with_numpy("1.22.4", run), with_numpy("1.23.5", run), DEFAULT_GATES).pairs


def test_one_sided_regression_cells_stay_gone_or_new(tmp_path: Path) -> None:
    """A cell that a regression test could measure on one side alone stays gone or new."""
    run = stored(tmp_path, 1, Made(OLD, around(100)), Made(NEW, around(100)))
    lacking = Unpaired("cpu/lstm-train-b32", "mxnet-1.9.1-cpu/lstm-train-b32", "mxnet 1.5.1 has no lstm")
    new = replace(of("1.9.1", run), unpaired=(lacking,))
    found = compare_runs(of("1.5.1", run), new, DEFAULT_GATES).pairs[1]

    assert (found.id, found.candidate_cell, found.verdict, found.reason) == (
        lacking.id, lacking.cell_id, Verdict.NEW, "mxnet 1.5.1 has no lstm",
    )  # fmt: skip


def test_nights_are_paired_in_any_order(tmp_path: Path) -> None:
    """Nights of the same runs are paired in whatever order they are named."""
    one, two, three = slow_nights(tmp_path, count=3)
    found = releases(one, two, three, others=(three, one, two))

    assert judged(only(found)).low == pytest.approx(0.9, abs=0.005)
    assert judged(only(found)).high == pytest.approx(0.9, abs=0.005)
    assert found.pairs == releases(three, two, one).pairs
    assert found.created_at == "2026-01-03T03:00:00+00:00"


def test_a_one_sided_night_does_not_count(tmp_path: Path) -> None:
    """A night in which one side has no result does not count and is named."""
    runs = slow_nights(tmp_path, silent={2: "1.5.1", 4: "1.9.1"})
    pair = only(releases(*runs))
    throughput = judged(pair)

    assert throughput.blocks == 3
    assert throughput.baseline == pytest.approx((1000 * 250 * 900) ** (1 / 3), rel=0.01)
    assert (throughput.low, throughput.high) == (pytest.approx(0.9, abs=0.005), pytest.approx(0.9, abs=0.005))
    assert pair.notes[:4] == (
        "the baseline has no result in run-2: failed: exit status 139",
        "the candidate has no result in run-4: failed: exit status 139",
        "run-2 does not count: only one side has a result in it, and both are compared run by run",
        "run-4 does not count: only one side has a result in it, and both are compared run by run",
    )


def test_a_night_without_the_cell_is_named(tmp_path: Path) -> None:
    """A night whose plan has no such cell is named in a note."""
    *runs, _ = slow_nights(tmp_path)
    without = stored(tmp_path / "more", 5, Made(OLD, around(100)))
    pair = only(releases(*runs, without))

    assert judged(pair).blocks == 4
    assert pair.notes[0] == "the candidate has no result in run-5: it is not in its plan"


def test_nights_of_different_runs_are_not_paired(tmp_path: Path) -> None:
    runs = slow_nights(tmp_path, count=4)
    throughput = judged(only(releases(*runs[:2], others=tuple(runs[2:]))))

    assert (throughput.verdict, throughput.blocks) == (Verdict.INCONCLUSIVE, 2)
    assert throughput.nights is not None
    assert (throughput.nights.baseline, throughput.nights.candidate) == (2, 2)


def test_one_night_says_nothing_of_scatter(tmp_path: Path) -> None:
    """One night with a result says nothing of how nights scatter."""
    first, *rest = slow_nights(tmp_path, count=3)
    throughput = judged(only(releases(first, others=tuple(rest))))

    assert throughput.verdict is Verdict.INCONCLUSIVE
    assert throughput.reason == "one run of the baseline says nothing of how runs scatter; give two or more"


@pytest.mark.parametrize(("loss", "verdict"), [(0.65, Verdict.SAME), (0.6501, Verdict.SLOWER)])
def test_the_loss_is_compared_too(tmp_path: Path, loss: float, verdict: Verdict) -> None:
    run = stored(tmp_path, 1, Made(OLD, around(100), loss=0.65), Made(NEW, around(100), loss=loss))
    found = judged(only(releases(run)), "loss")

    assert (found.verdict, found.gates, found.baseline, found.candidate) == (verdict, True, 0.65, loss)


def test_a_loss_without_its_check_is_unmeasured(tmp_path: Path) -> None:
    """A loss that a parity check was to report and has not is not measured."""
    run = stored(tmp_path, 1, Made(OLD, around(100), loss=0.65), Made(NEW, around(100)))
    pair = only(releases(run))

    assert (pair.verdict, judged(pair, "loss").reason) == (
        Verdict.NOT_MEASURED,
        "parity: mxnet 1.9.1: no parity check of it was recorded",
    )


def test_image_sizes_are_compared_too(tmp_path: Path) -> None:
    """The size of images is compared too, and decides if it is asked to."""
    run = stored(tmp_path, 1, Made(OLD, around(100), size_bytes=1000), Made(NEW, around(100), size_bytes=1100))
    shown = judged(only(releases(run)), "image_size")
    gates = parse_gates(["image_size=20%"], "--metric", [])
    decides = only(compare_runs(of("1.5.1", run), of("1.9.1", run), gates))

    assert (shown.verdict, shown.gates, shown.ratio) == (Verdict.SLOWER, False, 1.1)
    assert (decides.verdict, [each.metric for each in decides.metrics if each.gates]) == (Verdict.SAME, ["image_size"])


def test_moved_packages_and_python_are_reported(tmp_path: Path) -> None:
    """The packages that moved, the Python and the way of measuring are reported."""
    python = {"python": "3.11.9"}
    runs = [
        stored(
            tmp_path, night,
            Made(OLD, around(100)), Made(NEW, around(100), numpy=numpy, facts=python),
        )
        for night, numpy in ((1, "1.22.4"), (2, "1.23.5"))
    ]  # fmt: skip
    found = releases(*runs)

    assert found.moved == (
        Moved(name="mxnet", baseline="1.5.1", candidate="1.9.1"),
        Moved(name="numpy", baseline="1.22.4", candidate="1.23.5"),
    )
    assert (found.baseline.python, found.candidate.python, found.measurement_version) == ("3.11.7", "3.11.9", 1)
    assert only(found).notes[0] == "packages of the candidate moved between run-1 and run-2: numpy 1.22.4 → 1.23.5"


def test_a_changing_environment_is_not_comparable(tmp_path: Path) -> None:
    """An environment that changes from night to night is not comparable."""
    *runs, _ = slow_nights(tmp_path)
    python = {"python": "3.8.20"}
    other = stored(tmp_path / "more", 5, Made(OLD, around(100), facts=python), Made(NEW, around(100), facts=python))
    pair = only(releases(*runs, other))

    assert (pair.verdict, pair.reason) == (
        Verdict.NOT_COMPARABLE,
        "environment: Python 3.11 against 3.8 (run-1, run-5)",
    )


def test_stand_ins_are_not_comparable_with_datasets(tmp_path: Path) -> None:
    """A stand-in is not comparable with the files of a dataset."""
    own, other = {"data": {"name": "mnist"}}, {"data": {"name": "mnist", "stand_in": True}}
    run = stored(tmp_path, 1, Made(OLD, around(100), facts=own), Made(NEW, around(100), facts=other))
    pair = only(releases(run))

    assert (pair.verdict, pair.reason) == (
        Verdict.NOT_COMPARABLE,
        "environment: files of the dataset its own against a stand-in",
    )


@pytest.mark.parametrize(
    ("rules", "follows"),
    [(Rules(looks=(2, 4)), True), (Rules(looks=(2,)), True), (Rules(looks=(4,)), False), (None, False)],
)
def test_blocks_chosen_by_sight_are_reported(tmp_path: Path, rules: Rules | None, follows: bool) -> None:
    """Blocks that a test chose by what it saw are reported as such."""
    four = (100.0, 100.1, 100.2, 100.3)
    run = stored(tmp_path, 1, Made(OLD, four), Made(NEW, four))
    if rules:
        store_trial(run, Trial(Side("mxnet", "1.5.1"), Side("mxnet", "1.9.1"), (), rules))

    assert releases(run).blocks_follow_sight is follows


def test_missing_parity_is_reported(tmp_path: Path) -> None:
    """If parity was not asked for, a note says so, of both runs or of one."""
    asked = stored(tmp_path, 1, Made(OLD, around(100), loss=0.65))
    other, third = (stored(tmp_path, night, Made(NEW, around(100))) for night in (2, 3))

    neither = only(compare_runs(Operand("run-2", (other,)), Operand("run-3", (third,)), DEFAULT_GATES))
    one = only(releases(asked, others=(other,)))
    assert "parity was not asked for: nothing says that both sides do the same work" in neither.notes
    assert "parity: not checked: mxnet 1.9.1: parity was not asked for in run-2" in one.notes


NOOP = Framework("noop", "1", python="3.11")


def slower_noop(results: Path, *, failing: bool = False) -> tuple[Run, Run]:
    """Two runs of mxnet at one speed and of noop, which gets slower or fails."""
    rates = () if failing else around(500)
    return (
        stored(results, 1, Made(OLD, around(100)), Made(NOOP, around(1000))),
        stored(results, 2, Made(OLD, around(100)), Made(NOOP, rates)),
    )


@pytest.mark.parametrize("failing", [False, True])
def test_what_computes_nothing_is_no_finding(tmp_path: Path, failing: bool) -> None:
    one, other = (Operand(run.name, (run,)) for run in slower_noop(tmp_path, failing=failing))
    found = compare_runs(one, other, DEFAULT_GATES, idle_builders={"noop"})

    assert [(pair.id, pair.verdict, pair.computes) for pair in found.pairs] == [
        ("mxnet-1.5.1-cpu/lenet-train-b200", Verdict.SAME, True),
        ("noop-1-cpu/lenet-train-b200", Verdict.NOT_COMPARABLE, False),
    ]
    idle = found.pairs[1]
    assert idle.reason == "computes nothing"
    assert not any(metric.gates for metric in idle.metrics)
    assert {metric.verdict for metric in idle.metrics} <= {Verdict.NOT_COMPARABLE}
    assert (found.regressions, found.doubtful, found.family) == ((), (), 1)
    assert judged(found.pairs[0]).confidence == pytest.approx(0.95)
    if failing:
        assert any("exit status 139" in note for note in idle.notes)
    else:
        assert judged(idle).ratio == pytest.approx(0.5, rel=0.01)


def test_an_unmatched_noop_cell_is_no_doubt(tmp_path: Path) -> None:
    """A cell of noop that one run alone has is no cause for doubt."""
    one, _ = slower_noop(tmp_path)
    other = stored(tmp_path, 3, Made(OLD, around(100)))
    found = compare_runs(Operand("run-1", (one,)), Operand("run-3", (other,)), DEFAULT_GATES, idle_builders={"noop"})

    assert [pair.verdict for pair in found.pairs] == [Verdict.SAME, Verdict.GONE]
    assert found.doubtful == ()


def test_noop_is_judged_where_both_sides_name_it(tmp_path: Path) -> None:
    one, other = (Operand(f"{run.name}:noop==1", (run,), Side("noop", "1")) for run in slower_noop(tmp_path))
    pair = only(compare_runs(one, other, DEFAULT_GATES, idle_builders={"noop"}))

    assert (pair.verdict, pair.computes) == (Verdict.SLOWER, True)
