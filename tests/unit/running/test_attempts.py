"""The attempts at one repeat on disk, whatever what was measured has put there, and whenever the moving was cut off."""

import contextlib
import os
from pathlib import Path

import pytest

from orchestrator.errors import HostError
from orchestrator.running.attempts import set_aside

pytestmark = pytest.mark.ordinary_user


def fill(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(name)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_attempt_is_moved_aside_and_counted(tmp_path: Path) -> None:
    """The files that an attempt left are moved aside, and the attempt is counted."""
    folder = tmp_path / "0"
    assert set_aside(folder) == 0

    for number in (1, 2):
        fill(folder, "request.json", "log.txt", "result.json", "own")
        assert set_aside(folder) == number
    assert names(folder) == ["attempt-1", "attempt-2"]
    assert names(folder / "attempt-2") == ["log.txt", "own", "request.json", "result.json"]


def test_unlaunched_repeat_is_no_attempt(tmp_path: Path) -> None:
    fill(tmp_path, "request.json", "outcome.json")

    assert set_aside(tmp_path) == 0
    assert names(tmp_path) == ["outcome.json", "request.json"]


def test_unmovable_attempt_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, "log.txt")

    def full_disk(path: Path) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "mkdir", full_disk)
    with pytest.raises(HostError, match="an earlier attempt cannot be moved aside: No space left on device"):
        set_aside(tmp_path)


def test_own_attempt_folders_are_kept_too(tmp_path: Path) -> None:
    """An attempt folder that the measured program made of its own is kept too."""
    fill(tmp_path, "log.txt", "attempt-1", "attempt-999999999", "attempt-2.part")

    assert set_aside(tmp_path) == 2
    assert (tmp_path / "attempt-1").read_text() == "attempt-1"
    assert names(tmp_path / "attempt-2") == ["attempt-2.part", "log.txt"]
    fill(tmp_path, "log.txt")
    assert set_aside(tmp_path) == 3


@pytest.mark.parametrize("interrupted_after", range(6))
def test_interrupted_moving_aside_stays_one_step(
    interrupted_after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moving aside is one step, whenever it is interrupted."""
    left = ["log.txt", "outcome.json", "request.json", "result.json"]
    fill(tmp_path, *left)
    renamed: list[str] = []
    rename = Path.rename

    def power_cut(path: Path, target: Path) -> Path:
        if len(renamed) == interrupted_after:
            raise KeyboardInterrupt
        renamed.append(path.name)
        return rename(path, target)

    with monkeypatch.context() as cut, contextlib.suppress(KeyboardInterrupt):
        cut.setattr(Path, "rename", power_cut)
        set_aside(tmp_path)
    if renamed:
        assert not (tmp_path / "outcome.json").exists(), "what is no longer whole does not count"

    assert set_aside(tmp_path) == 1
    assert names(tmp_path) == ["attempt-1"]
    assert names(tmp_path / "attempt-1") == left


def test_planted_part_of_attempt_loses_nothing(tmp_path: Path) -> None:
    """Nothing is lost where the measured program has made a part of an attempt."""
    fill(tmp_path, "log.txt")
    fill(tmp_path / "attempt-1.part", "planted")
    (tmp_path / "attempt-1.part" / "log.txt").mkdir()
    (tmp_path / "attempt-7.part").symlink_to("/etc")

    assert set_aside(tmp_path) == 1
    kept = tmp_path / "attempt-1"
    assert (kept / "log.txt").read_text() == "log.txt"
    assert {"planted", "attempt-7.part"} < set(names(kept))
    assert len(list(kept.glob("log.txt.aside-*"))) == 1
