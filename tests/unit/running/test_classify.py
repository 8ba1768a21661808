"""The meaning of the end of a launch."""

from dataclasses import replace
from pathlib import Path

import pytest
from running_fakes import a_cell, result_for

from orchestrator.devices import Allocation
from orchestrator.domain import Mode, Status, System
from orchestrator.processes import Cause
from orchestrator.results.container_answers import InvalidResultError
from orchestrator.results.contract import Result
from orchestrator.running.classify import Classification, classify, discrepancy, worth_a_retry
from orchestrator.running.requests import cpuset_for, request_for
from orchestrator.runtimes import Ended, Ready, Task

REQUEST = request_for(a_cell(), 2, "fakebuilder", 11, Allocation((0,)), pinned=True)
NONE = InvalidResultError("no result.json was written")
TASK = Task(Ready("i", "h"), Path(), Path("log.txt"), System("cpu", memory_bytes=64 * 2**20), Allocation(()), 30.0)


def result(**changes: object) -> Result:
    return Result.model_validate(result_for(REQUEST.model_dump(by_alias=True), **changes))


def block(steps: int, samples: int = 0, wall_s: float = 0.5) -> dict[str, object]:
    return {"steps": steps, "samples": samples or 10 * steps, "wall_s": wall_s, "cpu_s": 0.0}


def ended(exit_code: int | None = None, **changes: object) -> Ended:
    return replace(Ended(Cause.EXITED, exit_code, wall_s=1.0), **changes)  # type: ignore[arg-type]


def test_exit_0_with_answering_result_is_ok() -> None:
    """Exit 0 with a result that answers the request is ok without a reason."""
    assert classify(ended(0), result(), REQUEST, TASK, "noise") == Classification(Status.OK)


def test_exit_0_without_a_result_is_invalid_result() -> None:
    assert classify(ended(0), NONE, REQUEST, TASK, "") == Classification(Status.INVALID_RESULT, str(NONE))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"cell": "other/c"}, "is of other/c repeat 2"),
        ({"repeat": 1}, "repeat 1, not of what was asked"),
        ({"first_step": {"steps": 1, "samples": 20, "wall_s": 0.1, "cpu_s": 0}}, "counts 20 samples in 1 steps of 10"),
        ({"blocks": [block(60, 601)]}, "counts 601 samples in 60 steps"),
        ({"blocks": [block(49)]}, "has 49 timed steps; 50 were asked"),
        ({"blocks": [block(60)] * 9}, "has 9 timed blocks; at least 10 were asked for"),
        ({"blocks": [*[block(60)] * 10, block(60, wall_s=0.19)]}, "has a timed block of 0.19 s; at least 0.2 s were"),
        ({"latency_s": [0.1] * 149}, "has 149 latencies; 150 were asked for"),
        (
            {"blocks": [block(60, wall_s=18.0)] * 10, "latency_s": [0.3] * 99},
            "has 99 latencies; 150 were asked for, of which 100 fit 30 s",
        ),
        ({"loss": None}, "has no loss; the mode is train"),
    ],
)
def test_result_must_answer_the_request(changes: dict[str, object], reason: str) -> None:
    """A result that does not answer the request is invalid."""
    verdict = classify(ended(0), result(**changes), REQUEST, TASK, "")

    assert verdict.status is Status.INVALID_RESULT
    assert reason in verdict.reason


@pytest.mark.parametrize(("step_s", "steps"), [(0.2, 150), (0.3, 100), (0.5, 60), (0.61, 50), (40.0, 50), (0.3, 150)])
def test_a_slow_latency_pass_may_be_shorter(step_s: float, steps: int) -> None:
    """As long as the last timed block says that more would take over 30 s; the last one is of an older image."""
    assert discrepancy(REQUEST, result(blocks=[block(6, wall_s=6 * step_s)] * 10, latency_s=[step_s] * steps)) is None


def test_epoch_run_has_a_block_per_epoch() -> None:
    """An epoch run must have as many blocks as epochs."""
    request = REQUEST.model_copy(update={"steps": None, "epochs": 3})

    assert discrepancy(request, result(blocks=[block(6)] * 2)) == "result.json has 2 epochs; 3 were asked for"
    assert discrepancy(request.model_copy(update={"epochs": 2}), result(blocks=[block(6, wall_s=0.01)] * 2)) is None


def test_epoch_run_has_its_evaluations() -> None:
    """An epoch run has the evaluations that it asked for, no fewer and no more."""
    scores = {"train_loss": 0.5, "test_loss": 0.6, "test_accuracy": 0.8, "evaluation_s": 1.0}
    every = REQUEST.model_copy(update={"steps": None, "epochs": 2})
    last = every.model_copy(update={"evaluate_every_epoch": False})
    one, two = (result(blocks=[block(6)] * 2, epochs=[scores] * count) for count in (1, 2))

    assert (discrepancy(every, two), discrepancy(last, one)) == (None, None)
    assert discrepancy(every, one) == "result.json has 1 evaluations of 2 epochs"
    assert discrepancy(last, two) == (
        "result.json has 2 evaluations of 2 epochs; one, after the last of them, was asked for"
    )


def test_inference_has_no_loss() -> None:
    request = REQUEST.model_copy(update={"mode": Mode.INFER})

    assert discrepancy(request, result(loss=None)) is None
    assert discrepancy(request, result()) == "result.json has a loss; the mode is infer"


def test_only_noop_blocks_may_be_short() -> None:
    """A block may be short only where no framework works."""
    request = request_for(a_cell(), 2, "noop", 11, Allocation((0,)), pinned=True)

    assert discrepancy(request, result(blocks=[block(60, wall_s=1e-6)] * 10)) is None
    assert REQUEST.min_block_s == 0.2


@pytest.mark.parametrize(
    ("exit_code", "status"),
    [
        (3, Status.UNSUPPORTED),
        (4, Status.IMPORT_FAILED),
        (5, Status.FAILED),
        (6, Status.OOM_DEVICE),
        (7, Status.FAILED),
        (1, Status.FAILED),
    ],
)
def test_exit_codes_follow_the_contract(exit_code: int, status: Status) -> None:
    """Exit codes mean what the contract says, and the last line of the log is the reason."""
    said = "Traceback …\n  File x\n\x1b[31mValueError: no\x1b[0m such   thing\n\n"

    assert classify(ended(exit_code), NONE, REQUEST, TASK, said) == Classification(status, "ValueError: no such thing")


@pytest.mark.parametrize("exit_code", [1, 3])
def test_a_silent_failure_still_has_a_reason(exit_code: int) -> None:
    verdict = classify(ended(exit_code), NONE, REQUEST, TASK, " \n\n")

    assert verdict.reason == f"exit status {exit_code}, and nothing in the log"


def test_valid_result_does_not_excuse_a_failure() -> None:
    """A failure is a failure even with a valid result next to it."""
    assert classify(ended(1), result(), REQUEST, TASK, "boom").status is Status.FAILED


def test_memory_kill_is_oom_host() -> None:
    """A process that was killed for want of memory ends as oom_host, with its limit in the reason."""
    verdict = classify(ended(137, signal=9, oom_killed=True), NONE, REQUEST, TASK, "step 7")

    assert verdict == Classification(Status.OOM_HOST, "killed for want of memory of 64 MiB; its last words: step 7")


def test_killed_child_leaves_valid_result_ok() -> None:
    """A child that was killed for want of memory does not spoil a valid result."""
    assert classify(ended(0, oom_killed=True), result(), REQUEST, TASK, "").status is Status.OK


def test_a_signal_is_named() -> None:
    assert classify(ended(139, signal=11), NONE, REQUEST, TASK, "") == Classification(
        Status.FAILED, "killed by SIGSEGV"
    )
    assert classify(ended(191, signal=63), NONE, REQUEST, TASK, "x").reason == "killed by signal 63; its last words: x"


def test_overtime_is_always_timeout() -> None:
    """A process that is over its time ends as timeout, whatever else it left."""
    verdict = classify(ended(cause=Cause.TIMED_OUT, oom_killed=True), result(), REQUEST, TASK, "step 7")

    assert verdict == Classification(Status.TIMEOUT, "not done within 30 s; its last words: step 7")


def test_stopped_is_not_run() -> None:
    assert classify(ended(cause=Cause.STOPPED), NONE, REQUEST, TASK, "x") == Classification(Status.NOT_RUN, "stopped")


def test_only_crashes_and_failed_launches_are_retried() -> None:
    assert worth_a_retry(Status.LAUNCH_FAILED, None)
    assert worth_a_retry(Status.FAILED, 1)
    assert not worth_a_retry(Status.FAILED, 5), "a bad request"
    assert not worth_a_retry(Status.FAILED, 7), "what diverged diverges again"
    assert not any(worth_a_retry(status, 1) for status in Status if status not in {"launch_failed", "failed"})


def test_request_carries_cell_threads_and_seed() -> None:
    """A request carries the cell, its threads and the seed of the plan."""
    assert (REQUEST.cell, REQUEST.repeat, REQUEST.builder, REQUEST.seed) == ("fake-1-cpu/c", 2, "fakebuilder", 11)
    assert (REQUEST.threads, REQUEST.cpuset, REQUEST.steps, REQUEST.epochs) == (1, None, 50, None)


def test_threads_equal_cpus_without_a_limit() -> None:
    """A system that names no CPUs gives every framework as many threads as there are CPUs."""
    request = request_for(a_cell(system=System("all")), 0, "fakebuilder", 11, Allocation((0, 1, 2)), pinned=False)

    assert (request.threads, request.cpuset) == (3, None)


def test_process_pins_itself_only_if_needed() -> None:
    """A process pins itself where the runtime does not, and its system asks for it or others run beside it."""
    allocation, share, every = Allocation((0,)), Allocation((0,), memory_bytes=1), System("all")

    assert cpuset_for(a_cell().system, allocation, pinned=False) == (0,)
    assert cpuset_for(a_cell().system, allocation, pinned=True) is None
    assert cpuset_for(every, allocation, pinned=False) is None
    assert cpuset_for(every, share, pinned=False) == (0,)


def test_a_cpu_cell_cannot_lack_a_gpu() -> None:
    """A framework of the user's own may end with the same status for another reason."""
    with_gpu = replace(TASK, system=System("1_gpu", gpus=1))

    assert classify(ended(8), NONE, REQUEST, with_gpu, "lost").status is Status.NO_DEVICE
    assert classify(ended(8), NONE, REQUEST, TASK, "lost").status is Status.FAILED
