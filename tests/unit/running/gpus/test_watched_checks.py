"""Parity checks whose GPUs are watched, by a fake of the driver's library, since the hosts of these tests have none."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.devices import Allocation
from orchestrator.devices.gpu_gate import GateEnd
from orchestrator.devices.watch.gpu_watch import GpuWatch
from orchestrator.devices.watch.processes import OwnProcesses
from orchestrator.domain import Outcome, Status, System, Workload
from orchestrator.processes import Cause, Watch
from orchestrator.results.parity.checks import Checks
from orchestrator.results.parity.contract import ParityOutcome
from orchestrator.results.store import Run
from orchestrator.running import execute
from orchestrator.runtimes import Ended, Task
from tests.unit.devices.watch.fake_driver import GPU_A, GPU_B, FakeDriver
from tests.unit.running.running_fakes import Behaviour, FakeRuntime, a_cell, a_plan, exiting, measured, surroundings

ANSWER = json.loads((Path(__file__).parents[3] / "golden/contract/parity.json").read_text())
MODELS = ("lenet", "mlp", "vgg19")
GPU = System("1_gpu", gpus=1)


def answering(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    """Answer a parity request with a valid result."""
    task.log.write_text("checked\n")
    (task.folder / "result.json").write_text(json.dumps(ANSWER | {"cell": request["cell"]}))
    return Ended(Cause.EXITED, 0, wall_s=2.5)


def after(change: Callable[[], object], behaviour: Behaviour = answering) -> Behaviour:
    """Behave so once something has changed in the middle of a launch."""

    def behave(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        change()
        return behaviour(task, request, watch)

    return behave


def carry_out(
    folder: Path,
    driver: FakeDriver,
    *checks: Behaviour,
    models: int = 1,
    gpus: int = 1,
    gate: Sequence[GateEnd] = (),
) -> tuple[list[ParityOutcome], list[Outcome], FakeRuntime]:
    """Check some models on a host with GPUs, of which the first behave so, and measure a cell of each.

    The gate ends so, once for each launch, and then with free GPUs.
    """
    ends_of_gate = iter(gate)
    runtime = FakeRuntime([*checks, *[measured] * models])
    around, _ = surroundings(folder / "run", runtime)

    def watch(allocation: Allocation) -> GpuWatch:
        return GpuWatch(allocation.gpus, own=OwnProcesses(folder / "proc"), nvml=driver.nvml)

    host = replace(around.inventory, gpus=(GPU_A, GPU_B)[:gpus])
    cells = [
        replace(a_cell(model, system=GPU), workload=Workload(model, a_cell().workload.mode, 10))
        for model in MODELS[:models]
    ]
    around = replace(around, inventory=host, gpu_watch=watch, answers=folder / "answers")
    around = replace(around, gpu_gate=lambda *_: next(ends_of_gate, GateEnd(0.0)))
    outcomes = list(execute(replace(a_plan(*cells), parity=True), around))
    store = Checks(Run(folder / "run"))
    ends = [store.outcome(f"fake-1-cpu/{model}") for model in MODELS[:models]]
    return [end for end in ends if end], outcomes, runtime


def test_a_failed_check_names_what_befell_the_gpu(tmp_path: Path) -> None:
    driver = FakeDriver()
    (end,), _, _ = carry_out(tmp_path, driver, after(lambda: driver.xids.append(79), exiting(1)))

    assert (end.status, end.reason) == (
        Status.FAILED,
        "it broke; GPU 0: the driver reported XID 79 (it has fallen off the bus)",
    )


def test_an_answer_of_a_failed_gpu_does_not_count(tmp_path: Path) -> None:
    """It is kept for no later run, and a resumed run asks again."""
    driver = FakeDriver()

    def fails() -> None:
        driver.uncorrected += 1

    (end,), _, _ = carry_out(tmp_path, driver, after(fails))

    assert (end.status, end.reason) == (Status.NO_DEVICE, "GPU 0: 1 uncorrectable memory errors (ECC)")
    assert not [path for path in (tmp_path / "answers").rglob("*") if path.is_file()]


@pytest.mark.parametrize("xid", [31, None])
def test_what_is_no_fault_of_the_gpu_changes_no_answer(xid: int | None, tmp_path: Path) -> None:
    """An error of a program, or nothing."""
    driver = FakeDriver()
    (end,), _, _ = carry_out(tmp_path, driver, after(lambda: xid and driver.xids.append(xid)))

    assert (end.status, end.reason) == (Status.OK, "")


def test_failures_in_checks_count_for_the_run(tmp_path: Path) -> None:
    """After two, no further check is launched on the GPU, and cells get another one."""
    driver = FakeDriver()

    def fails() -> None:
        driver.uncorrected += 1

    ends, outcomes, runtime = carry_out(tmp_path, driver, after(fails), after(fails), models=3, gpus=2)

    assert [end.status for end in ends] == [Status.NO_DEVICE] * 3
    assert ends[2].reason == ("GPU 0 is left out after 2 failures, the last one: 1 uncorrectable memory errors (ECC)")
    assert {each.ran_on for each in outcomes} == {GPU_B.uuid}
    assert [task.allocation.gpus for task in runtime.tasks[:2]] == [(GPU_A,)] * 2


def test_a_check_waits_for_free_gpus(tmp_path: Path) -> None:
    """One whose GPU stays held is not launched and names who holds it. The cell finds the GPU free."""
    held = GateEnd(60.0, "GPU 0: python (process 123 of alice) runs on it")
    (end,), (outcome,), runtime = carry_out(tmp_path, FakeDriver(), gate=[held])

    assert end.status is Status.NO_DEVICE
    assert end.reason == "not free after 60 s of waiting: GPU 0: python (process 123 of alice) runs on it"
    assert outcome.status is Status.OK
    assert [request["mode"] for request in runtime.launched] == ["train"]
