"""Repeats that something else disturbed: marked, measured again within a limit, and never dropped."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from running_fakes import Behaviour, FakeRuntime, a_cell, a_plan, exiting, measured, result_for, surroundings

from orchestrator.devices import Allocation
from orchestrator.devices.idle import IdleWait
from orchestrator.domain import Outcome, Status
from orchestrator.events import Notice, RepeatFinished, RepeatStarted
from orchestrator.processes import Cause, Stop, Watch
from orchestrator.results.store import Run
from orchestrator.running import Policy, execute
from orchestrator.runtimes import Ended, Task

CELL = "fake-1-cpu/c"
REASON = "10 of 10 blocks (0–9): the hypervisor took 1 of our CPUs"


def under(steal_s: float, latency_steal_s: float = 0.0) -> Behaviour:
    """Measure while the hypervisor takes this much of every block of a second, and of a latency pass as long."""

    def behave(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        document = result_for(request)
        blocks = document["blocks"]
        assert isinstance(blocks, list)
        quiet = {"wall_s": 1.0, "cpu_s": 0.9, "busy_s": 1.0}
        for block in blocks:
            block["conditions"] = quiet | {"steal_s": steal_s}
        document["latency_conditions"] = quiet | {"steal_s": latency_steal_s}
        task.log.write_text("measured\n")
        (task.folder / "result.json").write_text(json.dumps(document))
        return Ended(Cause.EXITED, 0, wall_s=1.5)

    return behave


QUIET, DISTURBED = under(0.0), under(1.0)


def carry_out(folder: Path, *behaviours: Behaviour, extra: int, retries: int = 0) -> tuple[list[Outcome], FakeRuntime]:
    runtime = FakeRuntime(list(behaviours))
    around, _ = surroundings(folder, runtime)
    policy = Policy(extra_repeats=extra, retries=retries)
    return list(execute(a_plan(replace(a_cell(), repeats=2)), around, policy)), runtime


def test_disturbed_latency_pass_is_measured_again(tmp_path: Path) -> None:
    """A repeat whose latency pass was disturbed is measured again."""
    outcomes, _ = carry_out(tmp_path, under(0.0, latency_steal_s=1.0), QUIET, QUIET, extra=1)

    assert [(one.attempts, one.remeasured, one.disturbance) for one in outcomes] == [(2, 1, ""), (1, 0, "")]
    first = json.loads((tmp_path / CELL / "0" / "attempt-1" / "outcome.json").read_text())
    assert (first["disturbance"], first["disturbed_blocks"]) == ("latency pass: the hypervisor took 1 of our CPUs", 0)


def test_disturbed_repeat_is_measured_once_more(tmp_path: Path) -> None:
    """A disturbed repeat is measured once more, and both measurements are kept."""
    outcomes, runtime = carry_out(tmp_path, DISTURBED, QUIET, QUIET, extra=1)

    assert [(one.status, one.attempts, one.remeasured, one.disturbance) for one in outcomes] == [
        (Status.OK, 2, 1, ""),
        (Status.OK, 1, 0, ""),
    ]
    assert [request["repeat"] for request in runtime.launched] == [0, 0, 1]
    first = tmp_path / CELL / "0" / "attempt-1"
    assert {"result.json", "outcome.json", "log.txt"} <= {path.name for path in first.iterdir()}
    assert json.loads((first / "outcome.json").read_text())["disturbance"] == REASON


def test_what_is_disturbed_again_counts_and_says_so(tmp_path: Path) -> None:
    outcomes, _ = carry_out(tmp_path, DISTURBED, DISTURBED, QUIET, extra=1)

    assert (outcomes[0].status, outcomes[0].remeasured, outcomes[0].disturbed_blocks) == (Status.OK, 1, 10)
    assert outcomes[0].disturbance == REASON
    assert Run(tmp_path).result(outcomes[0]) is not None


@pytest.mark.parametrize(("extra", "launched"), [(0, 2), (1, 3), (3, 5)])
def test_the_limit_is_that_of_every_repeat(tmp_path: Path, extra: int, launched: int) -> None:
    _, runtime = carry_out(tmp_path, *[DISTURBED] * (1 + extra), QUIET, extra=extra)

    assert len(runtime.launched) == launched


def test_crash_retries_count_apart(tmp_path: Path) -> None:
    """Retries after a crash are counted apart from what is measured again."""
    outcomes, runtime = carry_out(tmp_path, exiting(1), DISTURBED, QUIET, QUIET, extra=1, retries=1)

    assert [(one.status, one.attempts, one.remeasured) for one in outcomes] == [(Status.OK, 3, 1), (Status.OK, 1, 0)]
    assert len(runtime.launched) == 4


def test_unknown_conditions_are_no_disturbance(tmp_path: Path) -> None:
    """A result without conditions is not known to be disturbed."""
    outcomes, runtime = carry_out(tmp_path, measured, measured, extra=1)

    assert [(one.disturbed_blocks, one.disturbance) for one in outcomes] == [(None, "")] * 2
    assert len(runtime.launched) == 2


def test_listeners_hear_why_repeats_are_remeasured(tmp_path: Path) -> None:
    around, events = surroundings(tmp_path, FakeRuntime([DISTURBED, QUIET]))
    (outcome,) = execute(a_plan(a_cell()), around, Policy(extra_repeats=1))

    assert events[1:] == [
        RepeatStarted(CELL, 0, 1, str(tmp_path / CELL / "0" / "log.txt")),
        Notice(f"{CELL} repeat 0 is measured again: {REASON}"),
        RepeatFinished(outcome, 450.0),
    ]


def test_stop_leaves_a_disturbed_repeat_alone(tmp_path: Path) -> None:
    """A stop during a disturbed repeat leaves it as it is."""
    stop = threading.Event()

    def stopping(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        stop.set()
        return DISTURBED(task, request, watch)

    around, _ = surroundings(tmp_path, FakeRuntime([stopping]), stop)
    (outcome,) = execute(a_plan(a_cell()), around, Policy(extra_repeats=1))

    assert (outcome.status, outcome.disturbance) == (Status.OK, REASON)


def killed(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    """End the orchestrator in the middle of a launch, as `kill -9` does: nothing after this is written."""
    task.log.write_text("half\n")
    raise KeyboardInterrupt


def begun_and_killed(folder: Path, *behaviours: Behaviour, extra: int = 1) -> None:
    around, _ = surroundings(folder, FakeRuntime([*behaviours, killed]))
    with pytest.raises(KeyboardInterrupt):
        list(execute(a_plan(a_cell()), around, Policy(extra_repeats=extra)))


def resumed(folder: Path, *behaviours: Behaviour, extra: int = 1) -> tuple[Outcome, FakeRuntime]:
    runtime = FakeRuntime(list(behaviours))
    around, _ = surroundings(folder, runtime)
    (outcome,) = execute(a_plan(a_cell()), around, Policy(extra_repeats=extra))
    return outcome, runtime


def test_kill_while_remeasuring_leaves_the_mark(tmp_path: Path) -> None:
    """A kill while measuring again leaves the mark and uses up no more than the limit."""
    begun_and_killed(tmp_path, DISTURBED)
    outcome, runtime = resumed(tmp_path, DISTURBED, QUIET)

    assert (outcome.status, outcome.attempts, outcome.remeasured) == (Status.OK, 3, 1)
    assert (outcome.disturbance, len(runtime.launched)) == (REASON, 1)


def test_extra_repeats_before_a_kill_count(tmp_path: Path) -> None:
    """Of several extra repeats, those before a kill are used up."""
    begun_and_killed(tmp_path, DISTURBED, DISTURBED, extra=3)
    outcome, runtime = resumed(tmp_path, DISTURBED, DISTURBED, QUIET, extra=3)

    assert (outcome.attempts, outcome.remeasured, len(runtime.launched)) == (5, 3, 2)


FAILED = "failed: it broke"


@pytest.mark.parametrize("behaviour", [exiting(1), exiting(6)])
def test_failed_remeasuring_keeps_earlier_measurement(behaviour: Behaviour, tmp_path: Path) -> None:
    """Measuring again in vain leaves the earlier measurement and says so."""
    outcomes, _ = carry_out(tmp_path, DISTURBED, behaviour, QUIET, extra=1)

    assert (outcomes[0].status, outcomes[0].attempts, outcomes[0].remeasured) == (Status.OK, 2, 0)
    assert (outcomes[0].disturbance, outcomes[0].not_remeasured[-8:]) == (REASON, "it broke")
    assert Run(tmp_path).outcome(CELL, 0) == outcomes[0]
    assert Run(tmp_path).result(outcomes[0]) is not None
    folder = tmp_path / CELL / "0"
    assert (folder / "log.txt").read_text() == "measured\n"
    assert json.loads((folder / "attempt-2" / "outcome.json").read_text())["reason"] == "it broke"


def test_last_disturbed_measurement_counts(tmp_path: Path) -> None:
    """The last of several disturbed measurements counts where one more fails."""
    outcomes, _ = carry_out(tmp_path, DISTURBED, under(2.0), exiting(1), QUIET, extra=2)

    assert (outcomes[0].attempts, outcomes[0].remeasured, outcomes[0].not_remeasured) == (3, 1, FAILED)
    assert "the hypervisor took 2 of our CPUs" in outcomes[0].disturbance


def test_a_crash_while_measuring_again_may_be_retried(tmp_path: Path) -> None:
    outcomes, _ = carry_out(tmp_path, DISTURBED, exiting(1), QUIET, QUIET, extra=1, retries=1)

    assert (outcomes[0].attempts, outcomes[0].remeasured, outcomes[0].disturbance) == (3, 1, "")
    assert outcomes[0].not_remeasured == ""


def test_stop_while_remeasuring_keeps_earlier_measurement(tmp_path: Path) -> None:
    stop = threading.Event()

    def stopping(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        stop.set()
        return Ended(Cause.STOPPED, None, wall_s=1.0)

    around, _ = surroundings(tmp_path, FakeRuntime([DISTURBED, stopping]), stop)
    outcomes = list(execute(a_plan(replace(a_cell(), repeats=2)), around, Policy(extra_repeats=1)))

    assert [(one.status, one.not_remeasured) for one in outcomes] == [
        (Status.OK, "not_run: stopped"),
        (Status.NOT_RUN, ""),
    ]
    assert outcomes[0].disturbance == REASON


def test_early_stop_keeps_earlier_measurement(tmp_path: Path) -> None:
    """A stop before a killed run has gone on leaves the earlier measurement."""
    begun_and_killed(tmp_path, DISTURBED)
    stop = threading.Event()
    stop.set()
    around, _ = surroundings(tmp_path, FakeRuntime(), stop)
    (outcome,) = execute(a_plan(a_cell()), around, Policy(extra_repeats=1))

    assert (outcome.status, outcome.disturbance, outcome.attempts) == (Status.OK, REASON, 2)
    assert outcome.not_remeasured == "not_run: stopped"


def test_earlier_measurement_behind_link_is_ignored(tmp_path: Path) -> None:
    """An earlier measurement is not looked for behind a link."""
    elsewhere = tmp_path / "elsewhere"

    def planting(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        (task.folder / "attempt-1").rename(elsewhere)
        (task.folder / "attempt-1").symlink_to(elsewhere)
        return exiting(1)(task, request, watch)

    outcomes, _ = carry_out(tmp_path / "run", DISTURBED, planting, QUIET, extra=1)

    assert (outcomes[0].status, outcomes[0].not_remeasured) == (Status.FAILED, "")


def test_rotten_earlier_measurement_does_not_count(tmp_path: Path) -> None:
    """An earlier measurement that has rotted does not count again."""

    def rotting(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        (task.folder / "attempt-1" / "result.json").write_text("{")
        return exiting(1)(task, request, watch)

    outcomes, _ = carry_out(tmp_path, DISTURBED, rotting, QUIET, extra=1)

    assert (outcomes[0].status, outcomes[0].reason) == (Status.FAILED, "it broke")
    assert Run(tmp_path).outcome(CELL, 0) == outcomes[0]


def test_gate_is_passed_before_every_launch(tmp_path: Path) -> None:
    """The gate is passed before every launch, and what it saw is recorded."""
    seen: list[tuple[int, ...]] = []

    def busy(given: Allocation, stop: Stop) -> IdleWait:
        seen.append(given.cpus)
        return IdleWait(10.5, "others used 0.9 of 1 CPUs")

    around, events = surroundings(tmp_path, FakeRuntime())
    outcomes = list(execute(a_plan(replace(a_cell(), repeats=2)), replace(around, idle=busy)))

    assert [(one.idle_wait_s, one.busy) for one in outcomes] == [(10.5, "others used 0.9 of 1 CPUs")] * 2
    assert seen == [(0,), (0,)]
    assert [event.message for event in events if isinstance(event, Notice)] == [
        "this host is not idle: others used 0.9 of 1 CPUs after 10 s of waiting"
    ], "told once"


def test_without_a_gate_nobody_waits(tmp_path: Path) -> None:
    outcomes, _ = carry_out(tmp_path, QUIET, QUIET, extra=1)

    assert [(one.idle_wait_s, one.busy) for one in outcomes] == [(None, "")] * 2
