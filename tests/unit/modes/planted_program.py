"""A copy of the program with a mode and a framework in it, each added as two files."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

SEVERAL = """
import contextlib, io, json, sys
from orchestrator.cli import main
for line in sys.stdin:
    out, errors = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            main(json.loads(line))
        except SystemExit as end:
            code = end.code or 0
    print(json.dumps([code, out.getvalue(), errors.getvalue()]), flush=True)
"""
"""A command after the other in one process, as to load the program takes longer than most of them."""

Program = Callable[..., subprocess.CompletedProcess[str]]


def planted(folder: Path) -> Program:
    """Copy the program into a folder, plant a mode and a framework, and return a function that runs a command of it."""
    copy(folder)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "orchestrator", *arguments]
        return subprocess.run(
            command, cwd=folder, env=_variables(folder), capture_output=True, text=True, timeout=300, check=False
        )

    return run


@contextmanager
def running(folder: Path) -> Iterator[Program]:
    """Give a function that runs commands of a planted program in one process, which ends afterwards."""
    copy(folder)
    command = [sys.executable, "-c", SEVERAL]
    with subprocess.Popen(
        command, cwd=folder, env=_variables(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        asked, answers = process.stdin, process.stdout

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            asked.write(json.dumps(arguments) + "\n")
            asked.flush()
            return subprocess.CompletedProcess(arguments, *json.loads(answers.readline()))

        yield run
        asked.close()


def copy(folder: Path) -> None:
    """Copy the program into a folder, and plant a mode, a framework, a model and a matrix."""
    for name in ("orchestrator", "benchmarks", "images"):
        # With what is compiled already, but nothing that another process is just writing.
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copy(ROOT / "matrix.yaml", folder)
    for name, place in PLACES.items():
        shutil.copy(PLANTS / name, folder / place)
    (folder / "planted.yaml").write_text(MATRIX)
    (folder / "models").mkdir()
    (folder / "models/tiny.py").write_text(MODEL)


def _variables(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "ORCHESTRATOR_LOCK_FOLDER") if name in os.environ}
    return kept | {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "200"}
