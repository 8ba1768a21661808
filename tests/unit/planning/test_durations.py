"""The times of containers, from the work of their cells and from earlier measurements."""

from dataclasses import replace

import pytest

from benchmarks.inputs import synthetic
from orchestrator import planning
from orchestrator.catalog import DATASETS, load, load_models
from orchestrator.domain import (
    COMPILE_CACHE,
    Cell,
    Duration,
    Environment,
    Framework,
    ImageSpec,
    Mode,
    Plan,
    System,
    Workload,
)
from orchestrator.modes.parts.settings import PARITY_BATCH as BATCH_SIZE
from orchestrator.planning.cost import durations
from orchestrator.resources import BENCHMARKS, IMAGES
from tests.unit.planning.conftest import ASSUMED

CATALOG = load(IMAGES / "catalog")
MODELS = load_models(BENCHMARKS / "models")
TORCH = Framework("torch", "2.13.0", python="3.11")
VGG = Cell(
    id="torch/vgg19",
    framework=TORCH,
    system=System("cpu", cpus=2),
    workload=Workload("vgg19", Mode.TRAIN, 128),
    image="bench/torch:x",
    duration=Duration(10, None, 10),
    timeout_s=1e6,
)
EPOCHS_S = 10 * (390 * 128 * 3 + 2 * 1000) * 398_136_320 / 16e9
"""Ten epochs of 390 batches, three passes each, and ten evaluations, at 8e9 multiply-adds a second and CPU."""


def estimated(*cells: Cell, earlier: tuple[planning.Earlier, ...] = (), **assumed: float) -> planning.PlanEstimate:
    builder = "noop" if cells[0].framework.name == "noop" else "torch"
    image = ImageSpec("bench/torch", "x", "cpu", cells[0].framework, Environment(builder, "3.11"))
    known = planning.Known(MODELS, DATASETS, replace(ASSUMED, **assumed), earlier)  # type: ignore[arg-type]
    return planning.estimate(Plan("p", 0, (image,), cells), CATALOG, known)


def run_s(*cells: Cell, earlier: tuple[planning.Earlier, ...] = (), **assumed: float) -> float:
    return estimated(*cells, earlier=earlier, **assumed).run_s


def test_epochs_of_a_large_model_take_hours() -> None:
    """Ten epochs of VGG-19 are no matter of minutes."""
    latency_s = 50 * 128 * 3 * 398_136_320 / 16e9

    assert run_s(VGG) == pytest.approx(5.0 + EPOCHS_S + latency_s)
    assert run_s(VGG) > 8 * 3600


def test_a_compile_cache_is_filled_once() -> None:
    """The parity check and the first repeat of a cell compile; later repeats find what they need in the cache."""
    caching = Environment("torch", "3.11", variables=((COMPILE_CACHE, "/compiled"),))
    known = planning.Known(MODELS, DATASETS, ASSUMED)
    cells = (replace(VGG, repeats=3),)
    images = (ImageSpec("bench/torch", "x", "cpu", TORCH, each) for each in (Environment("torch", "3.11"), caching))
    plain, cached = (planning.estimate(Plan("p", 0, (each,), cells, parity=True), CATALOG, known) for each in images)

    assert cached.run_s - plain.run_s == pytest.approx(2 * durations.COMPILE_S)
    assert any("of compiling in each of 2 containers" in line for line in cached.assumptions)
    assert not any("compiling" in line for line in plain.assumptions)


def test_work_scales_with_cpus_batch_repeats_and_mode() -> None:
    steps = replace(VGG, duration=Duration(0, 1000, None))
    base = run_s(steps) - durations.START_S - durations.WARM_UP_S

    def beyond_start(cell: Cell, **assumed: float) -> float:
        return run_s(cell, **assumed) - durations.START_S - durations.WARM_UP_S

    assert beyond_start(replace(steps, system=System("cpu", cpus=4))) == pytest.approx(base / 2)
    assert beyond_start(replace(steps, system=System("cpu")), cpus=8) == pytest.approx(base / 4)
    assert beyond_start(replace(steps, workload=Workload("vgg19", Mode.TRAIN, 64))) == pytest.approx(base / 2)
    assert beyond_start(replace(steps, workload=Workload("vgg19", Mode.INFER, 128))) == pytest.approx(base / 3)
    assert run_s(replace(steps, repeats=3)) == pytest.approx(3 * run_s(steps))


def test_warm_up_steps_take_their_time() -> None:
    few, many = (replace(VGG, duration=Duration(steps, 1000, None)) for steps in (1, 101))
    step_s = 128 * 3 * 398_136_320 / 16e9

    assert run_s(many) - run_s(few) == pytest.approx(100 * step_s)


def test_a_parity_check_trains_a_small_batch() -> None:
    """Its start and 17 steps of three passes each."""
    plan = Plan(
        "p", 0, (ImageSpec("bench/torch", "x", "cpu", TORCH, Environment("torch", "3.11")),), (VGG,), parity=True
    )
    unchecked, checked = (
        planning.estimate(replace(plan, parity=parity), CATALOG, planning.Known(MODELS, DATASETS, ASSUMED))
        for parity in (False, True)
    )

    assert (unchecked.parity_containers, checked.parity_containers) == (0, 1)
    assert checked.run_s - unchecked.run_s == pytest.approx(10 + BATCH_SIZE * 17 * 3 * 398_136_320 / 16e9)


def test_an_epoch_is_as_long_as_its_dataset() -> None:
    cifar = replace(VGG, workload=replace(VGG.workload, dataset="cifar10"))
    passes = 10 * (390 * 128 * 3 + 2 * 10_000) + 50 * 128 * 3

    assert run_s(cifar) == pytest.approx(5.0 + passes * 398_136_320 / 16e9)


def test_a_small_model_takes_the_minimum_time() -> None:
    """A small model takes the least time that warm-up and timed blocks last."""
    lenet = replace(VGG, workload=Workload("lenet", Mode.INFER, 1), duration=Duration(0, 50, None))

    assert run_s(lenet) == pytest.approx(5.0 + 0.45 + 2.5 + 150 * 0.0005)


@pytest.mark.parametrize(
    ("sample_s", "steps", "latency_s"),
    [(0.1, 150, 15.0), (0.2, 150, 30.0), (0.4, 150, 30.0), (1.0, 150, 50.0), (1.0, 20, 20.0), (1.0, 151, 151.0)],
)
def test_the_latency_pass_has_its_limit(sample_s: float, steps: int, latency_s: float) -> None:
    """The pass of `timing/measure.py`: all steps if many are asked for or they fit 30 s, else at least 50."""
    duration = Duration(0, 10, None, latency_steps=steps)
    cell = replace(VGG, workload=Workload("vgg19", Mode.INFER, 1), duration=duration)
    measured = planning.Earlier(cell, outside_s=0.0, sample_s=sample_s, multiply_adds=398_136_320)
    timed_s = durations.WARM_UP_S + max(10 * sample_s, 2.5)

    assert run_s(cell, earlier=(measured,)) == pytest.approx(timed_s + latency_s)


def test_a_cell_within_its_timeout_is_not_slow() -> None:
    """150 steps of 0.4 s would last 60 s; the pass ends after 30 s."""
    cell = replace(VGG, workload=Workload("vgg19", Mode.INFER, 1), duration=Duration(0, 10, None), timeout_s=40.0)
    measured = planning.Earlier(cell, outside_s=1.0, sample_s=0.4, multiply_adds=398_136_320)

    assert estimated(cell, earlier=(measured,)).slow == ()


def test_no_framework_computes_nothing() -> None:
    assert run_s(replace(VGG, framework=Framework("noop", "1"))) == pytest.approx(0.3)


def test_a_gpu_has_a_stated_assumption() -> None:
    estimate = estimated(replace(VGG, system=System("1_gpu", cpus=2, gpus=1)))

    assert estimate.run_s == pytest.approx(5.0 + (EPOCHS_S + 150 * 128 * 3 * 398_136_320 / 16e9) * 16e9 / 2e12)
    assert "2e+12 and GPU, which no measurement supports" in estimate.assumptions[0]


def test_the_same_models_earlier_run_replaces_the_assumption() -> None:
    """Measured in batches of 16 for a few steps; estimated for ten epochs in batches of 128."""
    before = replace(VGG, workload=Workload("vgg19", Mode.TRAIN, 16), duration=Duration(2, 10, None))
    measured = planning.Earlier(before, outside_s=9.0, sample_s=0.01, multiply_adds=398_136_320)
    estimate = estimated(VGG, earlier=(measured,))

    passes = 10 * (390 * 128 * 3 + 2 * 1000) + 50 * 128 * 3
    assert estimate.run_s == pytest.approx(9.0 + passes * 0.01 / 3)
    assert estimate.assumptions[0] == "1 containers as long as their model took with this framework on this host"


def test_another_model_before_is_scaled_by_its_work() -> None:
    small = replace(VGG, workload=Workload("lenet", Mode.TRAIN, 200))
    large = replace(VGG, workload=Workload("resnet20", Mode.INFER, 32))
    earlier = (
        planning.Earlier(small, outside_s=4.0, sample_s=1.0, multiply_adds=231_720),
        planning.Earlier(large, outside_s=6.0, sample_s=0.002, multiply_adds=40_813_184),
    )
    estimate = estimated(VGG, earlier=earlier)

    passes = 10 * (390 * 128 * 3 + 2 * 1000) + 50 * 128 * 3
    assert estimate.run_s == pytest.approx(5.0 + passes * 0.002 * 398_136_320 / 40_813_184)
    assert "scaled by multiply-adds" in estimate.assumptions[0]


def test_another_framework_or_system_before_says_nothing() -> None:
    others = (replace(VGG, framework=Framework("mxnet", "1.9.1")), replace(VGG, system=System("cpu", cpus=1)))
    earlier = tuple(planning.Earlier(each, 99.0, 9.0, 398_136_320) for each in others)

    assert run_s(VGG, earlier=earlier) == run_s(VGG)


def test_estimated_containers_stop_at_their_timeout() -> None:
    """In an estimate no container outlasts its timeout, and the cells that would are named."""
    short = replace(VGG, id="torch/short", timeout_s=600.0, repeats=3)
    estimate = estimated(replace(VGG, timeout_s=1e9), short)

    assert estimate.run_s == pytest.approx(run_s(VGG) + 3 * 600.0)
    assert [(one.id, one.timeout_s) for one in estimate.slow] == [("torch/short", 600.0)]
    assert estimate.slow[0].needs_s == pytest.approx(run_s(VGG))


def test_the_synthetic_test_set_matches_the_containers() -> None:
    """The synthetic test set of an estimate has the size of that in the container."""
    assert durations.HELD_OUT == synthetic.HELD_OUT
