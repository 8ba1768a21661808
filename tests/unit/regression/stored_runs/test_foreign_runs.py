"""The judgement of files of other tools: a planted slowdown is found, and equal files alarm nobody."""

import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.errors import InputError
from orchestrator.foreign import read
from orchestrator.regression.model import Design, Judged, Regression
from orchestrator.regression.stored_runs.foreign_gates import parse_foreign_gates
from orchestrator.regression.stored_runs.foreign_runs import ForeignSide, compare_files
from tests.effort import examples
from tests.unit.foreign.real_files import TOOLS, document, real, redrawn, written

GOOGLE, HYPERFINE, PYPERF, PYTEST = TOOLS


def side(*paths: Path, name: str = "") -> ForeignSide:
    return ForeignSide(",".join(path.name for path in paths), tuple(map(read, paths)), name)


def compared(one: Path, other: Path, *metrics: str) -> Regression:
    names = ("time", "cpu_time", "latency", "leaves")
    return compare_files(side(one), side(other), parse_foreign_gates(metrics, names, "--metric"))


def deciding(regression: Regression) -> Judged:
    (pair,) = regression.pairs
    (judged,) = (metric for metric in pair.metrics if metric.gates)
    return judged


@pytest.mark.parametrize("tool", TOOLS)
def test_a_real_slowdown_is_found(tool: str) -> None:
    """The wait of the real tool was 5 % longer."""
    regression = compared(real(tool, "before"), real(tool, "slower"))

    judged = deciding(regression)
    assert (judged.verdict, regression.design) == (Verdict.SLOWER, Design.RUNS)
    assert judged.low is not None
    assert judged.high is not None
    assert judged.low < 1.05 < judged.high or abs((judged.ratio or 0) - 1.05) < 0.015
    assert regression.regressions


@pytest.mark.parametrize("tool", TOOLS)
def test_a_real_equal_alarms_nobody(tool: str) -> None:
    regression = compared(real(tool, "before"), real(tool, "again"))

    assert not regression.regressions
    assert deciding(regression).verdict in {Verdict.SAME, Verdict.INCONCLUSIVE}


@pytest.mark.parametrize("tool", TOOLS)
def test_redrawn_files_are_judged_right(tool: str, tmp_path: Path) -> None:
    """Of many drawn pairs, a slowdown of 5 % is found in nearly all, and equal ones never alarm."""
    draw, drawn = random.Random(f"foreign {tool}"), examples(400)
    verdicts: dict[float, Counter[Verdict]] = {1.0: Counter(), 1.05: Counter()}
    for factor, counted in verdicts.items():
        for _ in range(drawn):
            one = written(tmp_path / "one.json", redrawn(tool, draw, 1.0))
            other = written(tmp_path / "other.json", redrawn(tool, draw, factor))
            counted[deciding(compared(one, other)).verdict] += 1

    assert verdicts[1.05][Verdict.SLOWER] >= 0.95 * drawn
    assert verdicts[1.0][Verdict.SLOWER] + verdicts[1.0][Verdict.FASTER] <= 0.01 * drawn
    assert verdicts[1.0][Verdict.SAME] >= 0.8 * drawn


def _alike(draw: random.Random, path: Path) -> Path:
    """Write a file whose many rounds follow each other: each is like the one before."""
    content, level, rounds = document(PYTEST), 0.0, []
    for _ in range(5000):
        level = 0.9 * level + draw.gauss(0, 0.01)
        rounds.append(0.05 * math.exp(level))
    content["benchmarks"][0]["stats"]["data"] = rounds
    return written(path, content)


def test_rounds_that_are_alike_alarm_nobody(tmp_path: Path) -> None:
    """With no tolerance at all, equal files alarm about as often as α says. Taken one by one, rounds would in most."""
    draw, drawn = random.Random("alike"), examples(300)
    alarms = 0
    for _ in range(drawn):
        one, other = (_alike(draw, tmp_path / f"{name}.json") for name in ("one", "other"))
        alarms += deciding(compared(one, other, "time=0%")).verdict in {Verdict.SLOWER, Verdict.FASTER}

    assert alarms <= 0.05 * drawn + 3 * math.sqrt(0.05 * 0.95 * drawn)


def test_our_own_metrics_decide_as_usual(tmp_path: Path) -> None:
    paths = [_bencher(tmp_path, name, throughput=100.0, latency_p99=0.1, cold_start=2.0) for name in ("a", "b")]
    (pair,) = compared(*paths).pairs

    assert {each.metric: (each.gates, each.tolerance) for each in pair.metrics} == {
        "throughput": (True, 0.02), "latency_p99": (False, 0.1), "cold_start": (False, 0.05),
    }  # fmt: skip


def test_several_files_are_several_runs(tmp_path: Path) -> None:
    """Each is one value, so that what differs from run to run is in the interval."""
    draw = random.Random(7)
    ones, others = (
        [
            written(tmp_path / f"{name}{number}.json", redrawn(HYPERFINE, draw, level))
            for number, level in enumerate(levels)
        ]
        for name, levels in (("a", (1.0, 1.04, 0.97)), ("b", (1.03, 1.0, 0.98)))
    )
    regression = compare_files(side(*ones), side(*others))

    judged = deciding(regression)
    assert (regression.design, judged.blocks, judged.verdict) == (Design.SEVERAL_RUNS, 3, Verdict.INCONCLUSIVE)
    assert judged.nights is not None
    assert judged.nights.between is not None
    assert judged.nights.between > 0.02


def _bencher(tmp_path: Path, name: str, **measures: float) -> Path:
    content = {"bench": {measure: {"value": value} for measure, value in measures.items()}}
    return written(tmp_path / f"{name}.json", content)


def test_a_single_value_is_inconclusive(tmp_path: Path) -> None:
    judged = deciding(compared(_bencher(tmp_path, "a", latency=1.0), _bencher(tmp_path, "b", latency=2.0)))

    assert (judged.verdict, judged.ratio, judged.low) == (Verdict.INCONCLUSIVE, 2.0, None)
    assert "a single value is no sample" in judged.reason


@pytest.mark.parametrize(("measure", "factor"), [("latency", 1.05), ("throughput", 1 / 1.05)])
def test_files_of_bencher_are_judged_right(measure: str, factor: float, tmp_path: Path) -> None:
    """Of many drawn pairs of ten files a side, a planted 5 % is found in nearly all, and equal ones never alarm."""
    draw, drawn = random.Random(f"bencher {measure}"), examples(100)
    verdicts: dict[float, Counter[Verdict]] = {1.0: Counter(), factor: Counter()}
    for level, counted in verdicts.items():
        for _ in range(drawn):
            ones, others = (
                [
                    _bencher(tmp_path, f"{name}{number}", **{measure: side_level * draw.lognormvariate(0, 0.01)})
                    for number in range(10)
                ]
                for name, side_level in (("a", 1.0), ("b", level))
            )
            counted[deciding(compare_files(side(*ones), side(*others))).verdict] += 1

    assert verdicts[factor][Verdict.SLOWER] >= 0.95 * drawn
    assert verdicts[1.0][Verdict.SLOWER] + verdicts[1.0][Verdict.FASTER] <= 0.01 * drawn
    assert verdicts[1.0][Verdict.SAME] >= 0.8 * drawn


def test_an_unknown_direction_decides_nothing(tmp_path: Path) -> None:
    paths = [_bencher(tmp_path, name, latency=1.0, leaves=value) for name, value in (("a", 1.0), ("b", 2.0))]
    (pair,) = compared(*paths).pairs
    leaves = next(metric for metric in pair.metrics if metric.metric == "leaves")

    assert (leaves.gates, leaves.verdict) == (False, Verdict.NOT_COMPARABLE)
    assert "say --metric leaves:lower" in leaves.reason


@pytest.mark.parametrize(("better", "verdict"), [("lower", Verdict.SLOWER), ("higher", Verdict.FASTER)])
def test_a_direction_may_be_given(better: str, verdict: Verdict, tmp_path: Path) -> None:
    ones, others = (
        [_bencher(tmp_path, f"{name}{number}", leaves=level + number / 1000) for number in range(4)]
        for name, level in (("a", 1.0), ("b", 1.1))
    )
    gates = parse_foreign_gates([f"leaves:{better}=3%"], ["leaves"], "--metric")
    judged = deciding(compare_files(side(*ones), side(*others), gates))

    assert (judged.verdict, judged.tolerance) == (verdict, 0.03)


def _on(tmp_path: Path, name: str, **facts: Any) -> Path:
    content = document(PYPERF)
    for each in (content["metadata"], *(run["metadata"] for run in content["benchmarks"][0]["runs"])):
        each.update(facts)
    return written(tmp_path / f"{name}.json", content)


def test_another_cpu_is_not_comparable(tmp_path: Path) -> None:
    one, other = _on(tmp_path, "a", cpu_model_name="A"), _on(tmp_path, "b", cpu_model_name="B")
    (pair,) = compared(one, other).pairs

    assert (pair.verdict, pair.reason) == (Verdict.NOT_COMPARABLE, "CPU A against B")


def test_another_python_is_said(tmp_path: Path) -> None:
    """It may be what is compared."""
    one, other = _on(tmp_path, "a", python_version="3.11.7"), _on(tmp_path, "b", python_version="3.13.1")
    regression = compared(one, other)

    assert deciding(regression).verdict is Verdict.SAME
    assert "The Python is 3.11.7 for the baseline and 3.13.1 for the candidate" in regression.warnings


def test_what_is_not_known_is_said() -> None:
    one, other = (compared(real(tool, "before"), real(tool, "again")).warnings for tool in (PYPERF, HYPERFINE))

    assert len(one) == 1
    assert "nobody has checked that both sides do the same work" in one[0]
    assert "The files say nothing of the host, CPU and Python" in other[1]


def test_different_tools_are_refused() -> None:
    with pytest.raises(InputError, match="compare files of one tool"):
        compared(real(PYPERF, "before"), real(HYPERFINE, "before"))


def _renamed(tmp_path: Path, name: str, *commands: str) -> Path:
    (result,) = document(HYPERFINE)["results"]
    return written(tmp_path / f"{name}.json", {"results": [result | {"command": command} for command in commands]})


def test_one_benchmark_each_needs_no_name(tmp_path: Path) -> None:
    (pair,) = compared(_renamed(tmp_path, "a", "old"), _renamed(tmp_path, "b", "new")).pairs

    assert (pair.id, pair.baseline_cell, pair.candidate_cell) == ("old → new", "old", "new")


def test_a_benchmark_is_named_within_a_file(tmp_path: Path) -> None:
    both = _renamed(tmp_path, "a", "old", "new")
    (pair,) = compare_files(side(both, name="old"), side(both, name="new")).pairs
    assert pair.id == "old → new"

    with pytest.raises(InputError, match="no benchmark 'odd'; there is old and new"):
        compare_files(side(both, name="odd"), side(both, name="new"))


def test_no_common_name_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name one of each, as in FILE:NAME"):
        compared(_renamed(tmp_path, "a", "x", "y"), _renamed(tmp_path, "b", "v", "w"))


def test_benchmarks_of_one_side_are_shown(tmp_path: Path) -> None:
    regression = compared(_renamed(tmp_path, "a", "x", "y"), _renamed(tmp_path, "b", "x", "z"))

    assert {pair.id: pair.verdict for pair in regression.pairs} == {
        "x": Verdict.SAME, "y": Verdict.GONE, "z": Verdict.NEW,
    }  # fmt: skip
    assert regression.family == 1


def test_a_failing_candidate_broke(tmp_path: Path) -> None:
    content = document(HYPERFINE)
    content["results"][0]["exit_codes"] = [2] * 20
    failing = written(tmp_path / "failing.json", content)

    (broke,) = compared(real(HYPERFINE, "before"), failing).pairs
    (fixed,) = compared(failing, real(HYPERFINE, "before")).pairs
    assert (broke.verdict, fixed.verdict) == (Verdict.BROKE, Verdict.FIXED)
    assert broke.is_regression


def test_the_family_shares_the_risk(tmp_path: Path) -> None:
    """More benchmarks make each interval wider."""
    one = _renamed(tmp_path, "one", "x")
    many = _renamed(tmp_path, "many", *"xyzvw")

    narrow, wide = compared(one, one), compared(many, many)
    assert (narrow.family, wide.family) == (1, 5)
    assert deciding(narrow).confidence == pytest.approx(0.95)
    confidences = [metric.confidence for pair in wide.pairs for metric in pair.metrics]
    assert confidences == pytest.approx([0.99] * 5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tme", "no such metric; did you mean 'time'?"),
        ("time:up", "'up' is no direction; write time:lower or time:higher"),
        ("time=x", "'x' is no tolerance"),
    ],
)
def test_a_wrong_metric_is_named(text: str, said: str) -> None:
    with pytest.raises(InputError, match="--metric") as caught:
        parse_foreign_gates([text], ["time", "cpu_time"], "--metric")
    assert said in str(caught.value)
