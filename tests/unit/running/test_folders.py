"""The folder of one repeat, in which anything may have been left."""

import os
from pathlib import Path

import pytest

from orchestrator.errors import HostError
from orchestrator.results.store import InvalidResultError
from orchestrator.running.folders import PhaseWatch, answer, set_aside


def fill(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(name)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_what_an_attempt_left_is_moved_aside_and_counted(tmp_path: Path) -> None:
    folder = tmp_path / "0"
    assert set_aside(folder) == 0

    for number in (1, 2):
        fill(folder, "request.json", "log.txt", "result.json", "own")
        assert set_aside(folder) == number
    assert names(folder) == ["attempt-1", "attempt-2"]
    assert names(folder / "attempt-2") == ["log.txt", "own", "request.json", "result.json"]


def test_a_repeat_that_was_never_launched_is_no_attempt(tmp_path: Path) -> None:
    fill(tmp_path, "request.json", "outcome.json")

    assert set_aside(tmp_path) == 0
    assert names(tmp_path) == ["outcome.json", "request.json"]


def test_an_attempt_that_cannot_be_moved_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, "log.txt")

    def full_disk(path: Path) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "mkdir", full_disk)
    with pytest.raises(HostError, match="an earlier attempt cannot be moved aside: No space left on device"):
        set_aside(tmp_path)


def test_what_was_measured_may_have_made_an_attempt_of_its_own_which_is_kept_too(tmp_path: Path) -> None:
    fill(tmp_path, "log.txt", "attempt-2")

    assert set_aside(tmp_path) == 3
    assert (tmp_path / "attempt-2").read_text() == "attempt-2"
    assert names(tmp_path / "attempt-3") == ["log.txt"]


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
