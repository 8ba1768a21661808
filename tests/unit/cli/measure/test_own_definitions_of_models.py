"""A framework's own definition of a model through the whole program, on the interpreter at hand, for `noop`."""

import csv
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.reporting.formats import GITHUB, HTML, formats_of
from orchestrator.reporting.reports.run import RUN as RUN_REPORT
from tests.documented import blocks
from tests.envelopes import data_of

(MODEL,) = blocks("models.md", "A model of your own", "python")
MATRIX = "version: 1\nmodels_folder: mine\nframeworks: [noop==1]\nmodels: [wide, lenet]\nrepeats: 1\n"
OWN = """\
def start(workload):
    return Session()


class Session:
    batches = (None,)
    parameters = 64 * 256 + 256 + 2560 + 10
    short_blocks = True

    def step(self, batch):
        pass

    synchronise = fetch = step

    def loss(self, handle):
        return 0.5

    def facts(self):
        return {"definition_sha256": "of its own making"}
"""
Program = Callable[..., tuple[int, str, str]]
RUN = ("run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")
CELL = "noop-1-cpu/wide-train-b64-definition=own"


@pytest.fixture
def program(tmp_path: Path, command: Program) -> Program:
    (tmp_path / "mine" / "wide").mkdir(parents=True)
    (tmp_path / "mine" / "wide.py").write_text(MODEL)
    (tmp_path / "mine" / "wide" / "noop.py").write_text(OWN)
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    return command


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def outcome(said: str, cell: str = CELL) -> dict[str, Any]:
    (found,) = [
        repeat["outcome"] for each in data_of(said)["cells"] for repeat in each["repeats"]
        if each["cell"]["id"] == cell
    ]  # fmt: skip
    result: dict[str, Any] = found
    return result


def test_a_definition_makes_another_cell(program: Program, tmp_path: Path) -> None:
    """The plan has the definition, and its cell is another one than without it."""
    code, out, _ = program("plan", "--json")

    assert code == 0
    plan = data_of(out)
    assert plan["definitions"] == [{"model": "wide", "builder": "noop", "sha256": sha256(OWN)}]
    assert {cell["id"]: cell["definition"] for cell in plan["cells"]} == {
        CELL: sha256(OWN), "noop-1-cpu/lenet-train-b200": None
    }  # fmt: skip
    assert data_of(program("plan", "--json", "--select", "*lenet*")[1])["definitions"] == []
    (tmp_path / "mine" / "wide" / "noop.py").unlink()
    assert [cell["id"] for cell in data_of(program("plan", "--json")[1])["cells"]] == [
        "noop-1-cpu/wide-train-b64", "noop-1-cpu/lenet-train-b200"
    ]  # fmt: skip


def test_models_lists_who_has_one(program: Program) -> None:
    listed = {model["name"]: model["definitions"] for model in data_of(program("models", "--json")[1])}

    assert listed["wide"] == {"noop": sha256(OWN)}
    assert listed["lenet"] == {}
    assert "own definitions" in program("models")[1]


def test_a_definition_runs_and_resumes_without_its_folder(program: Program, tmp_path: Path) -> None:
    """A definition runs, resumes without its folder, and is recorded in facts that it cannot change."""
    code, _, errors = program(*RUN)

    assert code == 0, errors
    (run,) = (tmp_path / "results").iterdir()
    repeat = run / CELL / "0"
    result = json.loads((repeat / "result.json").read_text())
    assert result["loss"] == {"first": 0.5, "last": 0.5}
    assert (result["facts"]["definition_sha256"], result["facts"]["threads"]) == (sha256(OWN), None)
    lenet = json.loads((run / "noop-1-cpu" / "lenet-train-b200" / "0" / "result.json").read_text())
    assert lenet["facts"]["definition_sha256"] is None
    assert (repeat / "definition.py").read_text() == (run / "models" / "wide" / "noop.py").read_text() == OWN

    (tmp_path / "mine" / "wide" / "noop.py").unlink()
    (repeat / "outcome.json").unlink()
    code, _, errors = program("run", "--resume", "latest", "--idle-wait", "0")

    assert code == 0, errors
    assert json.loads((repeat / "result.json").read_text())["facts"]["definition_sha256"] == sha256(OWN)


@pytest.mark.parametrize("form", [name for name in formats_of(RUN_REPORT) if name not in {HTML, GITHUB}])
def test_every_report_names_the_own_definition(program: Program, form: str) -> None:
    """Every report says that the model was not the builder's."""
    assert program(*RUN, "--select", CELL)[0] == 0

    said = program("report", "--format", form)[1]

    assert "own definition" in said or "definition=own" in said
    if form == "csv":
        assert [row["definition"] for row in csv.DictReader(said.splitlines())] == [sha256(OWN)]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("+ 10\n", "+ 11\n", "the framework made 19211 parameters of a model that has 19210"),
        ("return Session()", "return Session(5)", "wide/noop.py:2: TypeError: "),
        ("    parameters =", "    counted =", "wide/noop.py: its session has no parameters"),
        ("def start", "import nothing_at_all\n\n\ndef start", "wide/noop.py:1: ModuleNotFoundError: "),
        ("def start", "OPTIONS = ['layout']\n\n\ndef start", "wide/noop.py: OPTIONS: noop has no option 'layout'"),
    ],
)  # fmt: skip
def test_a_faulty_definition_ends_the_repeat(program: Program, tmp_path: Path, old: str, new: str, reason: str) -> None:
    """A mistake of the definition ends the repeat with one sentence."""
    assert old in OWN
    (tmp_path / "mine" / "wide" / "noop.py").write_text(OWN.replace(old, new))

    code, out, _ = program(*RUN, "--select", CELL, "--json")

    assert code == 1
    assert outcome(out)["status"] == "failed"
    assert outcome(out)["reason"].startswith(reason)


def test_mistakes_are_told_before_anything_runs(program: Program, tmp_path: Path) -> None:
    (tmp_path / "mine" / "wide" / "noop.py").write_text("x = (")
    (tmp_path / "mine" / "wide" / "pytorch.py").write_text(OWN)

    code, _, errors = program(*RUN)

    assert code == 2
    first, second = errors.splitlines()
    assert first.endswith("mine/wide/noop.py:1:5: not a definition: '(' was never closed")
    assert "mine/wide/pytorch.py:1:1: not a definition: no framework builder is called 'pytorch'" in second
    assert not (tmp_path / "results").exists()


def test_a_model_file_finds_its_neighbouring_definition(program: Program, tmp_path: Path) -> None:
    """A file that is measured by hand finds its definition next to it."""
    command = [sys.executable, "-m", "benchmarks.run", str(tmp_path / "mine" / "wide.py"), "--framework", "noop"]

    ended = subprocess.run([*command, "--steps", "5"], capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr
    assert "definition  of its own for this framework: wide/noop.py\n" in ended.stdout
