"""Runs of one host measure in turn: one repeat at a time, whoever it belongs to."""

import os
import stat
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock, Timeout
from running_fakes import FakeRuntime, a_cell, a_plan, measured, surroundings

from orchestrator.domain import Status
from orchestrator.events import Event, Notice, RepeatStarted
from orchestrator.processes import Watch
from orchestrator.running import execute
from orchestrator.running.host_lock.lock import Turns
from orchestrator.runtimes import Ended, Task
from tests.until import until

WAITING = Notice("another run measures on this host; this run is next")


def is_free(turn: Path) -> bool:
    try:
        with FileLock(turn, thread_local=False).acquire(timeout=0):
            return True
    except Timeout:
        return False


def notices(events: list[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, Notice)]


def test_turn_is_held_only_during_a_repeat(tmp_path: Path) -> None:
    """A repeat holds the turn while it runs and no longer."""
    turn = tmp_path / "cache" / "measuring.lock"
    seen: list[bool] = []

    def looking(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        seen.append(is_free(turn))
        return measured(task, request, watch)

    around, events = surroundings(tmp_path / "run", FakeRuntime([looking]), turn=turn)
    for outcome in execute(a_plan(a_cell()), around):
        assert outcome.status is Status.OK
        seen.append(is_free(turn))

    assert seen == [False, True]
    assert notices(events) == []


def test_measuring_run_is_awaited_and_named_once(tmp_path: Path) -> None:
    """A run waits while another run measures, and says so once."""
    turn = tmp_path / "measuring.lock"
    other = FileLock(turn, thread_local=False)
    other.acquire()
    around, events = surroundings(tmp_path / "run", FakeRuntime(), turn=turn)

    def freeing(event: Event) -> None:
        events.append(event)
        if event == WAITING:
            other.release()

    (outcome,) = execute(a_plan(a_cell()), replace(around, listener=freeing))

    assert not other.is_locked
    assert (outcome.status, outcome.wall_s) == (Status.OK, 1.5)
    assert notices(events) == [WAITING]
    assert events.index(WAITING) < next(at for at, event in enumerate(events) if isinstance(event, RepeatStarted))


def test_a_stop_ends_the_waiting_with_nothing_launched(tmp_path: Path) -> None:
    turn, stop, runtime = tmp_path / "measuring.lock", threading.Event(), FakeRuntime()
    around, events = surroundings(tmp_path / "run", runtime, stop, turn)

    def stopping(event: Event) -> None:
        events.append(event)
        if event == WAITING:
            stop.set()

    with FileLock(turn):
        outcomes = list(execute(a_plan(a_cell("a"), a_cell("b")), replace(around, listener=stopping)))

    assert [(each.status, each.reason, each.attempts) for each in outcomes] == [(Status.NOT_RUN, "stopped", 0)] * 2
    assert (runtime.launched, notices(events)) == ([], [WAITING])


def test_unwritable_turn_hinders_no_run(tmp_path: Path) -> None:
    """A turn that cannot be written is reported and hinders no run."""
    (tmp_path / "file").touch()
    around, events = surroundings(tmp_path / "run", FakeRuntime(), turn=tmp_path / "file" / "measuring.lock")
    (outcome,) = execute(a_plan(a_cell()), around)

    assert outcome.status is Status.OK
    (notice,) = notices(events)
    assert "another run could measure on this host at the same time" in str(notice)


def test_users_take_turns_by_one_file(tmp_path: Path) -> None:
    """Runs of different users take turns by the file of the host."""
    host = tmp_path / "host.lock"
    one, two = (
        replace(surroundings(tmp_path / name, FakeRuntime())[0], turns=Turns((host, tmp_path / f"{name}.lock")))
        for name in ("one", "two")
    )
    told: list[Event] = []
    free = threading.Event()

    def freeing(event: Event) -> None:
        told.append(event)
        if isinstance(event, Notice):
            free.set()

    two = replace(two, listener=freeing)

    def slow(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        free.wait(300)
        return measured(task, request, watch)

    one = replace(one, runtime=FakeRuntime([slow]))
    first = threading.Thread(target=lambda: list(execute(a_plan(a_cell()), one)))
    first.start()
    until(host.exists)
    (outcome,) = execute(a_plan(a_cell()), two)
    first.join()

    line = "run one measures fake-1-cpu/c on this host since 2026-11-21 15:30:00 UTC; this run is next"
    assert (outcome.status, notices(told)) == (Status.OK, [Notice(line)])
    assert stat.S_IMODE(host.stat().st_mode) == 0o644


def test_run_speaks_of_turns_once(tmp_path: Path) -> None:
    """Not for each of its repeats."""
    (tmp_path / "file").touch()
    around, events = surroundings(tmp_path / "run", FakeRuntime(), turn=tmp_path / "file" / "measuring.lock")
    outcomes = list(execute(a_plan(a_cell("a"), a_cell("b"), a_cell("c")), around))

    assert [outcome.status for outcome in outcomes] == [Status.OK] * 3
    assert len(notices(events)) == 1


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to(path.with_name("elsewhere"))])
def test_planted_turn_file_is_not_followed(make: Callable[[Path], None], tmp_path: Path) -> None:
    """A thing that somebody put in the place of the turn file is neither followed nor waited for."""
    make(tmp_path / "measuring.lock")
    around, events = surroundings(tmp_path / "run", FakeRuntime(), turn=tmp_path / "measuring.lock")
    (outcome,) = execute(a_plan(a_cell()), around)

    assert outcome.status is Status.OK
    assert "another run could measure on this host at the same time" in str(notices(events))
    assert not (tmp_path / "elsewhere").exists()
