"""Cells on a device of this host, in the interpreter at hand, for the tests that need a GPU.

With `BENCH_TEST_DEVICE=cpu` the device is the CPU. Then the same code runs on a host without GPUs, and what only a GPU
has is left out.
"""

import importlib.metadata
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from orchestrator.devices import Gpu, inventory
from orchestrator.processes import capture
from tests.envelopes import data_of

IS_GPU = os.environ.get("BENCH_TEST_DEVICE", "gpu") == "gpu"
DEVICE: Mapping[str, Any] = {"gpus": 1} if IS_GPU else {"cpus": 1}
"""The system whose cells are looked at, by the name `device`."""
WIDTH = 2**20
"""Values that a layer of the model `wide` yields for a sample, which are 4 bytes each."""
WIDE = f"""\
TITLE = "Wide"
INPUT_SHAPE = (16,)
CLASSES = 2
BATCH_SIZE = {{first}}
SAMPLES = 200000
OPTIMIZER = {{{{"name": "sgd", "learning_rate": 0.001}}}}
def build(net):
    return net.dense(net.relu(net.dense(net.input(*INPUT_SHAPE), {WIDTH})), CLASSES)
"""


def the_gpu() -> Gpu:
    """Return the GPU that cells get. Without one, the test is skipped, or fails where there must be one."""
    gpus = inventory().gpus
    if not gpus:
        if os.environ.get("BENCH_REQUIRE_GPU") == "1":
            pytest.fail("no GPU here, or its driver does not answer")
        pytest.skip("no GPU here")
    return gpus[0]


def pin_of(framework: str) -> str:
    """Return the installed release of a framework as a matrix names it, or skip."""
    if IS_GPU:
        the_gpu()
    try:
        version = importlib.metadata.version(framework)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{framework} is not installed here")
    return f"{framework}=={version.partition('+')[0]}"


def too_large(memory_bytes: int) -> int:
    """Return a batch of the model `wide` for which the output of one layer alone is larger than a memory."""
    return memory_bytes // (4 * WIDTH) + 1


def write_wide(folder: Path, first: int) -> None:
    """Write the model `wide`, whose search for the largest batch begins with so many samples."""
    (folder / "mine").mkdir()
    (folder / "mine" / "wide.py").write_text(WIDE.format(first=first))


def cells_of(folder: Path, pin: str, **axes: object) -> Mapping[str, Any]:
    """Run a matrix of a framework on the device by the command line, and return its cells by id."""
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    name, _, version = pin.partition("==")
    document = {
        "version": 1,
        "frameworks": [{"name": name, "version": version, "python": python}],
        "systems": {"device": DEVICE},
        "repeats": 1,
        "parity": False,
        **axes,
    }
    (folder / "matrix.yaml").write_text(json.dumps(document))
    command = [sys.executable, "-m", "orchestrator", "run", "-f", str(folder / "matrix.yaml"), "--runtime", "host"]
    command += ["--results", str(folder / "results"), "--json"]
    ended = capture(command, environment=os.environ, folder=folder, timeout_s=3600)
    assert ended.output, ended.errors
    (run,) = (folder / "results").glob("*/run.json")
    cells = {cell["cell"]["id"]: cell for cell in data_of(ended.output)["cells"]}
    return {id_: {**cell, "folder": run.parent / id_ / "0"} for id_, cell in cells.items()}


def of_system(cells: Mapping[str, Any], system: str) -> Mapping[str, Any]:
    """Return the cells of a system by their work, each with its `result`."""
    chosen = {id_.partition("/")[2]: cell for id_, cell in cells.items() if f"-{system}/" in id_}
    return {
        work: {**cell, "result": json.loads((cell["folder"] / "result.json").read_text())}
        for work, cell in chosen.items()
    }
