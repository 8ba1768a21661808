"""Percentiles of single steps as metrics: too few steps decide nothing, and such a gate is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.timing.measure import LATENCY_LIMIT_S, latency_steps
from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.measurements import RepeatMeasurement, repeat_measurement
from orchestrator.analysis.percentiles import least_steps, percentiles
from orchestrator.modes import METRICS
from orchestrator.modes.parts.metrics import least_steps_of_a_repeat
from orchestrator.modes.parts.settings import LATENCY_STEPS
from orchestrator.regression.judge.judge import with_enough_steps
from orchestrator.regression.model import Judged
from orchestrator.regression.rules import BY_NAME, blocks_needed, parse_gates, short_repeats, too_few_blocks
from orchestrator.regression.sides import Side
from orchestrator.regression.stored_runs.comparison import compare_runs
from orchestrator.regression.stored_runs.operands import Operand
from tests.documented import whole
from tests.unit.regression.stored_runs.measured_runs import NEW, OLD, Made, stored
from tests.unit.reporting import synthetic

P99 = BY_NAME["latency_p99"]


def repeats(*steps: int) -> dict[int, RepeatMeasurement]:
    found = repeat_measurement(synthetic.result(synthetic.cell(synthetic.TORCH), 0, 1000), None)
    return {
        number: replace(found, latency=percentiles([[0.01 + 1e-5 * step for step in range(count)]]))
        for number, count in enumerate(steps)
    }


def judged(verdict: Verdict = Verdict.SLOWER, reason: str = "") -> Judged:
    return Judged(
        metric=P99.name, title=P99.title, unit="s", better=P99.better, gates=True, verdict=verdict, reason=reason,
        tolerance=0.1,
    )  # fmt: skip


def test_three_default_repeats_bound_a_p99() -> None:
    assert (blocks_needed("latency_p99"), blocks_needed("latency_p90"), blocks_needed("throughput")) == (3, 1, 0)
    assert 3 * LATENCY_STEPS >= least_steps(0.99) > 2 * LATENCY_STEPS
    assert too_few_blocks("latency_p99", 3) == too_few_blocks("throughput", 2) == too_few_blocks("thruput", 2) == ""


def test_a_gate_without_bounds_names_the_number_needed() -> None:
    assert too_few_blocks("latency_p99", 2) == (
        "latency_p99 has no bounds with fewer than 368 single steps of each side; 2 blocks of 150 steps are 300, and "
        "3 blocks are needed"
    )


@pytest.mark.parametrize(
    ("steps", "blocks", "needed"),
    [((150, 99), 24, 100), ((150, 100), 24, 0), ((122,), 3, 123), ((123,), 3, 0), ((150,), 2, 0), ((), 3, 0)],
)
def test_repeats_short_of_steps_are_named(steps: tuple[int, ...], blocks: int, needed: int) -> None:
    """Usual repeats are not short: the blocks are too few then."""
    mistakes = short_repeats(parse_gates(["latency_p99", "throughput"], "--metric", ["mlp"]), steps, blocks)

    assert mistakes == [
        f"latency_p99 decides after {blocks} blocks only with latency_steps: {needed} or more, and a cell has "
        f"{min(steps)}"
        for _ in range(bool(needed))
    ]


def test_too_few_steps_in_total_are_inconclusive() -> None:
    found = with_enough_steps(judged(), P99, repeats(150, 150, 150), repeats(150, 150))

    assert (found.verdict, found.more_blocks) == (Verdict.INCONCLUSIVE, 1)
    assert found.reason == "300 single steps of a side, and the bounds of latency_p99 take 368"


def test_short_passes_add_no_steps() -> None:
    """They have no p99 of their own, so that none of their steps is in the verdict."""
    found = with_enough_steps(judged(), P99, repeats(150, 150, 150), repeats(150, 150, 99, 99))

    assert (found.verdict, found.reason[:3]) == (Verdict.INCONCLUSIVE, "300")


def test_enough_steps_leave_the_verdict() -> None:
    assert with_enough_steps(judged(), P99, repeats(150, 150, 150), repeats(123, 123, 122)) == judged()
    assert with_enough_steps(judged(), BY_NAME["throughput"], repeats(1), repeats(1)) == judged()


def test_repeats_with_short_passes_have_no_p99() -> None:
    """A p99 of fewer than 100 steps is the slowest of them, so it is not compared with one of 150."""
    (short,) = repeats(99).values()
    (enough,) = repeats(100).values()
    missing = judged(Verdict.NOT_MEASURED, "it was not measured on both sides")

    assert P99.take is not None
    assert (P99.take(short), P99.take(enough)) == (None, pytest.approx(0.01 + 1e-5 * 98.01))
    found = with_enough_steps(missing, P99, repeats(150, 150), repeats(50, 50))
    assert (found.verdict, found.reason) == (
        Verdict.NOT_MEASURED,
        "a repeat has 50 single steps, and latency_p99 takes 100",
    )
    assert with_enough_steps(missing, P99, {}, {}) == missing


def test_only_percentiles_have_a_share() -> None:
    assert {metric.name for metric in METRICS if metric.share is not None} == {
        "latency_p50", "latency_p90", "latency_p99",
    }  # fmt: skip


@pytest.mark.parametrize(("count", "verdict"), [(2, Verdict.INCONCLUSIVE), (3, Verdict.SLOWER)])
def test_stored_runs_need_enough_steps_too(tmp_path: Path, count: int, verdict: Verdict) -> None:
    """The candidate takes a hundred times as long."""
    slow, fast = [10.0 + 0.001 * each for each in range(count)], [1000.0 + each for each in range(count)]
    run = stored(tmp_path / "results", 1, Made(OLD, fast), Made(NEW, slow))
    sides = [Operand(f"run-1:mxnet=={each}", (run,), Side("mxnet", each)) for each in ("1.5.1", "1.9.1")]

    (pair,) = compare_runs(sides[0], sides[1], parse_gates(["latency_p99"], "--metric", ["lenet"])).pairs

    (found,) = (each for each in pair.metrics if each.metric == "latency_p99")
    assert (found.verdict, pair.verdict) == (verdict, verdict)


def test_page_names_slow_steps_without_p99() -> None:
    """Beyond 30 s for 100 steps, no repeat has a p99."""
    needed = least_steps_of_a_repeat(0.99)
    slowest = LATENCY_LIMIT_S / needed
    page = " ".join(whole("regression.md").split())

    assert latency_steps(LATENCY_STEPS, {"wall_s": 0.99 * slowest, "steps": 1}) >= needed
    assert latency_steps(LATENCY_STEPS, {"wall_s": 1.02 * slowest, "steps": 1}) < needed
    assert latency_steps(LATENCY_STEPS + 1, {"wall_s": 100 * slowest, "steps": 1}) == LATENCY_STEPS + 1
    assert f"If a step takes more than {slowest:g} s, by the pace of the timed blocks" in page
    assert f"A `latency_steps` of more than {LATENCY_STEPS} avoids that: those steps are all taken" in page
