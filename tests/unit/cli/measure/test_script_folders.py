"""Scripts without a container: each repeat finds the files as they were frozen, and what it writes is bounded."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.bundles.returns.collect import collect
from orchestrator.results.store import Run
from tests.envelopes import data_of

pytestmark = pytest.mark.ordinary_user

Program = Callable[..., tuple[int, str, str]]
RUN = ("run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0", "--json")
MATRIX = """version: 1
frameworks: [noop==1]
repeats: 2
output: {size: 32m, files: 100}
scripts:
  - name: word-lm
    file: scripts/train.py
    files: [lib/*.py]
    metrics:
      speed: {pattern: 'speed: ([0-9.]+)', unit: samples/s, better: higher}
"""
COUNTING = """import os
import lib.util
print("speed:", len(os.listdir(".")))
os.chmod("lib/util.py", 0o644)
open("lib/util.py", "a").write("CHANGED = 1\\n")
open("left", "w").write("x")
"""
FLOODING = """import os
print("speed: 1")
open("sparse", "w").truncate(3 * 2**30)
"""


@pytest.fixture
def program(tmp_path: Path, command: Program) -> Program:
    """Run a command in a folder with a matrix of one script."""
    (tmp_path / "scripts" / "lib").mkdir(parents=True)
    (tmp_path / "scripts" / "lib" / "util.py").write_text("SPEED = 5\n")
    (tmp_path / "scripts" / "train.py").write_text(COUNTING)
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    return command


def the_run(folder: Path) -> Path:
    (record,) = folder.glob("results/*/run.json")
    return record.parent


def repeat(folder: Path, number: int) -> Path:
    return the_run(folder) / "noop-1-cpu" / "word-lm-script" / str(number)


def test_every_repeat_finds_the_frozen_files_alone(program: Program, tmp_path: Path) -> None:
    code, _, errors = program(*RUN)

    assert code == 0, errors
    for number in (0, 1):
        result = json.loads((repeat(tmp_path, number) / "result.json").read_text())
        assert result["metrics"]["speed"]["values"] == [2.0]
    frozen = the_run(tmp_path) / "scripts" / "word-lm"
    assert sorted(path.name for path in frozen.rglob("*")) == ["lib", "train.py", "util.py"]
    assert (frozen / "lib" / "util.py").read_text() == "SPEED = 5\n"


def test_script_output_stays_and_its_copy_goes(program: Program, tmp_path: Path) -> None:
    """Files that a script leaves stay, and the copy of the script goes."""
    program(*RUN)

    left = sorted(path.relative_to(repeat(tmp_path, 0)).as_posix() for path in repeat(tmp_path, 0).glob("script/**/*"))
    assert left == ["script/left", "script/lib", "script/lib/util.py"], "train.py was not touched"
    assert (repeat(tmp_path, 0) / "script/lib/util.py").read_text().endswith("CHANGED = 1\n")


def test_a_script_that_leaves_nothing_leaves_no_folder(program: Program, tmp_path: Path) -> None:
    (tmp_path / "scripts" / "train.py").write_text("print('speed: 1')\n")
    program(*RUN)

    assert not (repeat(tmp_path, 0) / "script").exists()


def test_a_script_is_held_to_the_output_limit(program: Program, tmp_path: Path) -> None:
    """In its working directory too; its own files, which are larger than the limit here, do not count."""
    (tmp_path / "scripts" / "lib" / "large.py").write_text("#" * (40 * 2**20))
    (tmp_path / "scripts" / "train.py").write_text("print('speed: 1')\n")
    code, _, errors = program(*RUN)
    assert code == 0, errors
    (tmp_path / "scripts" / "train.py").write_text(FLOODING)
    code, out, _ = program(*RUN, "--results", "flooded")

    outcomes = [one["outcome"] for cell in data_of(out)["cells"] for one in cell["repeats"]]
    assert (code, [one["status"] for one in outcomes]) == (1, ["output_limit"] * 2)


def test_a_changed_frozen_file_is_never_run(program: Program, tmp_path: Path) -> None:
    frozen = "os.path.join(os.getcwd(), '../../../../scripts/word-lm/train.py')"
    change = f"import os\nprint('speed: 1')\nos.chmod({frozen}, 0o644)\nopen({frozen}, 'a').write('#')\n"
    (tmp_path / "scripts" / "train.py").write_text(change)
    code, out, _ = program(*RUN)

    outcomes = [one["outcome"] for cell in data_of(out)["cells"] for one in cell["repeats"]]
    assert (code, [one["status"] for one in outcomes]) == (1, ["ok", "launch_failed"])
    assert "train.py: is not what it was when the run began" in outcomes[1]["reason"]


def test_collect_carries_the_frozen_files_alone(program: Program, tmp_path: Path) -> None:
    program(*RUN)
    folder = the_run(tmp_path) / "scripts" / "word-lm"
    with (folder / "sparse").open("wb") as file:
        file.truncate(2**40)
    (folder / "0").mkdir()
    (folder / "0" / "result.json").write_text("{}")
    deep = folder
    for _ in range(70):
        deep /= "d"
        deep.mkdir()
    found = collect([Run(the_run(tmp_path))], tmp_path / "r.tar.zst", "0.1.0")

    assert found.size_bytes < 2**20
    lines = [line for line in found.left_out if "/scripts" in line]
    assert len(lines) == 1, found.left_out
    assert "3 files of 1,099,511.6 MB" in lines[0]
