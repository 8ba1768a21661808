"""The inputs of parts as a batch script carries them."""

import base64
from pathlib import Path

import pytest

from orchestrator.clusters.carried import packed, unpack
from orchestrator.errors import InputError

MATRIX = "\n".join(f"# {number}" for number in range(20_000))
"""Larger than what is decompressed at once."""


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    """The packed files of a run with one part."""
    folder = tmp_path / "run"
    (folder / "parts" / "000").mkdir(parents=True)
    (folder / "matrix.yaml").write_text(MATRIX)
    (folder / "parts" / "000" / "part.json").write_text('{"part": "000"}')
    return base64.decodebytes(packed(folder, ["000"]).encode())


def test_inputs_come_back_as_they_were(content: bytes, tmp_path: Path) -> None:
    unpack(content, tmp_path / "node")

    files = {path.name: path.read_text() for path in (tmp_path / "node").rglob("*.*")}
    assert files == {"matrix.yaml": MATRIX, "part.json": '{"part": "000"}'}


def problem(content: bytes, folder: Path) -> str:
    """Return the error of inputs that cannot be read. Empty if there is none."""
    try:
        unpack(content, folder)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", ["cut off", "changed"])
def test_damaged_inputs_are_an_input_error(kind: str, content: bytes, tmp_path: Path) -> None:
    """At places all over them. Four bytes of the header are a time that nobody reads."""
    places = range(0, len(content), len(content) // 100)
    changed = (content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :] for at in places)
    cut_off = (content[:at] for at in places)
    problems = [problem(each, tmp_path / "node") for each in (cut_off if kind == "cut off" else changed)]

    assert sum(map(bool, problems)) >= len(places) - 1
