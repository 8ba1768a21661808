"""Reading figures from the files that a script leaves, and from no other file."""

import sys
from pathlib import Path

import pytest
from container_support import request_of

from benchmarks.modes import script

PATTERN = r"speed (\d+)"


def figures(folder: Path, source: str, file: str = "logs/out.txt") -> dict[str, object]:
    """Run a script that is to leave a file, and return what was found of the metric in it."""
    (folder / "train.py").write_text(source)
    metric = {"name": "speed", "pattern": PATTERN, "take": "all", "file": file}
    asked = {"folder": str(folder), "file": "train.py", "arguments": [], "environment": {}, "metrics": [metric]}
    result = script.execute(request_of(mode="script", script=asked), lambda phase: None)
    found: dict[str, object] = result["metrics"]["speed"]
    return found


@pytest.fixture
def working(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("speed 666\n")
    (tmp_path / "script").mkdir()
    return tmp_path / "script"


def writing(text: str) -> str:
    return f"import os\nos.mkdir('logs')\nprint('speed 9')\nopen('logs/out.txt', 'w').write({text!r})\n"


def test_figures_come_from_the_file_alone(working: Path) -> None:
    assert figures(working, writing("speed 1\nspeed 2")) == {"values": [1.0, 2.0], "matches": 2, "problem": None}


def test_a_link_within_the_folder_is_followed(working: Path) -> None:
    source = writing("speed 3") + "os.symlink('logs', 'latest')\n"

    assert figures(working, source, "latest/out.txt")["values"] == [3.0]


@pytest.mark.parametrize(
    ("source", "file", "said"),
    [
        ("", "logs/out.txt", "the script left no such file in its working directory"),
        ("import os; os.mkdir('logs')", "logs", "it is no plain file"),
        ("import os; os.mkfifo('pipe')", "pipe", "it is no plain file"),
        ("import os; os.symlink('../secret', 'out')", "out", "it leads out of the working directory through a link"),
        ("import os; os.symlink('..', 'up')", "up/secret", "it leads out of the working directory through a link"),
        ("open('out', 'w').truncate(65 * 2**20)", "out", "it is larger than 64 MiB"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(working: Path, source: str, file: str, said: str) -> None:
    expected = f"cannot be looked for in the file {file!r}: {said}"

    assert figures(working, source, file) == {"values": [], "matches": 0, "problem": expected}


def test_a_swapped_link_is_not_followed(working: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that outlives the script may replace a file between two looks at it."""
    (working / "out").symlink_to("../secret")
    monkeypatch.setattr(script.os.path, "realpath", str)
    opened = f"it cannot be read: {'Too many levels of symbolic links' if sys.platform == 'linux' else ''}"

    assert figures(working, "", "out")["problem"] == f"cannot be looked for in the file 'out': {opened}"
