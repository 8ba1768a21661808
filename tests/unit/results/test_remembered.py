"""Parsed records are remembered up to a size."""

import pytest

from orchestrator.results.files import remembered
from orchestrator.results.files.remembered import Remembered


def test_what_is_longest_unused_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "_MOST_BYTES", 4)
    parsed: list[bytes] = []

    def parse(content: bytes) -> bytes:
        parsed.append(content)
        return content

    asked = [b"aa", b"bb", b"aa", b"cc", b"aa", b"bb"]

    assert list(map(Remembered(parse), asked)) == asked
    assert parsed == [b"aa", b"bb", b"cc", b"bb"]


def test_one_content_is_remembered_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "_MOST_BYTES", 4)
    read = Remembered(lambda content: [content])

    assert read(b"large one") is read(b"large one")


def test_a_mistake_is_not_remembered() -> None:
    read = Remembered(int)

    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            read(b"no number")
    assert read(b"1") == 1
