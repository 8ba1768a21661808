# ruff: noqa: E501 — each message stands on one line, as it is printed
"""Foreign scripts through the whole program, on the interpreter at hand, as docs/scripts.md has it."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documented import introduction
from tests.envelopes import data_of

(SCRIPT,) = introduction("scripts.md", "python")
(MATRIX,) = introduction("scripts.md", "yaml")
NOOP = MATRIX.replace("mxnet==1.9.1", "noop==1")
Program = Callable[..., tuple[int, str, str]]
RUN = ("run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")


@pytest.fixture
def program(tmp_path: Path, command: Program) -> Program:
    """Run a command in the folder that the page describes, with `noop` in place of its framework."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "train.py").write_text(SCRIPT)
    (tmp_path / "matrix.yaml").write_text(NOOP)
    return command


def test_the_documented_matrix_runs_the_script(program: Program, tmp_path: Path) -> None:
    """The documented matrix runs the script and reads its figures."""
    code, out, errors = program(*RUN)

    assert code == 0, errors
    assert "As printed by the scripts, not measured by us" in out
    (run,) = (tmp_path / "results").iterdir()
    cell = run / "noop-1-cpu" / "word-lm-script"
    result = json.loads((cell / "1" / "result.json").read_text())
    assert result["metrics"] == {
        "speed": {"values": [1000.0, 1010.0, 1020.0], "matches": 3, "problem": None},
        "loss": {"values": [0.125], "matches": 1, "problem": None},
    }
    assert "greeting: hello" in (cell / "0" / "log.txt").read_text()

    report = data_of(program("report", "--format", "json")[1])
    (shown,) = report["cells"]
    figures = {
        each["name"]: (each["value"], each["unit"], each["better"], each["matches"]) for each in shown["printed"]
    }
    assert figures == {"speed": (1010.0, "samples/s", "higher", 6), "loss": (0.125, "nats", "lower", 2)}
    assert report["groups"] == [], "what a script prints is compared with nothing"
    assert shown["measurement"] is None


@pytest.mark.parametrize("form", ["table", "md", "html"])
def test_every_report_says_whose_figures_they_are(program: Program, tmp_path: Path, form: str) -> None:
    """Every form of a report says whose figures they are."""
    program(*RUN)

    code, out, _ = program("report", "--format", form, *(["-o", "page"] if form == "html" else []))

    page = (tmp_path / "page" / "index.html").read_text() if form == "html" else out
    assert code == 0
    assert "not measured by us" in page
    assert "1,010 samples/s" in page


def test_the_csv_has_columns_of_printed_figures(program: Program, tmp_path: Path) -> None:
    """The CSV has the figures that each repeat printed in columns of their own."""
    (tmp_path / "scripts" / "train.py").write_text(SCRIPT.replace("1000 + 10 * epoch", "1000 + os.getpid()"))
    (tmp_path / "matrix.yaml").write_text(NOOP + "models: [lenet]\n")
    program(*RUN)

    rows = list(csv.DictReader(io.StringIO(program("report", "--format", "csv")[1])))

    assert [(row["model"], row["mode"], row["repeat"]) for row in rows] == [
        ("lenet", "train", "0"), ("lenet", "train", "1"), ("word-lm", "script", "0"), ("word-lm", "script", "1"),
    ]  # fmt: skip
    assert [row["printed loss (nats)"] for row in rows] == ["", "", "0.125", "0.125"]
    for row in rows[2:]:
        (file,) = tmp_path.glob(f"results/*/noop-1-cpu/word-lm-script/{row['repeat']}/result.json")
        values = json.loads(file.read_text())["metrics"]["speed"]["values"]
        assert float(row["printed speed (samples/s)"]) == values[1], "that of the repeat itself"


def test_scripts_stand_beside_models_and_resume(program: Program, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(NOOP + "models: [lenet]\nexclude: [{model: word-lm, mode: train}]\n")

    code, _, errors = program(*RUN)

    assert code == 0, errors
    assert "matches nothing" in errors, "a script has no mode train"
    (run,) = (tmp_path / "results").iterdir()
    assert {path.name for path in (run / "noop-1-cpu").iterdir()} == {"lenet-train-b200", "word-lm-script"}
    (run / "noop-1-cpu" / "word-lm-script" / "0" / "outcome.json").unlink()
    assert program("run", "--resume", "latest", "--idle-wait", "0")[0] == 0


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("print('slow')", "invalid_result", "metric 'speed': nothing in the output matches the pattern 'speed: ([0-9.]+) samples/sec'"),
        ("print('speed: . samples/sec')", "invalid_result", "metric 'speed': the pattern 'speed: ([0-9.]+) samples/sec' matched '.', which is no finite number"),
        ("import sys; sys.exit('no data')", "failed", "the script train.py ended with status 1"),
        ("import os; os.kill(os.getpid(), 9)", "failed", "the script train.py was killed by signal 9"),
    ],
)  # fmt: skip
def test_a_script_without_figures_ends_with_the_reason(
    program: Program, tmp_path: Path, text: str, status: str, reason: str
) -> None:
    (tmp_path / "scripts" / "train.py").write_text(text)

    code, out, _ = program(*RUN, "--repeats", "1", "--json")

    (outcome,) = [repeat["outcome"] for cell in data_of(out)["cells"] for repeat in cell["repeats"]]
    assert (code, outcome["status"], outcome["reason"]) == (1, status, reason)


SEEING = """import os
import lib.util
print("speed:", lib.util.SPEED, "samples/sec")
print("seen:", sorted(os.path.relpath(os.path.join(top, name)) for top, _, names in os.walk(".") for name in names))
"""
DECLARING = NOOP.replace("file: scripts/train.py", "file: scripts/train.py\n    files: [lib/*.py]").replace(
    "      loss: {pattern: 'final loss = (?P<value>\\S+),', unit: nats, better: lower, take: last}\n", ""
)


@pytest.fixture
def declaring(program: Program, tmp_path: Path) -> Program:
    """A script with a module that it declares, and a neighbour that it does not."""
    (tmp_path / "scripts" / "train.py").write_text(SEEING)
    (tmp_path / "scripts" / "lib").mkdir()
    (tmp_path / "scripts" / "lib" / "util.py").write_text("SPEED = 5\n")
    (tmp_path / "scripts" / ".env").write_text("password")
    (tmp_path / "matrix.yaml").write_text(DECLARING)
    return program


def logs(folder: Path) -> list[str]:
    return [path.read_text() for path in sorted(folder.glob("results/*/noop-1-cpu/word-lm-script/*/log.txt"))]


def test_a_script_sees_only_its_declared_files(declaring: Program, tmp_path: Path) -> None:
    """A script sees the files that it declares, and no neighbour."""
    code, _, errors = declaring(*RUN)

    assert code == 0, errors
    assert len(logs(tmp_path)) == 2
    assert all("seen: ['lib/util.py', 'train.py']" in log for log in logs(tmp_path))
    (record,) = tmp_path.glob("results/*/run.json")
    assert str(tmp_path) not in json.dumps(json.loads(record.read_text())["plan"])


def test_a_resumed_run_uses_the_frozen_script(declaring: Program, tmp_path: Path) -> None:
    """A run goes on with the script as it was."""
    declaring(*RUN)
    (tmp_path / "scripts" / "lib" / "util.py").write_text("SPEED = 6\n")
    (tmp_path / "scripts" / "train.py").unlink()
    (run,) = (tmp_path / "results").iterdir()
    (run / "noop-1-cpu" / "word-lm-script" / "0" / "outcome.json").unlink()

    code, _, errors = declaring("run", "--resume", "latest", "--idle-wait", "0")

    assert code == 0, errors
    assert all("speed: 5 samples/sec" in log for log in logs(tmp_path))


def test_a_changed_frozen_script_stops_a_run(declaring: Program, tmp_path: Path) -> None:
    """A run whose frozen script was changed does not go on."""
    declaring(*RUN)
    (run,) = (tmp_path / "results").iterdir()
    copy = run / "scripts" / "word-lm" / "lib" / "util.py"
    copy.chmod(0o644)
    copy.write_text("SPEED = 6\n")

    code, _, errors = declaring("run", "--resume", "latest")

    assert code == 2
    assert "lib/util.py: is not what it was when the run began; bring it back, or begin a new run" in errors


def test_an_earlier_versions_run_is_only_reported(declaring: Program, tmp_path: Path) -> None:
    """A run of an earlier version is reported and not resumed."""
    declaring(*RUN)
    (path,) = tmp_path.glob("results/*/run.json")
    record = json.loads(path.read_text())
    script = record["plan"]["cells"][0]["script"]
    del script["entry"], script["files"]
    script["path"] = str(tmp_path / "scripts" / "train.py")
    path.write_text(json.dumps(record))

    assert "5 samples/s" in declaring("report")[1]
    code, _, errors = declaring("run", "--resume", "latest")

    assert code == 2
    assert "script word-lm: the plan names a place on a host" in errors
    assert "begin a new run of the matrix; what this one has measured stays" in errors


def test_a_stored_matrix_loads_its_frozen_scripts(declaring: Program, tmp_path: Path) -> None:
    """The stored matrix of a run loads with its frozen scripts."""
    declaring(*RUN)
    (run,) = (tmp_path / "results").iterdir()
    shutil.rmtree(tmp_path / "scripts")

    code, shown, errors = declaring("plan", "-f", str(run / "matrix.yaml"))

    assert code == 0, errors
    assert "word-lm-script" in shown
    assert "script word-lm: train.py, lib/util.py" in errors
