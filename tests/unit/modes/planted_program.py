"""A copy of the program with a mode and a framework in it, each added as two files."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from orchestrator.resources import ROOT

PLANTS = Path(__file__).parent / "plants"
PLACES = {
    "mode_in_the_container.py": "benchmarks/modes/peek.py",
    "mode_on_the_host.py": "orchestrator/modes/peek.py",
    "framework.py": "benchmarks/frameworks/dense.py",
    "framework.yaml": "images/catalog/dense.yaml",
}
MATRIX = """
version: 1
name: planted
frameworks: [{name: dense, version: "1", options: {chunks: [1, 2]}}]
models_folder: models
models: [tiny]
modes: [infer, peek]
systems: {cpu: {cpus: 1}}
repeats: 2
epochs: 2
"""
MODEL = """
TITLE = "Tiny"
INPUT_SHAPE = (6,)
CLASSES = 4
BATCH_SIZE = 8
SAMPLES = 256
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1}


def build(net):
    return net.dense(net.relu(net.dense(net.input(*INPUT_SHAPE), 5)), CLASSES)
"""
"""Its epochs are over at once, while blocks of steps would last seconds."""

Program = Callable[..., subprocess.CompletedProcess[str]]


def planted(folder: Path) -> Program:
    """Copy the program into a folder, plant a mode and a framework, and return a function that runs its commands."""
    for name in ("orchestrator", "benchmarks", "images"):
        # With what is compiled already, but nothing that another process is just writing.
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copy(ROOT / "matrix.yaml", folder)
    for name, place in PLACES.items():
        shutil.copy(PLANTS / name, folder / place)
    (folder / "planted.yaml").write_text(MATRIX)
    (folder / "models").mkdir()
    (folder / "models/tiny.py").write_text(MODEL)
    kept = {name: os.environ[name] for name in ("PATH", "ORCHESTRATOR_LOCK_FOLDER") if name in os.environ}
    variables = kept | {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "200"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "orchestrator", *arguments]
        return subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, timeout=300, check=False
        )

    return run
