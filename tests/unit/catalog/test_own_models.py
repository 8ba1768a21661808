# ruff: noqa: E501 — each message stands on one line, as it is printed
"""Models of a user's folder: read without being run, refused with their place."""

import os
from pathlib import Path

import pytest

from orchestrator import catalog, resources
from tests.documented import blocks

(GOOD,) = blocks("models.md", "A model of your own", "python")
SHIPPED = catalog.load_models(resources.BENCHMARKS / "models")


def read(folder: Path, **texts: str) -> tuple[dict[str, catalog.ModelInfo], list[str]]:
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    found, mistakes = catalog.own_models(folder, SHIPPED, "mine")
    return found, list(mistakes.values())


def test_the_documented_model_is_read_with_its_hash(tmp_path: Path) -> None:
    """The documented model is read with its text and its hash."""
    found, mistakes = read(tmp_path, wide=GOOD)

    assert mistakes == []
    info = found["wide"]
    assert (info.title, info.input_shape, info.batch_size) == ("Wide", (1, 8, 8), 64)
    assert info.own is not None
    assert info.own.source == GOOD
    assert len(info.own.sha256) == 64


def test_nothing_of_the_file_is_executed(tmp_path: Path) -> None:
    found, mistakes = read(tmp_path, wide=GOOD + f"\nopen({str(tmp_path / 'ran')!r}, 'w')\n")

    assert (list(found), mistakes) == (["wide"], [])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = (", "mine/wide.py:1:5: not a model: '(' was never closed"),
        (GOOD.replace("CLASSES = 10", "CLASSES = ten"), "mine/wide.py:5:11: not a model: CLASSES must be a literal int at the top of the file"),
        (GOOD.replace("(1, 8, 8)", "(1, 0, 8)"), "mine/wide.py:4:15: not a model: INPUT_SHAPE must hold whole numbers from 1, such as (1, 28, 28)"),
        (GOOD.replace("SAMPLES = 2000", "SAMPLES = True"), "mine/wide.py:7:11: not a model: SAMPLES must be a whole number from 1"),
        (GOOD.replace('"learning_rate": 0.1, ', ""), 'mine/wide.py:8:13: not a model: OPTIMIZER must have a name and a learning_rate, as in {"name": "adam", "learning_rate": 0.001}'),
        (GOOD.replace("CLASSES", "PARITY_LEARNING_RATE = 0\nCLASSES", 1), "mine/wide.py:5:24: not a model: PARITY_LEARNING_RATE must be a number above 0, such as 0.001"),
        (GOOD.replace("def build(net)", "def make(net)"), "mine/wide.py:1:1: not a model: it has no function build(net)"),
        (GOOD.replace("def build(net)", "def build(net, x)"), "mine/wide.py:11:1: not a model: build takes one argument, net"),
        ("é", "mine/wide.py:1:1: not a model: TITLE must be a literal str at the top of the file"),
        ("\0", "mine/wide.py:1:1: not a model: source code string cannot contain null bytes"),
    ],
)  # fmt: skip
def test_a_bad_model_is_reported_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    """A file that is no model is reported with its line."""
    assert read(tmp_path, wide=text) == ({}, [message])


def test_a_name_that_the_program_has_is_refused(tmp_path: Path) -> None:
    found, mistakes = read(tmp_path, lenet=GOOD, wide=GOOD)

    assert list(found) == ["wide"]
    assert mistakes == ["mine/lenet.py:1:1: a model 'lenet' is there already; give the file another name"]


def test_a_name_unfit_for_ids_is_refused(tmp_path: Path) -> None:
    """A name that could not stand in an id is refused."""
    (tmp_path / "My-Model.py").write_text(GOOD)

    assert read(tmp_path)[1] == [
        "mine/My-Model.py:1:1: not a model: its name 'My-Model' should be lowercase letters, digits and '_'"
    ]


def test_a_folder_without_models_is_a_mistake(tmp_path: Path) -> None:
    """A folder without models is reported as such, and private files are no models."""
    (tmp_path / "_part.py").write_text("x")
    (tmp_path / ".hidden.py").write_text("x")

    assert read(tmp_path)[1] == ["mine: holds no model; a model is a file NAME.py, as docs/models.md shows"]


def test_an_unreadable_file_is_a_plain_mistake(tmp_path: Path) -> None:
    """A file that cannot be read is a mistake and no traceback."""
    (tmp_path / "bad.py").write_bytes(b"\xff\xfe")
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "zeros.py").symlink_to("/dev/zero")

    _, mistakes = read(tmp_path, deep="x = " + "(" * 5000)

    assert [mistake.partition(": ")[0].rpartition(":")[0] for mistake in mistakes] == [
        "mine/bad.py:1",
        "mine/deep.py:1",
        "mine/folder.py:1",
        "mine/pipe.py:1",
        "mine/zeros.py:1",
    ]
    assert mistakes[-1] == "mine/zeros.py:1:1: not a model: is no plain file"


def test_huge_files_are_refused_and_windows_ones_read(tmp_path: Path) -> None:
    """A file beyond reason is refused, and one with the line ends of Windows is read as text."""
    (tmp_path / "windows.py").write_bytes(GOOD.replace("\n", "\r\n").encode())

    found, mistakes = read(tmp_path, huge="#" * (1024 * 1024 + 1))

    assert mistakes == ["mine/huge.py:1:1: not a model: the file is larger than 1048576 bytes"]
    assert found["windows"].own is not None
    assert found["windows"].own.source == GOOD
