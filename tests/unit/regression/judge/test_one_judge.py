"""One judge: `regress` and `compare` of the same single look come to the same ratio, interval and verdict."""

import random
from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.judge.judge import Judge
from orchestrator.regression.model import Judged, Regression
from orchestrator.regression.rules import DEFAULT_GATES, Gate, Rules
from orchestrator.regression.stored_runs.comparison import compare_runs
from orchestrator.regression.stored_runs.operands import Operand
from orchestrator.regression.trials.files import stored_trial
from orchestrator.results.store import Run
from tests.unit.regression.conftest import Pairer
from tests.unit.regression.trials.bench_trials import Bench, Rate, at, crash, try_out

LEVELS = ("confidence", "equivalence", "low", "high", "verdict", "more_blocks", "minimum_detectable_effect")
"""The fields that follow from the levels of a look: those of metrics that only inform differ, see `differences.md`."""


def planted(ratio: float, scatter: float, seed: int) -> Rate:
    """About 1000 samples/s; the candidate has so many times that."""

    def rate(cell: str, repeat: int) -> float:
        noise = 1 + random.Random(f"{seed} {cell} {repeat}").gauss(0, scatter)
        return 1000 * noise * (ratio if "1.9.1" in cell else 1.0)

    return rate


def both(
    folder: Path, pair: Pairer, bench: Bench, blocks: int, gates: tuple[Gate, ...] = DEFAULT_GATES
) -> tuple[Regression, Regression]:
    """Test two releases with a single look, and compare the sides of the stored run."""
    pairing = pair("mxnet==1.5.1", "mxnet==1.9.1", "models: [lenet, mlp]")
    regression = try_out(folder / "run", pairing, bench, Rules(gates=gates, looks=(blocks,), confirm=False))
    run = Run(folder / "run")
    pairs = stored_trial(run).pairs
    baseline = Operand("run:baseline", (run,), cell_ids=frozenset(each.baseline for each in pairs))
    candidate = Operand("run:candidate", (run,), cell_ids=frozenset(each.candidate for each in pairs))
    return regression, compare_runs(baseline, candidate, gates)


def metrics(regression: Regression) -> dict[tuple[str, str], Judged]:
    return {(pair.id, metric.metric): metric for pair in regression.pairs for metric in pair.metrics}


@pytest.mark.parametrize("blocks", [2, 6, 12])
@pytest.mark.parametrize("ratio", [0.8, 0.95, 0.985, 1.0, 1.01, 1.1])
@pytest.mark.parametrize("scatter", [0.001, 0.02])
def test_regress_and_compare_agree_on_planted_ratios(
    tmp_path: Path, pair: Pairer, ratio: float, scatter: float, blocks: int
) -> None:
    regression, comparison = both(tmp_path, pair, Bench(rate=planted(ratio, scatter, blocks)), blocks)
    one, other = metrics(regression), metrics(comparison)
    throughputs = [metric for (_, name), metric in one.items() if name == "throughput"]

    assert one.keys() == other.keys()
    for key, metric in one.items():
        left_out = {} if metric.gates else dict.fromkeys(LEVELS)
        assert metric.model_copy(update=left_out) == other[key].model_copy(update=left_out)
    assert [(each.id, each.verdict, each.reason, each.notes) for each in regression.pairs] == [
        (each.id, each.verdict, each.reason, each.notes) for each in comparison.pairs
    ]
    assert regression.family == comparison.family == len(throughputs) == 2
    for metric in throughputs:
        assert metric.ratio == pytest.approx(ratio, rel=4 * scatter)
    if scatter == 0.001 and blocks >= 6:
        wanted = Verdict.SLOWER if ratio < 0.98 else Verdict.FASTER if ratio > 1.02 else Verdict.SAME
        assert {metric.verdict for metric in throughputs} == {wanted}


def test_regress_and_compare_agree_on_failing_sides(tmp_path: Path, pair: Pairer) -> None:
    """They differ in one thing, which the judge names: `compare` shows no notes of a side that fails."""
    regression, comparison = both(tmp_path, pair, Bench(ends={"1.9.1": at(crash, 0, 1, 2, 3)}), 6)

    verdicts = [(each.verdict, each.reason) for each in regression.pairs]
    assert verdicts == [(each.verdict, each.reason) for each in comparison.pairs]
    assert {verdict for verdict, _ in verdicts} == {Verdict.BROKE}
    assert all(each.notes for each in regression.pairs)
    assert not any(each.notes for each in comparison.pairs)


def test_differences_of_compare_are_named_parameters() -> None:
    assert (Judge(Rules()).notes_of_failing, Judge(Rules()).shows_zeros) == (True, True)
