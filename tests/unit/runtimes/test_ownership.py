"""The owner of a container, and the check that it is still there."""

import os
from dataclasses import replace
from pathlib import Path

from orchestrator.engine.ownership import Owner, is_dead, parse, this_process

JUDGE = Owner("boot-1", "pid:[1]", 7, "100")


def process(root: Path, pid: int, started: str, state: str = "S") -> None:
    folder = root / str(pid)
    folder.mkdir(exist_ok=True)
    fields = [state, *("0" for _ in range(18)), started, "0"]
    (folder / "stat").write_text(f"{pid} (a ) (strange name) {' '.join(fields)}\n")


def test_this_process_is_alive_and_readable() -> None:
    """This process is alive, and its name can be read back."""
    owner = this_process()

    assert owner.pid == os.getpid()
    assert parse(str(owner)) == owner
    assert is_dead(owner, owner) is False


def test_owner_without_its_process_is_dead(tmp_path: Path) -> None:
    """An owner is dead when its process has gone, is a zombie or is another one."""
    owner = replace(JUDGE, pid=9, started="500")
    assert is_dead(owner, JUDGE, tmp_path) is True

    process(tmp_path, 9, "500")
    assert is_dead(owner, JUDGE, tmp_path) is False
    process(tmp_path, 9, "501")
    assert is_dead(owner, JUDGE, tmp_path) is True
    process(tmp_path, 9, "500", state="Z")
    assert is_dead(owner, JUDGE, tmp_path) is True


def test_an_owner_from_elsewhere_cannot_be_judged(tmp_path: Path) -> None:
    assert is_dead(replace(JUDGE, boot="boot-2"), JUDGE, tmp_path) is None
    assert is_dead(replace(JUDGE, namespace="pid:[2]"), JUDGE, tmp_path) is None


def test_a_label_of_something_else_is_no_owner() -> None:
    assert parse("") is None
    assert parse("a/b/c/d") is None
    assert parse("a/b/7") is None
