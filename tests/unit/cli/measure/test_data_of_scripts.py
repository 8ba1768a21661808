"""Datasets of foreign scripts: shown in the place of {data}, held against their sums, and recorded."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.datasets_in_original_formats import IDX, drawn, write_idx
from tests.envelopes import data_of

Program = Callable[..., tuple[int, str, str]]
RUN = ("run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0", "--json")
MATRIX = """version: 1
frameworks: [noop==1]
repeats: 1
data_folder: data
datasets:
  signs: {format: idx, image: [1, 16, 16], classes: 5, training: 60, testing: 20}
scripts:
  - name: reader
    file: train.py
    data: signs
    arguments: ["--from={data}"]
    environment: {FOLDER: "{data}/x"}
    metrics:
      files: {pattern: 'files: ([0-9]+)', unit: files, better: higher}
"""
READING = """import os, sys
folder = sys.argv[1].partition("=")[2]
assert os.environ["FOLDER"] == folder + "/x", os.environ["FOLDER"]
print("files:", len(os.listdir(folder)))
"""


@pytest.fixture
def program(tmp_path: Path, command: Program) -> Program:
    """Run a command in a folder with a script and a dataset."""
    write(tmp_path, 1)
    (tmp_path / "train.py").write_text(READING)
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    return command


def write(folder: Path, seed: int) -> None:
    image = (1, 16, 16)
    write_idx(folder / "data" / "signs", drawn(60, image, 5, seed), drawn(20, image, 5, 9), packed=False)


def test_a_script_reads_its_dataset(program: Program, tmp_path: Path) -> None:
    code, _, errors = program(*RUN)

    assert code == 0, errors
    (folder,) = tmp_path.glob("results/*/noop-1-cpu/reader-script/0")
    request, result = (json.loads((folder / name).read_text()) for name in ("request.json", "result.json"))
    assert result["metrics"]["files"]["values"] == [4.0]
    assert request["script"]["arguments"] == [f"--from={tmp_path}/data/signs"]
    assert list(request["data"]["files"]) == list(IDX)
    (record,) = tmp_path.glob("results/*/run.json")
    (data,) = json.loads(record.read_text())["plan"]["data"]
    assert data["name"] == "signs"


def test_a_script_without_data_keeps_its_braces(program: Program, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX.replace("    data: signs\n", "").replace("{data}/x", "{data}"))
    (tmp_path / "train.py").write_text("import sys\nprint('files:', len(sys.argv[1]))\n")

    assert program(*RUN)[0] == 0
    (path,) = tmp_path.glob("results/*/noop-1-cpu/reader-script/0/request.json")
    assert json.loads(path.read_text())["script"]["arguments"] == ["--from={data}"]
    assert json.loads(path.read_text())["data"] is None


def test_missing_data_stops_the_run(program: Program, tmp_path: Path) -> None:
    (tmp_path / "data").rename(tmp_path / "away")

    code, _, errors = program(*RUN)

    assert code == 2
    assert f"{tmp_path}/data/signs: no such folder; it should hold the files of signs" in errors
    assert not (tmp_path / "results").exists()


def test_changed_data_ends_a_resumed_run(program: Program, tmp_path: Path) -> None:
    program(*RUN)
    (outcome,) = tmp_path.glob("results/*/noop-1-cpu/reader-script/0/outcome.json")
    outcome.unlink()
    write(tmp_path, 2)

    code, _, errors = program("run", "--resume", "latest", "--idle-wait", "0")

    assert code == 2
    assert f"{IDX[0]}: is another file" in errors


def test_the_long_form_keeps_the_dataset(program: Program, tmp_path: Path) -> None:
    _, long, _ = program("plan", "--long")
    (tmp_path / "long.yaml").write_text(long)

    (cell,) = data_of(program("plan", "-f", "long.yaml", "--json")[1])["cells"]
    assert (cell["id"], cell["dataset"]) == ("noop-1-cpu/reader-script", "signs")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sings", "unknown dataset 'sings', and `datasets` describes none of that name; did you mean 'signs'?"),
        ("digits", "'digits' has no files to show a script; there is mnist, "),
        ("synthetic", "'synthetic' has no files to show a script; there is mnist, "),
    ],
)
def test_a_dataset_without_files_is_refused(program: Program, tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX.replace("data: signs", f"data: {name}"))

    code, _, errors = program("plan")

    assert code == 2
    assert "matrix.yaml:10:11: scripts.data: " in errors
    assert said in errors
