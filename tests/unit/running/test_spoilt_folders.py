"""Things that a container puts in the place of our files: they cost that repeat or check at most, and never the run."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.domain import Status
from orchestrator.errors import HostError
from orchestrator.processes import Cause, Watch
from orchestrator.results.parity.checks import Checks
from orchestrator.results.store import Run
from orchestrator.running import Policy, execute
from orchestrator.running.attempts import set_aside
from orchestrator.runtimes import Ended, Task
from tests.unit.running.running_fakes import FakeRuntime, a_cell, a_plan, carry_out, surroundings

pytestmark = pytest.mark.ordinary_user

LONG = "a" * 250


def spoiling(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    """Fail, and leave folders where files of the contract belong, in place of the log too."""
    for name in ("outcome.json", "request.json", "result.json"):
        (task.folder / name).unlink(missing_ok=True)
        (task.folder / name).mkdir()
        (task.folder / name / "kept").touch()
    return Ended(Cause.EXITED, 9, wall_s=1.0)


def long_names(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    """Fail, and leave a name that has no room for a suffix where the next attempt is moved to."""
    task.log.write_text("it broke\n")
    (task.folder / "attempt-1.part").mkdir()
    (task.folder / "attempt-1.part" / LONG).write_text("one")
    (task.folder / LONG).write_text("two")
    return Ended(Cause.EXITED, 9, wall_s=1.0)


def test_a_folder_named_outcome_stops_no_run(tmp_path: Path) -> None:
    plan = replace(a_plan(a_cell()), parity=True)
    around, _ = surroundings(tmp_path / "run", FakeRuntime([spoiling]))
    (outcome,) = execute(plan, around)

    (place,) = (tmp_path / "run/parity").glob("*/*")
    check = Checks(Run(tmp_path / "run")).outcome("/".join(place.parts[-2:]))
    assert outcome.status is Status.OK
    assert check is not None
    assert check.status is Status.FAILED
    assert [path.parent.name[:19] for path in place.glob("outcome.json*/kept")] == ["outcome.json.aside-"]


def test_folder_as_request_stops_no_retry(tmp_path: Path) -> None:
    """Without log and result it is no attempt, and nothing is moved aside as one."""

    def no_attempt(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        ended = spoiling(task, request, watch)
        (task.folder / "result.json").rename(task.folder / f"other-{len(runtime.launched)}")
        return ended

    runtime = FakeRuntime([no_attempt, no_attempt])
    (outcome,) = carry_out(tmp_path / "run", runtime, a_plan(a_cell()), Policy(retries=2))

    assert outcome.status is Status.OK


def test_a_check_is_on_disk_before_its_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.unit.running.test_parity_checks import Checking

    seen: list[str] = []
    fsync, replaced = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        seen.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    def put(path: Path, target: Path) -> Path:
        seen.append(f"put {target.parent.parent.parent.name}/{target.name}")
        return replaced(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", put)
    around, _ = surroundings(tmp_path / "run", Checking())
    next(execute(replace(a_plan(a_cell()), parity=True), around))

    assert "result.json" in seen[: seen.index("put parity/outcome.json")]


def test_names_without_room_are_moved_aside(tmp_path: Path) -> None:
    runtime = FakeRuntime([long_names, long_names])
    (outcome,) = carry_out(tmp_path / "run", runtime, a_plan(a_cell()), Policy(retries=2))

    assert outcome.status is Status.OK
    folder = Run(tmp_path / "run").repeat_folder(outcome.cell_id, 0)
    texts = [path.read_text() for path in folder.glob("attempt-*/*") if path.name == LONG or "aside-" in path.name]
    assert sorted(texts) == ["one", "one", "two", "two"]


def failing(number: int, below: str):  # type: ignore[no-untyped-def]
    """Give a `Path.rename` that fails below a folder."""
    rename = Path.rename

    def renamed(path: Path, target: Path) -> Path:
        if below in str(path):
            raise OSError(number, os.strerror(number))
        return rename(path, target)

    return renamed


@pytest.mark.parametrize("number", [errno.ENAMETOOLONG, errno.ELOOP, errno.EISDIR, errno.ENOTEMPTY, errno.EBUSY])
def test_a_spoilt_folder_fails_its_repeat_alone(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = a_cell("a"), a_cell("b")
    for cell in (first, second):
        Run(tmp_path / "run").repeat_folder(cell.id, 0).mkdir(parents=True)
        (Run(tmp_path / "run").repeat_folder(cell.id, 0) / "log.txt").write_text("")
    monkeypatch.setattr(Path, "rename", failing(number, f"/{first.id}/"))
    outcomes = {one.cell_id: one.status for one in carry_out(tmp_path / "run", FakeRuntime(), a_plan(first, second))}

    assert outcomes == {first.id: Status.LAUNCH_FAILED, second.id: Status.OK}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE])
def test_a_fault_of_the_disk_ends_the_run(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Run(tmp_path / "run").repeat_folder(a_cell().id, 0)
    folder.mkdir(parents=True)
    (folder / "log.txt").write_text("")
    monkeypatch.setattr(Path, "rename", failing(number, "/log.txt"))
    with pytest.raises(HostError, match="cannot be moved aside"):
        carry_out(tmp_path / "run", FakeRuntime(), a_plan(a_cell()))


def test_moving_keeps_every_long_name(tmp_path: Path) -> None:
    part = tmp_path / "attempt-1.part"
    part.mkdir()
    for place in (tmp_path, part):
        (place / LONG).write_text(place.name)

    assert set_aside(tmp_path) == 1
    kept = tmp_path / "attempt-1"
    assert (kept / LONG).read_text() == tmp_path.name
    assert [path.read_text() for path in kept.glob("aside-*")] == ["attempt-1.part"]
