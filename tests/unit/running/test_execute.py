"""A plan carried out on a fake runtime: every cell × repeat ends as exactly one recorded outcome."""

import json
import os
import shutil
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from running_fakes import (
    SPEC,
    FakeRuntime,
    a_cell,
    a_crash,
    a_plan,
    carry_out,
    exiting,
    lost,
    measured,
    statuses,
    surroundings,
)

from orchestrator.devices import Gpu
from orchestrator.devices.gpu_gate import GateEnd
from orchestrator.domain import Cell, CudaNeeds, Duration, Outcome, Status, System
from orchestrator.errors import HostError
from orchestrator.events import CellToRun, ImageToMake, PhaseChanged, RepeatFinished, RepeatStarted, RunStarted
from orchestrator.processes import Cause, LostError, StartError, Watch
from orchestrator.results.records import EnvironmentRecord, EnvironmentsRecord
from orchestrator.results.store import Run
from orchestrator.running import Policy, execute, order
from orchestrator.running.execution import LOSSES
from orchestrator.runtimes import Ended, Task, Unavailable


def test_repeats_launch_once_in_seed_order(tmp_path: Path) -> None:
    """Every repeat is launched once, in the order of the seed."""
    cells = [replace(a_cell(f"c{number}"), repeats=2) for number in range(4)]
    runtime = FakeRuntime()
    outcomes = carry_out(tmp_path / "run", runtime, a_plan(*cells), Policy(seed=3))

    expected = [(cell.id, repeat) for cell, repeat in order(cells, 3)]
    assert [(outcome.cell_id, outcome.repeat) for outcome in outcomes] == expected
    assert [(request["cell"], request["repeat"]) for request in runtime.launched] == expected
    assert set(statuses(outcomes)) == {Status.OK}


def test_ok_outcome_has_times_and_log(tmp_path: Path) -> None:
    """An ok outcome says when it began, how long it took and where its log is."""
    (outcome,) = carry_out(tmp_path / "run", FakeRuntime(), a_plan(a_cell()))

    assert outcome == Outcome(
        "fake-1-cpu/c", 0, Status.OK, log="fake-1-cpu/c/0/log.txt", attempts=1,
        started_at="2026-11-21T15:30:00.000+00:00", wall_s=1.5, create_s=0.25, exit_code=0, image_id="sha256:1",
    )  # fmt: skip


def test_listeners_hear_start_phases_and_throughput(tmp_path: Path) -> None:
    def telling(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        (task.folder / "phase").write_text("steady\n")
        watch()
        return measured(task, request, watch)

    around, events = surroundings(tmp_path / "run", FakeRuntime([telling]))
    (outcome,) = execute(a_plan(a_cell()), around)

    assert events == [
        RunStarted(1, 0, (CellToRun("fake-1-cpu/c", ("",)),), (ImageToMake("bench/fake:1-cpu"),)),
        RepeatStarted("fake-1-cpu/c", 0, 1, str(tmp_path / "run" / "fake-1-cpu/c" / "0" / "log.txt")),
        PhaseChanged("fake-1-cpu/c", 0, "steady"),
        RepeatFinished(outcome, throughput=450.0),
    ]


def test_listeners_hear_throughput_without_first_epoch(tmp_path: Path) -> None:
    """Listeners hear the throughput of epochs without the first."""
    cell = replace(a_cell(), duration=Duration(steps=None, epochs=10))
    around, events = surroundings(tmp_path / "run", FakeRuntime())
    list(execute(a_plan(cell), around))

    assert [event.throughput for event in events if isinstance(event, RepeatFinished)] == [300.0]


def test_missing_device_ends_as_no_device(tmp_path: Path) -> None:
    """A cell without a device ends as no_device, and its image is not made."""
    runtime = FakeRuntime()
    (outcome,) = carry_out(tmp_path / "run", runtime, a_plan(a_cell(system=System("4_gpu", gpus=4))))

    assert (outcome.status, outcome.reason) == (Status.NO_DEVICE, "4_gpu needs 4 GPUs; this host has 0")
    assert (outcome.log, outcome.attempts) == (None, 0)
    assert (runtime.provided, runtime.launched) == ([], [])


def test_a_held_gpu_ends_as_no_device(tmp_path: Path) -> None:
    """The repeat names who holds it and is not launched. The next one finds the GPU free."""
    runtime = FakeRuntime()
    around, _ = surroundings(tmp_path / "run", runtime)
    ends = iter([GateEnd(60.0, "GPU 0: python (process 123 of alice) runs on it"), GateEnd(0.5)])
    host = replace(around.inventory, gpus=(Gpu(0, "GPU-0", "Example GPU", 1),))
    around = replace(around, inventory=host, gpu_gate=lambda *_: next(ends))
    cell = replace(a_cell(system=System("1_gpu", gpus=1)), repeats=2)
    held, free = execute(a_plan(cell), around)

    assert held.status is Status.NO_DEVICE
    assert held.reason == "not free after 60 s of waiting: GPU 0: python (process 123 of alice) runs on it"
    assert free.status is Status.OK
    assert len(runtime.launched) == 1


def test_an_old_driver_is_unsupported_before_the_launch(tmp_path: Path) -> None:
    """The image is not made either."""
    runtime = FakeRuntime()
    around, _ = surroundings(tmp_path / "run", runtime)
    host = replace(around.inventory, gpus=(Gpu(0, "GPU-0", "Example GPU", 1),), driver="390.1")
    needing = replace(SPEC, environment=replace(SPEC.environment, cuda=CudaNeeds("11.2", "450.80.02")))
    plan = a_plan(a_cell(system=System("1_gpu", gpus=1)), images=(needing,))
    (outcome,) = execute(plan, replace(around, inventory=host))

    assert outcome.status is Status.UNSUPPORTED
    assert outcome.reason == "CUDA 11.2 needs driver 450.80.02 or newer; this host has 390.1"
    assert (runtime.provided, runtime.launched) == ([], [])
    elsewhere = replace(around, run=Run(tmp_path / "own"), inventory=host, has_published_builds=False)
    (outcome,) = execute(plan, elsewhere)
    assert outcome.status is Status.OK, "the catalog does not know what packages of other sources are built for"


def test_cells_without_gpus_pass_the_gate(tmp_path: Path) -> None:
    around, _ = surroundings(tmp_path / "run", FakeRuntime())
    around = replace(around, gpu_gate=lambda *_: GateEnd(1.0, "asked for nothing"))
    (outcome,) = execute(a_plan(a_cell()), around)

    assert outcome.status is Status.OK


def test_failed_build_marks_its_cells_only(tmp_path: Path) -> None:
    """A failed build marks every cell of its image, and the rest go on."""
    other = replace(SPEC, alias="2-cpu")
    log = tmp_path / "run/builds/fake.log"
    broken = Unavailable(SPEC.name, Status.BUILD_FAILED, "no such package", log)
    cells = [replace(a_cell("a"), repeats=2), a_cell("b", image=other.name)]
    runtime = FakeRuntime(unavailable={SPEC.name: broken})
    outcomes = carry_out(tmp_path / "run", runtime, a_plan(*cells, images=(SPEC, other)))

    failed = [outcome for outcome in outcomes if outcome.status is Status.BUILD_FAILED]
    assert [(one.cell_id, one.reason, one.log) for one in failed] == [
        ("fake-1-cpu/a", "no such package", "builds/fake.log")
    ] * 2
    assert statuses([one for one in outcomes if one.cell_id == "fake-1-cpu/b"]) == [Status.OK]


def test_environments_are_recorded_before_any_launch(tmp_path: Path) -> None:
    """The contents of every environment are on record before anything is launched."""
    other = replace(SPEC, alias="2-cpu")
    run = Run(tmp_path / "run")
    broken = Unavailable(other.name, Status.BUILD_FAILED, "no such package", run.folder / "builds/fake.log")
    seen: list[EnvironmentsRecord] = []

    def looking(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        seen.append(run.environments())
        return measured(task, request, watch)

    runtime = FakeRuntime([looking], unavailable={other.name: broken})
    carry_out(run.folder, runtime, a_plan(a_cell("a"), a_cell("b", image=other.name), images=(SPEC, other)))

    made = EnvironmentRecord(
        image=SPEC.name, status=Status.OK, reference="handle", image_id="sha256:1", base_digest="python@sha256:b",
        versions={"fake": "1"},
    )  # fmt: skip
    failed = EnvironmentRecord(
        image=other.name, status=Status.BUILD_FAILED, reason="no such package", log="builds/fake.log"
    )
    assert [record.environments for record in seen] == [(made, failed)]


def test_missing_image_ends_as_build_failed(tmp_path: Path) -> None:
    """A plan without the image of a cell ends as build_failed, not with a traceback."""
    (outcome,) = carry_out(tmp_path / "run", FakeRuntime(), a_plan(a_cell(image="bench/none:1")))

    assert (outcome.status, outcome.reason) == (Status.BUILD_FAILED, "the plan holds no image bench/none:1")


def test_failed_launch_logs_its_reason(tmp_path: Path) -> None:
    (outcome,) = carry_out(tmp_path / "run", FakeRuntime([a_crash]), a_plan(a_cell()))

    assert (outcome.status, outcome.reason) == (Status.LAUNCH_FAILED, "no space left for containers")
    assert outcome.log is not None
    assert (tmp_path / "run" / outcome.log).read_text() == "no space left for containers\n"


def test_stop_leaves_remaining_repeats_not_run(tmp_path: Path) -> None:
    """A stop leaves the running repeat and the rest as not run."""
    stop = threading.Event()

    def stopped(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        stop.set()
        return Ended(Cause.STOPPED, None, wall_s=1.0)

    cell = replace(a_cell(), repeats=3)
    runtime = FakeRuntime([measured, stopped])
    outcomes = carry_out(tmp_path / "run", runtime, a_plan(cell), stop=stop)

    assert statuses(outcomes) == [Status.OK, Status.NOT_RUN, Status.NOT_RUN]
    assert {outcome.reason for outcome in outcomes[1:]} == {"stopped"}
    assert len(runtime.launched) == 2


def test_early_stop_makes_no_environment(tmp_path: Path) -> None:
    """A run that is stopped before it begins makes no environment."""
    stop = threading.Event()
    stop.set()
    runtime = FakeRuntime()
    outcomes = carry_out(tmp_path / "run", runtime, a_plan(replace(a_cell(), repeats=2)), stop=stop)

    assert statuses(outcomes) == [Status.NOT_RUN] * 2
    assert runtime.provided == []


def test_stop_writes_nothing_for_unbegun_repeats(tmp_path: Path) -> None:
    """A file on disk for each of 10,000 repeats took half a minute; a resumed run measures them all the same."""
    stop = threading.Event()
    stop.set()
    plan = a_plan(replace(a_cell(), repeats=20))
    around, events = surroundings(tmp_path / "run", FakeRuntime(), stop)

    outcomes = list(execute(plan, around))

    assert [(each.status, each.reason) for each in outcomes] == [(Status.NOT_RUN, "stopped")] * 20
    assert sum(isinstance(event, RepeatFinished) for event in events) == 20
    assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]
    assert statuses(carry_out(tmp_path / "run", FakeRuntime(), plan)) == [Status.OK] * 20


def test_stop_keeps_what_earlier_stop_began(tmp_path: Path) -> None:
    """The log of a repeat that was killed in the middle is moved aside, and the repeat has its outcome."""
    stop = threading.Event()
    stop.set()
    folder = tmp_path / "run" / "fake-1-cpu" / "c" / "0"
    folder.mkdir(parents=True)
    (folder / "log.txt").write_text("half\n")

    carry_out(tmp_path / "run", FakeRuntime(), a_plan(a_cell()), stop=stop)

    assert (folder / "attempt-1" / "log.txt").read_text() == "half\n"


def test_fail_fast_leaves_the_rest_not_run(tmp_path: Path) -> None:
    """Fail-fast leaves the rest not run after a failure."""
    cell = replace(a_cell(), repeats=3)
    outcomes = carry_out(tmp_path / "run", FakeRuntime([exiting(1)]), a_plan(cell), Policy(fail_fast=True))

    assert statuses(outcomes) == [Status.FAILED, Status.NOT_RUN, Status.NOT_RUN]
    assert outcomes[1].reason == "left out after fake-1-cpu/c failed"


@pytest.mark.parametrize(("exit_code", "expect"), [(3, Status.OK), (6, Status.OOM_DEVICE)])
def test_fail_fast_ignores_expected_failures(exit_code: int, expect: Status, tmp_path: Path) -> None:
    """Fail-fast goes on after an outcome that is no failure or was expected."""
    cell: Cell = replace(a_cell(), repeats=2, expect=expect)
    outcomes = carry_out(tmp_path / "run", FakeRuntime([exiting(exit_code)]), a_plan(cell), Policy(fail_fast=True))

    assert statuses(outcomes)[1] is Status.OK


def test_crash_is_retried_with_attempts_kept(tmp_path: Path) -> None:
    """A crash is tried again, and every attempt is kept."""
    runtime = FakeRuntime([exiting(1, "first"), a_crash])
    (outcome,) = carry_out(tmp_path / "run", runtime, a_plan(a_cell()), Policy(retries=3))

    folder = Run(tmp_path / "run").repeat_folder(outcome.cell_id, 0)
    assert (outcome.status, outcome.attempts) == (Status.OK, 3)
    assert (folder / "attempt-1/log.txt").read_text() == "first\n"
    assert json.loads((folder / "attempt-1/outcome.json").read_text())["status"] == "failed"
    assert json.loads((folder / "attempt-2/outcome.json").read_text())["status"] == "launch_failed"
    assert json.loads((folder / "outcome.json").read_text())["status"] == "ok"


def test_retries_end_after_their_number(tmp_path: Path) -> None:
    runtime = FakeRuntime([exiting(1)] * 5)
    (outcome,) = carry_out(tmp_path / "run", runtime, a_plan(a_cell()), Policy(retries=2))

    assert (outcome.status, outcome.attempts, len(runtime.launched)) == (Status.FAILED, 3, 3)


def test_a_clear_answer_is_not_tried_again(tmp_path: Path) -> None:
    runtime = FakeRuntime([exiting(6)])
    (outcome,) = carry_out(tmp_path / "run", runtime, a_plan(a_cell()), Policy(retries=3))

    assert (outcome.status, outcome.attempts) == (Status.OOM_DEVICE, 1)


def test_cpuset_is_requested_if_runtime_cannot_pin(tmp_path: Path) -> None:
    """A runtime that does not pin gets the cpuset in the request."""
    runtime = FakeRuntime(pins_cpus=False)
    carry_out(tmp_path / "run", runtime, a_plan(a_cell()))

    assert runtime.launched[0]["cpuset"] == [0]
    assert dict(runtime.tasks[0].labels) == {"bench.run": "run", "bench.cell": "fake-1-cpu/c", "bench.repeat": "0"}


def test_repeat_lost_with_engine_begins_anew(tmp_path: Path) -> None:
    runtime = FakeRuntime([lost, lost])
    (outcome,) = carry_out(tmp_path / "run", runtime, a_plan(a_cell()))

    assert (outcome.status, outcome.attempts, len(runtime.launched)) == (Status.OK, 3, 3)
    kept = Run(tmp_path / "run").repeat_folder(outcome.cell_id, 0) / "attempt-1"
    assert (kept / "log.txt").read_text().startswith("half\n")
    assert json.loads((kept / "outcome.json").read_text())["status"] == "not_run"


def test_repeated_engine_loss_leaves_the_repeat(tmp_path: Path) -> None:
    """An engine that is lost again and again leaves the repeat to a resumed run."""
    plan = a_plan(replace(a_cell(), repeats=2))
    outcomes = carry_out(tmp_path / "run", FakeRuntime([lost] * (1 + LOSSES)), plan)

    assert statuses(outcomes) == [Status.NOT_RUN, Status.OK]
    assert outcomes[0].reason == "the engine was lost: connection refused"
    (again,) = carry_out(tmp_path / "run", FakeRuntime(), plan)
    assert (again.repeat, again.status) == (0, Status.OK)


def test_vanished_run_folder_is_an_error(tmp_path: Path) -> None:
    """A run whose folder goes away ends with a clear error and makes no other folder."""
    folder = tmp_path / "run"

    def losing(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        shutil.rmtree(folder)
        return Ended(Cause.EXITED, 1, wall_s=1.0)

    with pytest.raises(HostError, match="this run's folder has gone"):
        carry_out(folder, FakeRuntime([losing]), a_plan(replace(a_cell(), repeats=2)))
    assert not folder.exists()


def test_clock_set_back_changes_only_times(tmp_path: Path) -> None:
    """A clock that is set back changes the times that are reported and nothing else."""
    plan = a_plan(replace(a_cell(), repeats=3))
    around, _ = surroundings(tmp_path / "run", FakeRuntime([exiting(1)]))
    hours = iter([15, 9, 3])
    around = replace(around, clock=lambda: datetime(2026, 11, 21, next(hours), tzinfo=UTC))
    outcomes = list(execute(plan, around))

    assert [outcome.started_at[11:13] for outcome in outcomes] == ["15", "09", "03"]
    assert [outcome.wall_s for outcome in outcomes] == [1.0, 1.5, 1.5]
    assert list(Run(tmp_path / "run").outcomes(plan.cells)) == outcomes
    assert carry_out(tmp_path / "run", FakeRuntime(), plan) == []


def test_outcome_says_how_much_log_is_missing(tmp_path: Path) -> None:
    """The outcome says how much the bound of the log left out."""

    def talking(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        return replace(measured(task, request, watch), log_omitted_bytes=2**31)

    (outcome,) = carry_out(tmp_path / "run", FakeRuntime([talking]), a_plan(a_cell()))

    assert outcome.log_omitted_bytes == 2**31


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/etc/passwd")])
def test_replaced_log_is_not_read(make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A log that was replaced by a link or a pipe is not read."""

    def planting(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        make(task.log)
        return Ended(Cause.EXITED, 1, wall_s=1.0)

    (outcome,) = carry_out(tmp_path / "run", FakeRuntime([planting]), a_plan(a_cell()))

    assert (outcome.status, outcome.reason) == (Status.FAILED, "exit status 1, and nothing in the log")


def plant_a_link(path: Path) -> None:
    path.symlink_to(path.parents[4] / "outside")


@pytest.mark.parametrize("error", [LostError("the engine was lost: EOF"), StartError("no space left")])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, plant_a_link])
def test_lost_launch_writes_into_no_link(  # type: ignore[no-untyped-def]
    make, error: StartError, tmp_path: Path
) -> None:
    """The message about a lost launch goes into no link or pipe."""
    outside = tmp_path / "outside"
    outside.write_text("kept\n")

    def planting(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        make(task.log)
        raise error

    (outcome,) = carry_out(tmp_path / "run", FakeRuntime([planting]), a_plan(a_cell()), Policy(retries=1))

    assert (outcome.status, outcome.attempts) == (Status.OK, 2)
    assert outside.read_text() == "kept\n"
    kept = tmp_path / "run/fake-1-cpu/c/0/attempt-1"
    assert (kept / "log.txt").read_text() == f"{error}\n"
    assert len(list(kept.glob("log.txt.aside-*"))) == 1
