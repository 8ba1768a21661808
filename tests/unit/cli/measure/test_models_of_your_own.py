"""A model of the user's own through the whole program, on the interpreter at hand."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documented import blocks
from tests.envelopes import data_of

(MODEL,) = blocks("models.md", "A model of your own", "python")
(MATRIX,) = blocks("models.md", "A model of your own", "yaml")
NOOP = MATRIX.replace("[mxnet==1.9.1, torch==2.13.0]", "[noop==1]")
Program = Callable[..., tuple[int, str, str]]


@pytest.fixture
def program(tmp_path: Path, command: Program) -> Program:
    """Run a command in the folder that the page describes, with `noop` in place of its frameworks."""
    (tmp_path / "my_models").mkdir()
    (tmp_path / "my_models" / "wide.py").write_text(MODEL)
    (tmp_path / "matrix.yaml").write_text(NOOP)
    return command


def test_the_documented_matrix_resumes_without_the_folder(program: Program, tmp_path: Path) -> None:
    """The documented matrix runs, and resumes without the folder of its models."""
    code, _, errors = program(
        "run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0", "--select", "*/wide-*"
    )

    assert code == 0, errors
    (run,) = (tmp_path / "results").iterdir()
    results = [json.loads(path.read_text()) for path in run.glob("noop-1-cpu/wide-*/0/result.json")]
    assert len(results) == 2
    assert {result["facts"]["model_sha256"] for result in results} == {hashlib.sha256(MODEL.encode()).hexdigest()}
    assert {result["model"]["parameters"] for result in results} == {64 * 256 + 256 + 256 * 10 + 10}
    assert (run / "models" / "wide.py").read_text() == MODEL

    (tmp_path / "my_models" / "wide.py").unlink()
    (run / "noop-1-cpu" / "wide-train-b64" / "0" / "outcome.json").unlink()
    code, _, errors = program("run", "--resume", "latest", "--idle-wait", "0")

    assert code == 0, errors
    again = json.loads((run / "noop-1-cpu" / "wide-train-b64" / "0" / "result.json").read_text())
    assert again["facts"]["model_sha256"] == hashlib.sha256(MODEL.encode()).hexdigest()


def test_models_may_come_from_the_command_line(program: Program, tmp_path: Path) -> None:
    """Models of the command line are as good as those of the matrix."""
    (tmp_path / "matrix.yaml").write_text(NOOP.replace("models_folder: my_models\n", ""))

    assert program("plan")[0] == 2
    code, out, _ = program("plan", "--models", "my_models", "--json")

    assert code == 0
    assert [model["name"] for model in data_of(out)["models"]] == ["wide"]
    code, _, errors = program("plan", "--models", "nowhere")
    assert (code, errors) == (2, "nowhere: no such folder; --models names one with models of your own\n")


def test_models_lists_them_beside_the_programs(program: Program, tmp_path: Path) -> None:
    listed = {model["name"]: model for model in data_of(program("models", "--json")[1])}

    assert listed["wide"]["own"] == {"sha256": hashlib.sha256(MODEL.encode()).hexdigest()}
    assert listed["lenet"]["own"] is None
    (tmp_path / "matrix.yaml").unlink()
    assert "wide" not in program("models")[1]
    assert "wide" in program("models", "--models", "my_models")[1]


def test_what_the_vocabulary_refuses_is_no_plan(program: Program, tmp_path: Path) -> None:
    (tmp_path / "my_models" / "wide.py").write_text(
        MODEL.replace("net.flatten(net.input(*INPUT_SHAPE))", "net.input(*INPUT_SHAPE)")
    )

    for command in ("plan", "run"):
        assert program(command) == (
            2,
            "",
            "my_models/wide.py:14:31: not a model: dense takes flat features, not the shape (1, 8, 8); flatten first\n",
        )
    assert not (tmp_path / "results").exists()


def test_a_run_of_a_model_refused_today_resumes(program: Program, tmp_path: Path) -> None:
    """Its plan was made before the host followed a model's `build`."""
    options = ("--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")
    assert program("run", *options)[0] == 0
    (stored,) = tmp_path.glob("results/*/models/wide.py")
    stored.write_text(MODEL.replace("net.dense(", "net.gelu("))

    assert program("run", *options, "--resume", "latest")[0] == 0


def test_an_unfollowed_mistake_ends_the_repeat(program: Program, tmp_path: Path) -> None:
    """A mistake that the host does not follow ends the repeat with its line."""
    (tmp_path / "my_models" / "wide.py").write_text(
        MODEL.replace("net.flatten(net.input(*INPUT_SHAPE))", "(lambda: net.input(*INPUT_SHAPE))()")
    )

    code, out, _ = program(
        "run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0", "--select", "*/wide-train-b64", "--json"
    )

    assert code == 1
    (outcome,) = [repeat["outcome"] for cell in data_of(out)["cells"] for repeat in cell["repeats"]]
    assert outcome["status"] == "failed"
    assert outcome["reason"] == "wide.py:14: dense takes flat features, not the shape (1, 8, 8); flatten first"


def test_a_model_file_is_measured_by_hand(tmp_path: Path) -> None:
    (tmp_path / "wide.py").write_text(MODEL)
    command = [sys.executable, "-m", "benchmarks.run", str(tmp_path / "wide.py"), "--framework", "noop", "--steps", "5"]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("Wide, train, batches of 64")
    missing = subprocess.run([*command[:3], "no.py", *command[4:]], capture_output=True, text=True, check=False)
    assert (missing.returncode, missing.stderr.splitlines()[-1].partition(" cannot")[2]) == (
        5, " be read: No such file or directory"
    )  # fmt: skip
