"""A run that is taken up again, with what an earlier orchestrator left: nothing is lost and nothing is done twice."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from running_fakes import (
    SPEC,
    FakeRuntime,
    a_cell,
    a_plan,
    carry_out,
    exiting,
    lost,
    statuses,
    surroundings,
)

from orchestrator.domain import Status
from orchestrator.errors import HostError
from orchestrator.events import CellToRun, ImageToMake, RunStarted
from orchestrator.results.store import Run
from orchestrator.running import Policy, execute
from orchestrator.running.execution import LOSSES
from orchestrator.runtimes import Unavailable


def test_resumed_run_does_only_the_rest(tmp_path: Path) -> None:
    """A resumed run does only what is left and says how much was there."""
    plan = a_plan(replace(a_cell(), repeats=3))
    first, _ = surroundings(tmp_path / "run", FakeRuntime())
    begun = execute(plan, first)
    kept = next(begun)
    begun.close()

    runtime = FakeRuntime()
    around, events = surroundings(tmp_path / "run", runtime)
    outcomes = list(execute(plan, around))

    assert [outcome.repeat for outcome in outcomes] == [1, 2]
    cell = CellToRun("fake-1-cpu/c", ("ok", "", ""))
    assert events[0] == RunStarted(2, 1, (cell,), (ImageToMake("bench/fake:1-cpu"),))
    assert Run(tmp_path / "run").outcome(kept.cell_id, 0) == kept


def test_failures_run_again_only_on_request(tmp_path: Path) -> None:
    """Failures are run again only on request, and what they left is kept."""
    plan = a_plan(a_cell())
    carry_out(tmp_path / "run", FakeRuntime([exiting(1)]), plan)

    assert carry_out(tmp_path / "run", FakeRuntime(), plan) == []
    (again,) = carry_out(tmp_path / "run", FakeRuntime(), plan, Policy(retry_failed=True))
    assert (again.status, again.attempts) == (Status.OK, 2)
    assert (tmp_path / "run/fake-1-cpu/c/0/attempt-1/log.txt").read_text() == "it broke\n"


def test_failure_not_tried_again_stays(tmp_path: Path) -> None:
    """A failure that was not tried again after all stays what it was."""
    plan, stop, again = a_plan(replace(a_cell(), repeats=3)), threading.Event(), Policy(retry_failed=True)
    before = carry_out(tmp_path / "run", FakeRuntime([exiting(1), exiting(1), exiting(1)]), plan)
    assert statuses(before) == [Status.FAILED] * 3

    fail_fast = replace(again, fail_fast=True)
    after = carry_out(tmp_path / "run", FakeRuntime([exiting(1, "again")]), plan, fail_fast)
    assert [(one.reason, one.attempts) for one in after] == [("again", 2), ("it broke", 1), ("it broke", 1)]
    broken = FakeRuntime(unavailable={SPEC.name: Unavailable(SPEC.name, Status.BUILD_FAILED, "no such package", None)})
    assert carry_out(tmp_path / "run", broken, plan, again) == after
    stop.set()
    assert carry_out(tmp_path / "run", FakeRuntime(), plan, again, stop) == after


def test_new_reason_of_failed_build_is_said(tmp_path: Path) -> None:
    """A build that fails again for another reason says so."""
    for reason in ("no such package", "no such index"):
        unavailable = {SPEC.name: Unavailable(SPEC.name, Status.BUILD_FAILED, reason, None)}
        runtime = FakeRuntime(unavailable=unavailable)
        (outcome,) = carry_out(tmp_path / "run", runtime, a_plan(a_cell()), Policy(retry_failed=True))

        assert outcome.reason == reason


def test_leavings_of_lost_launch_are_kept(tmp_path: Path) -> None:
    """The files that a lost launch left are kept where nothing is launched any more."""
    plan = a_plan(a_cell())
    carry_out(tmp_path / "run", FakeRuntime([lost] * (1 + LOSSES)), plan)
    stop = threading.Event()
    stop.set()
    (outcome,) = carry_out(tmp_path / "run", FakeRuntime(), plan, stop=stop)

    assert (outcome.status, outcome.reason) == (Status.NOT_RUN, "stopped")
    kept = Run(tmp_path / "run").repeat_folder(outcome.cell_id, 0) / f"attempt-{1 + LOSSES}"
    assert "the engine was lost" in (kept / "outcome.json").read_text()


def test_killed_orchestrators_repeat_is_run_again(tmp_path: Path) -> None:
    """A repeat that a killed orchestrator left is run again next to what it measured."""
    folder = tmp_path / "run/fake-1-cpu/c/0"
    folder.mkdir(parents=True)
    (folder / "log.txt").write_text("half\n")
    (outcome,) = carry_out(tmp_path / "run", FakeRuntime(), a_plan(a_cell()))

    assert (outcome.status, outcome.attempts) == (Status.OK, 2)
    assert (folder / "attempt-1/log.txt").read_text() == "half\n"


def test_second_orchestrator_on_a_run_is_refused(tmp_path: Path) -> None:
    first, _ = surroundings(tmp_path / "run", FakeRuntime())
    begun = execute(a_plan(replace(a_cell(), repeats=2)), first)
    next(begun)
    second, _ = surroundings(tmp_path / "run", FakeRuntime())

    with pytest.raises(HostError, match="another orchestrator is writing this run"):
        next(execute(a_plan(a_cell()), second))
    begun.close()
    assert carry_out(tmp_path / "run", FakeRuntime(), a_plan(a_cell("later")))
