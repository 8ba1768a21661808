"""Scripts with a working directory of their own: what they write there is read, kept, bounded and collected."""

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

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
    files: [settings.txt]
    workdir: copy
    metrics:
      speed: {pattern: 'speed: ([0-9.]+)', unit: samples/s, better: higher, file: logs/train.txt}
"""
WRITING = """import os
open("settings.txt", "a").write("changed")
os.mkdir("logs")
open("logs/train.txt", "w").write("speed: %d" % len(open("settings.txt").read()))
"""


@pytest.fixture
def program(tmp_path: Path, command: Program) -> Program:
    """Run a command in a folder with a matrix of one script."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "settings.txt").write_text("as is")
    (tmp_path / "scripts" / "train.py").write_text(WRITING)
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    return command


def the_run(folder: Path) -> Path:
    (record,) = folder.glob("results/*/run.json")
    return record.parent


def outcome(out: str) -> dict[str, str]:
    outcomes = [one["outcome"] for cell in data_of(out)["cells"] for one in cell["repeats"]]
    found: dict[str, str] = outcomes[0]
    return found


def test_every_repeat_writes_into_a_fresh_copy(program: Program, tmp_path: Path) -> None:
    code, _, errors = program(*RUN)

    assert code == 0, errors
    for number in (0, 1):
        repeat = the_run(tmp_path) / "noop-1-cpu" / "word-lm-script" / str(number)
        assert json.loads((repeat / "result.json").read_text())["metrics"]["speed"]["values"] == [12.0]
        left = sorted(path.relative_to(repeat).as_posix() for path in repeat.glob("script/**/*"))
        assert left == ["script/logs", "script/logs/train.txt", "script/settings.txt"]
        assert (repeat / "script" / "settings.txt").stat().st_mode & 0o200, "its owner may write to the copy"
    assert (the_run(tmp_path) / "scripts/word-lm/settings.txt").read_text() == "as is"


def test_a_missing_file_names_the_metric(program: Program, tmp_path: Path) -> None:
    (tmp_path / "scripts" / "train.py").write_text("print('speed: 1')")

    code, out, _ = program(*RUN)

    assert (code, outcome(out)["status"]) == (1, "invalid_result")
    assert outcome(out)["reason"] == (
        "metric 'speed': the pattern 'speed: ([0-9.]+)' cannot be looked for in the file 'logs/train.txt': "
        "the script left no such file in its working directory"
    )


def test_a_file_without_the_figure_is_named(program: Program, tmp_path: Path) -> None:
    (tmp_path / "scripts" / "train.py").write_text(WRITING.replace("speed:", "pace:"))

    _, out, _ = program(*RUN)

    said = "metric 'speed': nothing in the file 'logs/train.txt' matches the pattern 'speed: ([0-9.]+)'"
    assert (outcome(out)["status"], outcome(out)["reason"]) == ("invalid_result", said)


def test_what_is_written_is_bounded(program: Program, tmp_path: Path) -> None:
    (tmp_path / "scripts" / "train.py").write_text(WRITING + "open('large', 'w').truncate(2**30)\n")

    code, out, _ = program(*RUN)

    assert (code, outcome(out)["status"]) == (1, "output_limit")


def test_collect_counts_it_as_foreign_files(program: Program, tmp_path: Path) -> None:
    (tmp_path / "scripts" / "train.py").write_text(WRITING + "open('result.json', 'w').write('{}')\n")
    program(*RUN)
    large = the_run(tmp_path) / "noop-1-cpu/word-lm-script/1/script/large"
    with large.open("wb") as file:
        file.truncate(65 * 2**20)

    found = collect([Run(the_run(tmp_path))], tmp_path / "r.tar.zst", "0.1.0")

    (line,) = found.left_out
    assert line.endswith("/word-lm-script/1': 1 files of 68.2 MB, beyond 1,000 files and 64 MiB of its own files")
    with (
        (tmp_path / "r.tar.zst").open("rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        names = [
            name.partition("word-lm-script/")[2] for name in archive.getnames() if "word-lm-script/0/script" in name
        ]
    assert sorted(names) == ["0/script/logs/train.txt", "0/script/result.json", "0/script/settings.txt"]
