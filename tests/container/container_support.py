"""Requests, and a way to start the container side, for its tests."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from benchmarks import contract
from orchestrator.domain import Framework
from orchestrator.resources import ROOT
from orchestrator.results.contract import Result
from orchestrator.results.parity.contract import ParityResult

REQUIRED = tuple(f"3.{minor}" for minor in range(6, 14))
NEWEST = "3.14"
"""Tried where it is at hand; no gate needs it."""

Measure = Callable[..., Result]
Check = Callable[..., ParityResult]
MXNET_1_5 = Framework("mxnet", "1.5.1")
RELEASES = {
    "torch": Framework("torch", "2.13.0"),
    "jax": Framework("jax", "0.12.0.1"),
    "mxnet": Framework("mxnet", "1.9.1"),
    "mxnet-1.5.1": MXNET_1_5,
    "mxnet-mkl": Framework("mxnet-mkl", "1.6.0"),
    "tensorflow": Framework("tensorflow", "2.21.0"),
    "keras-mxnet": Framework("keras-mxnet", "2.2.4.3", backend=MXNET_1_5),
}
SLOW = {"jax", "mxnet-1.5.1", "mxnet-mkl", "tensorflow", "keras-mxnet"}


def missing_interpreter(python: str, what: str) -> NoReturn:
    """Skip where this host lacks a Python; fail where the environment says that it must be there."""
    if os.environ.get("BENCH_REQUIRE_INTERPRETERS") == "1" and python in REQUIRED:
        pytest.fail(f"{what}, and BENCH_REQUIRE_INTERPRETERS=1 says that there must be one")
    pytest.skip(what)


def document(**changes: Any) -> dict[str, Any]:
    """A request as the host writes it, for the noop builder, with changes."""
    return {
        "schema": 1, "cell": "noop-1-cpu/lenet-train-b200", "repeat": 0, "framework": "noop", "builder": "noop",
        "model": "lenet", "mode": "train", "batch_size": 200, "dataset": "synthetic", "options": {}, "seed": 0,
        "threads": None, "cpuset": None, "gpus": 0, "warmup_steps": 10, "steps": 50, "epochs": None,
        "min_blocks": 10, "min_block_s": 0.2, "latency_steps": 50,
    } | changes  # fmt: skip


def request_of(**changes: Any) -> contract.Request:
    """The same request, read and checked."""
    return contract.request(document(**changes))


def start(
    *arguments: str, python: Path | str = sys.executable, path: Path = ROOT, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `python -m benchmarks.run` with arguments, in an environment of its own."""
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(path)} | variables
    command = [str(python), "-m", "benchmarks.run", *arguments]
    return subprocess.run(command, env=environment, cwd=path, capture_output=True, text=True, timeout=300, check=False)
