"""The processes of a launch, told from others by trees that look like /proc."""

from pathlib import Path

import pytest

from orchestrator.devices.watch.processes import OwnProcesses, described

OURS = 10


@pytest.fixture
def own(tmp_path: Path) -> OwnProcesses:
    """A host with processes: 1 ─ 10 (this process) ─ 20 ─ 21, an orphan 30 of session 20, and 40 in a container."""
    for pid, parent, session in ((1, 0, 1), (OURS, 1, OURS), (20, OURS, 20), (21, 20, 20), (30, 1, 20), (40, 1, 40)):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a (b) c) S {parent} {pid} {session} 0 -1")
        (tmp_path / str(pid) / "cgroup").write_text("0::/user.slice\n")
    (tmp_path / "40/cgroup").write_text("0::/system.slice/docker-abc123.scope\n")
    return OwnProcesses(tmp_path, OURS)


@pytest.mark.parametrize(("pid", "is_foreign"), [(20, False), (21, False), (30, False), (1, True), (40, True)])
def test_descendants_and_their_sessions_are_ours(own: OwnProcesses, pid: int, is_foreign: bool) -> None:
    assert own.is_foreign(pid) is is_foreign


def test_what_runs_in_the_container_is_ours(own: OwnProcesses) -> None:
    own.in_container("abc123")

    assert not own.is_foreign(40)
    assert own.is_foreign(1)


def test_nothing_is_foreign_from_another_namespace(own: OwnProcesses, tmp_path: Path) -> None:
    """A driver numbers processes as the host does, and the same number may be another process here."""
    (tmp_path / "self/ns").mkdir(parents=True)
    (tmp_path / "40/comm").write_text("unrelated\n")
    (tmp_path / "self/ns/pid").symlink_to("pid:[4026532001]")

    assert not own.is_foreign(40)
    assert described(40, tmp_path) == "process 40"

    (tmp_path / "self/ns/pid").unlink()
    (tmp_path / "self/ns/pid").symlink_to("pid:[4026531836]")

    assert own.is_foreign(40)
    assert described(40, tmp_path).startswith("unrelated (process 40 of ")


def test_a_process_that_has_ended_is_not_foreign(own: OwnProcesses) -> None:
    """Nor is one that this host does not show, as of another process namespace."""
    assert not own.is_foreign(99)
