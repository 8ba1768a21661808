"""Cells on a real GPU, in the interpreter at hand: `make test-gpu`, on a host that has PyTorch or JAX and no Docker."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from orchestrator.results.container_answers import read_answer
from orchestrator.results.telemetry.contract import Telemetry
from tests.gpu.hardware import DEVICE, IS_GPU, cells_of, of_system, pin_of, the_gpu, too_large, write_wide

pytestmark = pytest.mark.gpu

MODELS = (
    {"lenet": 64, "resnet20": 64, "vgg19": 16, "lstm": 32}
    if IS_GPU
    else {"lenet": 8, "resnet20": 4, "vgg19": 2, "lstm": 4}
)
LEAST_IN_TIME = 0.99
MOST_LOSS_APART = 1e-3
MOST_APART = 1.02
"""The most by which searches of one device may differ."""
only_on_gpus = pytest.mark.skipif(not IS_GPU, reason="a CPU has neither this memory nor these series")


@pytest.fixture(scope="module", params=["jax", "torch"])
def pin(request: pytest.FixtureRequest) -> str:
    """The installed release of a framework, on a host with a GPU. `make test-gpu` says that there must be one."""
    return pin_of(request.param)


@pytest.fixture(scope="module")
def measured(pin: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """The cells of all models by id, on the device and on the CPU."""
    folder = tmp_path_factory.mktemp("gpu")
    models = [{"name": name, "batch_size": size} for name, size in MODELS.items()]
    systems = {"device": DEVICE, "cpu": {} if IS_GPU else {"cpus": 1, "memory": "8g"}}
    return cells_of(folder, pin, models=models, modes=["train", "infer"], systems=systems, steps=50 if IS_GPU else 4)


def test_every_cell_is_measured(measured: Mapping[str, Any]) -> None:
    ended = {id_: cell["repeats"][0]["outcome"] for id_, cell in measured.items()}

    assert len(ended) == 2 * 2 * len(MODELS)
    assert {id_: outcome["reason"] for id_, outcome in ended.items() if outcome["status"] != "ok"} == {}


def test_gpu_computes_the_loss_of_the_cpu(measured: Mapping[str, Any]) -> None:
    on_device, on_cpu = of_system(measured, "device"), of_system(measured, "cpu")
    trained = [work for work in on_device if "train" in work]
    devices = ("cuda", "gpu") if IS_GPU else ("cpu",)

    assert len(trained) == len(MODELS)
    for work, cell in on_device.items():
        assert any(kind in cell["result"]["facts"]["device"].lower() for kind in devices), work
    for work in trained:
        first = on_device[work]["result"]["loss"]["first"]
        assert first == pytest.approx(on_cpu[work]["result"]["loss"]["first"], rel=MOST_LOSS_APART), work


@only_on_gpus
def test_samples_come_in_time(measured: Mapping[str, Any]) -> None:
    """Ten times a second, for at least 99 % of the moments."""
    for work, cell in of_system(measured, "device").items():
        series = read_answer(cell["folder"] / "telemetry.json", Telemetry)
        assert series.period_s == pytest.approx(0.1), work
        assert series.in_time_share >= LEAST_IN_TIME, work


@only_on_gpus
def test_gpu_tells_energy_memory_and_use(measured: Mapping[str, Any]) -> None:
    """Each sample has its joules, the GPU was busy, and the device holds at least what the allocator does."""
    for work, cell in of_system(measured, "device").items():
        (gpu,) = read_answer(cell["folder"] / "telemetry.json", Telemetry).gpus
        (repeat,) = cell["repeats"]
        joules = repeat["measurement"]["joules_per_sample"]
        assert math.isfinite(joules), work
        assert joules > 0, work
        assert known(gpu.power_w), work
        assert max(known(gpu.busy_percent)) > 0, work
        assert max(known(gpu.memory_bytes)) >= cell["result"]["memory"]["peak_device_bytes"] > 0, work


def known(column: Iterable[float | None]) -> list[float]:
    """Return the values of a column that the driver told."""
    return [value for value in column if value is not None]


def test_wide_model_trains_a_few_samples(pin: str, tmp_path: Path) -> None:
    """The model whose batches are too large below is itself in order."""
    write_wide(tmp_path, 4)
    cells = cells_of(tmp_path, pin, models_folder="mine", models=[{"name": "wide", "batch_size": 4}], steps=4)

    (cell,) = cells.values()
    assert cell["repeats"][0]["outcome"]["status"] == "ok", cell["repeats"][0]["outcome"]["reason"]


@only_on_gpus
def test_largest_batch_agrees_three_times(pin: str, tmp_path: Path) -> None:
    """Three searches agree within 2 %, and a batch beyond what they refused is not launched.

    For that batch one tensor alone is larger than the memory.
    """
    beyond = too_large(memory_of_gpu())
    write_wide(tmp_path, beyond // 16)
    models = [{"name": "wide", "batch_size": ["max", beyond]}]
    cells = cells_of(tmp_path, pin, models_folder="mine", models=models, repeats=3, timeout="15m")

    (search,) = (cell for id_, cell in cells.items() if "-bmax" in id_)
    (large,) = (cell for id_, cell in cells.items() if f"-b{beyond}" in id_)
    ended = [repeat["outcome"] for repeat in search["repeats"]]
    assert [outcome["status"] for outcome in ended] == ["ok"] * 3, ended
    searches = [repeat["measurement"]["search"] for repeat in search["repeats"]]
    assert all(each["refused"] for each in searches), "no search came to the end of the memory"
    assert max(each["fits"] for each in searches) <= MOST_APART * min(each["fits"] for each in searches)
    assert {repeat["outcome"]["status"] for repeat in large["repeats"]} == {"oom_device"}
    assert {repeat["outcome"]["attempts"] for repeat in large["repeats"]} == {0}


@only_on_gpus
def test_too_large_a_batch_is_out_of_memory(pin: str, tmp_path: Path) -> None:
    """Launched without a search, it ends as `oom_device` by what the framework says."""
    beyond = too_large(memory_of_gpu())
    write_wide(tmp_path, 64)
    cells = cells_of(tmp_path, pin, models_folder="mine", models=[{"name": "wide", "batch_size": beyond}])

    (cell,) = cells.values()
    outcome = cell["repeats"][0]["outcome"]
    assert (outcome["status"], outcome["attempts"]) == ("oom_device", 1), outcome["reason"]


def memory_of_gpu() -> int:
    """Return the memory of the GPU in bytes, or skip if it has none of its own."""
    memory_bytes = the_gpu().memory_bytes
    if memory_bytes is None:
        pytest.skip("this GPU tells no size of its memory")
    return memory_bytes
