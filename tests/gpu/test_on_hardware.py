"""Cells on a real GPU, in the interpreter at hand: `make test-gpu`, on a host that has PyTorch or JAX and no Docker."""

import importlib.metadata
import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from orchestrator.devices import inventory
from orchestrator.processes import capture
from orchestrator.results.container_answers import read_answer
from orchestrator.results.telemetry.contract import Telemetry
from tests.envelopes import data_of

pytestmark = pytest.mark.gpu

FRAMEWORKS = {"torch": "torch", "jax": "jax"}
MODELS = {"lenet": 64, "resnet20": 64, "vgg19": 16, "lstm": 32}
LEAST_IN_TIME = 0.99
MOST_LOSS_APART = 1e-3


@pytest.fixture(scope="module", params=sorted(FRAMEWORKS))
def pin(request: pytest.FixtureRequest) -> str:
    """The installed release of a framework, on a host with a GPU. `make test-gpu` says that there must be one."""
    if not inventory().gpus:
        if os.environ.get("BENCH_REQUIRE_GPU") == "1":
            pytest.fail("no GPU here, or its driver does not answer")
        pytest.skip("no GPU here")
    try:
        version = importlib.metadata.version(FRAMEWORKS[request.param])
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{request.param} is not installed here")
    return f"{request.param}=={version.partition('+')[0]}"


@pytest.fixture(scope="module")
def measured(pin: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """The results of all models by cell, on one GPU and on the CPU, with the folder of each."""
    folder = tmp_path_factory.mktemp("gpu")
    models = [{"name": name, "batch_size": size} for name, size in MODELS.items()]
    return cells_of(folder, pin, models=models, modes=["train", "infer"], steps=50)


def cells_of(folder: Path, pin: str, **axes: object) -> Mapping[str, Any]:
    """Run a matrix of a framework by the command line, and return its cells by id."""
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    document = {
        "version": 1,
        "frameworks": [{"name": pin.partition("==")[0], "version": pin.partition("==")[2], "python": python}],
        "systems": {"1_gpu": {"gpus": 1}, "cpu": {}},
        "repeats": 1,
        "parity": False,
        **axes,
    }
    (folder / "matrix.yaml").write_text(json.dumps(document))
    command = [sys.executable, "-m", "orchestrator", "run", "-f", str(folder / "matrix.yaml"), "--runtime", "host"]
    command += ["--results", str(folder / "results"), "--json"]
    ended = capture(command, environment=os.environ, folder=folder, timeout_s=3600)
    (run,) = (folder / "results").glob("*/run.json")
    return {cell["id"]: {**cell, "folder": run.parent / cell["id"] / "0"} for cell in data_of(ended.output)["cells"]}


def results_of(measured: Mapping[str, Any], system: str) -> Mapping[str, Any]:
    """The results of the cells of a system, by their work."""
    of_system = {id_.partition("/")[2]: cell for id_, cell in measured.items() if f"-{system}/" in id_}
    return {work: json.loads((cell["folder"] / "result.json").read_text()) for work, cell in of_system.items()}


def test_every_cell_is_measured(measured: Mapping[str, Any]) -> None:
    ended = {id_: cell["repeats"][0]["outcome"] for id_, cell in measured.items()}

    assert len(ended) == 2 * 2 * len(MODELS)
    assert {id_: outcome["reason"] for id_, outcome in ended.items() if outcome["status"] != "ok"} == {}


def test_gpu_computes_the_loss_of_the_cpu(measured: Mapping[str, Any]) -> None:
    on_gpu, on_cpu = results_of(measured, "1_gpu"), results_of(measured, "cpu")
    for work, result in on_gpu.items():
        assert any(kind in result["facts"]["device"].lower() for kind in ("cuda", "gpu")), work
        if "train" in work:
            assert result["loss"]["first"] == pytest.approx(on_cpu[work]["loss"]["first"], rel=MOST_LOSS_APART), work


def test_gpu_tells_energy_memory_and_use(measured: Mapping[str, Any]) -> None:
    """Samples come in time, and no column that a report needs is missing."""
    for id_, cell in measured.items():
        if "-1_gpu/" not in id_:
            continue
        series = read_answer(cell["folder"] / "telemetry.json", Telemetry)
        assert series.in_time_share >= LEAST_IN_TIME, id_
        (gpu,) = series.gpus
        assert all(column for column in (gpu.energy_j, gpu.memory_bytes, gpu.busy_percent, gpu.power_w)), id_
        result = json.loads((cell["folder"] / "result.json").read_text())
        assert result["memory"]["peak_device_bytes"] > 0, id_
        assert all(math.isfinite(block["wall_s"]) and block["wall_s"] > 0 for block in result["blocks"])


def test_too_large_a_batch_is_out_of_memory(pin: str, tmp_path: Path) -> None:
    """A batch of all samples is beyond the memory of most GPUs, and ends as `oom_device`."""
    cells = cells_of(tmp_path, pin, models=[{"name": "vgg19", "batch_size": 50_000}], systems={"1_gpu": {"gpus": 1}})

    (cell,) = cells.values()
    outcome = cell["repeats"][0]["outcome"]
    assert outcome["status"] == "oom_device", outcome["reason"]


def test_largest_batch_agrees_three_times(pin: str, tmp_path: Path) -> None:
    """Three searches agree within 2 %, and a batch beyond what they refused is not launched."""
    models = [{"name": "vgg19", "batch_size": ["max", 50_000]}]
    cells = cells_of(tmp_path, pin, models=models, systems={"1_gpu": {"gpus": 1}}, repeats=3, timeout="30m")

    (search,) = (cell for id_, cell in cells.items() if "-bmax" in id_)
    (large,) = (cell for id_, cell in cells.items() if "-b50000" in id_)
    ended = [repeat["outcome"] for repeat in search["repeats"]]
    assert [outcome["status"] for outcome in ended] == ["ok"] * 3, ended
    found = [repeat["measurement"]["search"]["fits"] for repeat in search["repeats"]]
    assert max(found) <= 1.02 * min(found)
    if all(repeat["measurement"]["search"]["refused"] for repeat in search["repeats"]):
        assert {repeat["outcome"]["status"] for repeat in large["repeats"]} == {"oom_device"}
        assert {repeat["outcome"]["attempts"] for repeat in large["repeats"]} == {0}
