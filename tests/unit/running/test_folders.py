"""The folder of one launch, in which anything may have been left."""

import os
from pathlib import Path

import pytest

from orchestrator.results.container_answers import InvalidResultError
from orchestrator.running.folders import PhaseWatch, answer

pytestmark = pytest.mark.ordinary_user


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/etc/hostname")])
def test_result_must_be_a_plain_file(make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A result that is no plain file is not even opened."""
    make(tmp_path / "result.json")

    said = answer(tmp_path)
    assert isinstance(said, InvalidResultError)
    assert str(said) == "result.json is no plain file"


def test_bad_results_say_what_is_wrong(tmp_path: Path) -> None:
    """A missing result and a broken one say what is wrong."""
    assert str(answer(tmp_path)) == "no result.json was written"
    (tmp_path / "result.json").write_text("{")
    assert "is not JSON" in str(answer(tmp_path))


def test_phase_is_reported_once_as_a_word(tmp_path: Path) -> None:
    """A phase is reported once, and only if it is a word."""
    told: list[str] = []
    watch = PhaseWatch(tmp_path, told.append)
    path = tmp_path / "phase"
    for text in ("import\n", "import\n", "first_step", "\x1b[31m", "two words", "x" * 60, "steady\n"):
        path.write_text(text)
        watch()

    assert told == ["import", "first_step", "steady"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("other")])
def test_phase_that_is_no_file_says_nothing(make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A phase that is no plain file says nothing."""
    (tmp_path / "other").write_text("steady\n")
    make(tmp_path / "phase")
    told: list[str] = []
    PhaseWatch(tmp_path, told.append)()

    assert told == []
