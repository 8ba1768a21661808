"""The folder of one launch, in which anything may have been left."""

import os
from pathlib import Path

import pytest

from orchestrator.results.container_answers import InvalidResultError
from orchestrator.running.folders import PhaseWatch, answer

pytestmark = pytest.mark.ordinary_user


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/etc/hostname")])
def test_a_result_that_is_no_plain_file_is_not_even_opened(make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    make(tmp_path / "result.json")

    said = answer(tmp_path)
    assert isinstance(said, InvalidResultError)
    assert str(said) == "result.json is no plain file"


def test_a_missing_and_a_broken_result_say_what_is_wrong(tmp_path: Path) -> None:
    assert str(answer(tmp_path)) == "no result.json was written"
    (tmp_path / "result.json").write_text("{")
    assert "is not JSON" in str(answer(tmp_path))


def test_a_phase_is_told_once_and_only_if_it_is_a_word(tmp_path: Path) -> None:
    told: list[str] = []
    watch = PhaseWatch(tmp_path, told.append)
    path = tmp_path / "phase"
    for text in ("import\n", "import\n", "first_step", "\x1b[31m", "two words", "x" * 60, "steady\n"):
        path.write_text(text)
        watch()

    assert told == ["import", "first_step", "steady"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("other")])
def test_a_phase_that_is_no_plain_file_tells_nothing(make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "other").write_text("steady\n")
    make(tmp_path / "phase")
    told: list[str] = []
    PhaseWatch(tmp_path, told.append)()

    assert told == []
