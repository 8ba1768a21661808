from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.analysis.estimates import estimate
from orchestrator.analysis.measurements import CurvePoint, RepeatEpochs, measurement, repeat_measurement
from orchestrator.analysis.percentiles import percentiles, quantiles
from orchestrator.analysis.resources import GpuUse, gpu_use
from orchestrator.results.contract import Block, Conditions, Evaluation, GpuConditions, Result
from tests.unit.reporting import synthetic


def block(samples: int, wall_s: float) -> Block:
    return Block(steps=1, samples=samples, wall_s=wall_s, cpu_s=2 * wall_s)


def epoch_run(*epoch_s: float) -> Result:
    cell = synthetic.cell(synthetic.TORCH, epochs=len(epoch_s))
    blocks = tuple(block(1000, wall_s) for wall_s in epoch_s)
    made = synthetic.result(cell, 0, 1000)
    phases = made.phases.model_copy(update={"evaluation_s": None})
    changes = {"blocks": blocks, "first_step": block(10, 0.5), "epochs": (), "phases": phases}
    return made.model_copy(update=changes)


def test_epoch_value_leaves_out_the_first_epoch() -> None:
    """The value of an epoch run is that of its steady state, and the first epoch stands apart."""
    found = repeat_measurement(epoch_run(4.0, 2.0, 2.5, 2.0), None, in_epochs=True)

    assert found.samples_per_s == pytest.approx(500)
    assert found.block_variation == pytest.approx(np.std([500, 400, 500], ddof=1) / np.mean([500, 400, 500]))
    assert found.epochs == RepeatEpochs((4.0, 2.0, 2.5, 2.0), total_s=11.0, after_first_s=6.5)


def test_single_epoch_stands_for_itself() -> None:
    """A single epoch stands for itself and leaves no total without it."""
    found = repeat_measurement(epoch_run(4.0), None, in_epochs=True)

    assert found.samples_per_s == pytest.approx(250)
    assert found.epochs == RepeatEpochs((4.0,), total_s=4.5, after_first_s=None)


def test_run_of_steps_has_no_total_time() -> None:
    """A run of steps has no total time and counts every block."""
    found = repeat_measurement(epoch_run(4.0, 2.0), None)

    assert found.epochs is None
    assert found.samples_per_s == pytest.approx(375)
    assert measurement([found]).epochs is None


def test_total_time_comes_without_first_epoch_too() -> None:
    """The total time of a cell is estimated with and without the first epoch."""
    runs = [epoch_run(4.0, 2.0, 2.0), epoch_run(4.5, 1.0, 1.0)]

    found = measurement([repeat_measurement(run, None, in_epochs=True) for run in runs]).epochs

    assert found is not None
    assert found.total_s == estimate([8.5, 7.0])
    assert found.after_first_s == estimate([4.0, 2.0])
    assert found.epoch_s == pytest.approx((np.sqrt(18), np.sqrt(2), np.sqrt(2)))


def evaluated(run: Result, *accuracies: float) -> Result:
    scores = [
        Evaluation(train_loss=1 - accuracy, test_loss=2 - accuracy, test_accuracy=accuracy, evaluation_s=50.0)
        for accuracy in accuracies
    ]
    phases = run.phases.model_copy(update={"evaluation_s": 50.0 * len(scores)})
    return run.model_copy(update={"epochs": tuple(scores), "phases": phases})


def test_curve_leaves_out_the_time_of_evaluation() -> None:
    """A curve has each epoch against the seconds of training, without its evaluation."""
    found = repeat_measurement(evaluated(epoch_run(4.0, 2.0), 0.25, 0.75), None, in_epochs=True)

    assert found.epochs is not None
    assert found.epochs.curve == (
        CurvePoint(1, trained_s=4.5, train_loss=0.75, test_loss=1.75, test_accuracy=0.25),
        CurvePoint(2, trained_s=6.5, train_loss=0.25, test_loss=1.25, test_accuracy=0.75),
    )
    assert found.epochs.total_s == 6.5
    assert dict(found.phases_s)["evaluation"] == 100.0


def test_a_single_evaluation_is_of_the_last_epoch() -> None:
    measured = repeat_measurement(evaluated(epoch_run(4.0, 2.0, 2.0), 0.75), None, in_epochs=True)
    assert measured.epochs is not None
    (point,) = measured.epochs.curve

    assert (point.epoch, point.trained_s) == (3, measured.epochs.total_s)


def test_cell_curve_is_the_median_of_repeats() -> None:
    runs = [evaluated(epoch_run(seconds, 2.0), accuracy, 0.5) for seconds, accuracy in ((1, 0.0), (2, 0.5), (9, 1.0))]

    found = measurement([repeat_measurement(run, None, in_epochs=True) for run in runs]).epochs

    assert found is not None
    assert [(point.epoch, point.trained_s, point.test_accuracy) for point in found.curve] == [
        (1, 2.5, 0.5),
        (2, 4.5, 0.5),
    ]
    assert found.test_accuracies == (0.5, 0.5, 0.5)


def test_epochs_that_were_not_evaluated_have_no_curve() -> None:
    found = repeat_measurement(epoch_run(4.0, 2.0), None, in_epochs=True)

    assert found.epochs is not None
    assert found.epochs.curve == ()
    assert "evaluation" not in dict(found.phases_s)


def test_percentiles_pool_every_step_and_say_how_many() -> None:
    steps = [0.001 * number for number in range(1, 201)]

    found = percentiles([steps[:70], steps[70:]])

    assert found is not None
    assert (found.p50_s, found.p90_s, found.p99_s) == pytest.approx(tuple(np.percentile(steps, (50, 90, 99))))
    assert found.n == 200
    assert percentiles([]) is percentiles([[]]) is None


def test_cell_sums_up_its_repeats() -> None:
    """A cell pools steps, averages phases and keeps the highest memory."""
    cell = synthetic.cell(synthetic.TORCH)
    results = [synthetic.result(cell, repeat, 1000 + repeat) for repeat in range(3)]
    repeats = [repeat_measurement(result, create_s) for result, create_s in zip(results, (0.1, None, 0.3), strict=True)]

    found = measurement(repeats, [result.latency_s for result in results])

    assert found.latency is not None
    assert found.latency.n == sum(len(result.latency_s) for result in results)
    assert repeats[0].latency == percentiles([results[0].latency_s])
    assert dict(found.phases_s)["create"] == pytest.approx(0.2)
    assert dict(found.phases_s)["import"] == pytest.approx(np.mean([result.phases.import_s for result in results]))
    assert found.start_s == pytest.approx(np.mean([result.phases.import_s + 0.25 + 0.4 for result in results]))
    assert found.peak_rss_bytes == max(result.memory.peak_rss_bytes for result in results)
    assert found.peak_device_bytes is None
    assert found.cpu_cores == pytest.approx(1.9, abs=1e-3)
    assert found.throughput.n == 3
    assert [name for name, _ in found.phases_s] == [
        "create",
        "import",
        "build",
        "first_step",
        "warmup",
        "steady",
        "latency",
    ]


@given(st.lists(st.floats(min_value=1e-6, max_value=10), min_size=1, max_size=60))
def test_quantiles_are_those_of_numpy(values: list[float]) -> None:
    shares = (0.0, 0.025, 0.5, 0.99, 1.0)

    assert quantiles(values, shares) == pytest.approx(tuple(np.quantile(values, shares)))


def test_cell_keeps_21_quantiles_of_step_times() -> None:
    cell = synthetic.cell(synthetic.TORCH)
    repeats = [repeat_measurement(synthetic.result(cell, 0, 1000), None)]
    steps = [0.001 * number for number in range(201)]

    assert measurement(repeats, [steps]).step_quantiles_s == pytest.approx(tuple(steps[::10]))
    assert measurement(repeats).step_quantiles_s == ()


def test_gpu_use_sums_energy_and_keeps_the_worst() -> None:
    """The use of GPUs is the sum of their energy and the worst of the rest."""

    def block(**gpu: Any) -> Block:
        seen = Conditions(wall_s=1, cpu_s=1, gpus=(GpuConditions(**gpu),))
        return Block(steps=1, samples=1, wall_s=1, cpu_s=1, conditions=seen)

    hot = block(energy_j=100, temperature_c=80, clock_hz=1_200_000_000, slowed_by=("heat",))
    calm = block(energy_j=50.5, temperature_c=60, clock_hz=1_900_000_000, slowed_by=("power_limit",))

    assert gpu_use([hot, calm]) == GpuUse(150.5, 80, 1_200_000_000, ("heat", "power_limit"))
    assert gpu_use([block()]) == GpuUse(None, None, None, ())
    assert gpu_use([Block(steps=1, samples=1, wall_s=1, cpu_s=1)]) is None


def test_blocks_without_work_tell_no_cores() -> None:
    """A block of steps that do nothing is shorter than the reading of its clocks: 2.35 cores of one CPU."""
    cell = synthetic.cell(synthetic.TORCH)
    result = synthetic.result(cell, 0, 1000.0)
    short = tuple(
        block.model_copy(update={"wall_s": wall_s, "cpu_s": 2.35 * wall_s})
        for block, wall_s in zip(result.blocks, [5e-7] * 9 + [1e-6], strict=True)
    )

    none = repeat_measurement(result.model_copy(update={"blocks": short}), None)

    assert none.cpu_cores is None
    assert measurement([none]).cpu_cores is None
    assert measurement([none, repeat_measurement(result, None)]).cpu_cores == pytest.approx(1.9, abs=1e-3)
