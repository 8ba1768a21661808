"""Launches whose GPUs are watched, by a fake of the driver's library, since the hosts of these tests have none."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from orchestrator.devices import Allocation
from orchestrator.devices.watch.gpu_watch import GpuWatch
from orchestrator.devices.watch.processes import OwnProcesses
from orchestrator.domain import Outcome, Status, System
from orchestrator.processes import Watch
from orchestrator.results.evidence import read_repeats
from orchestrator.results.store import Run
from orchestrator.running import Policy, execute
from orchestrator.runtimes import Ended, Task
from tests.unit.devices.watch.fake_driver import GPU_A, GPU_B, FakeDriver
from tests.unit.running.running_fakes import Behaviour, FakeRuntime, a_cell, a_plan, exiting, measured, surroundings

CELL = "fake-1-cpu/c"
GPU = System("1_gpu", gpus=1)
DEFAULT = Policy()


def carry_out(
    folder: Path, driver: FakeDriver, *behaviours: Behaviour, policy: Policy = DEFAULT, repeats: int = 1, gpus: int = 1
) -> tuple[list[Outcome], FakeRuntime]:
    """Run a cell of one GPU on a host with some."""
    runtime = FakeRuntime(list(behaviours))
    around, _ = surroundings(folder, runtime)
    host = replace(around.inventory, gpus=(GPU_A, GPU_B)[:gpus])
    proc = folder / "proc"

    def watch(allocation: Allocation) -> GpuWatch:
        return GpuWatch(allocation.gpus, own=OwnProcesses(proc), nvml=driver.nvml)

    around = replace(around, inventory=host, gpu_watch=watch)
    return list(execute(a_plan(replace(a_cell(system=GPU), repeats=repeats)), around, policy)), runtime


def after(change: Callable[[], object], behaviour: Behaviour = measured) -> Behaviour:
    """Behave so once something has changed in the middle of a launch."""

    def behave(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        change()
        return behaviour(task, request, watch)

    return behave


def test_the_series_lies_beside_the_result(tmp_path: Path) -> None:
    (outcome,), _ = carry_out(tmp_path, FakeDriver())
    stored = json.loads((tmp_path / CELL / "0/telemetry.json").read_text())

    assert (outcome.status, outcome.disturbance) == (Status.OK, "")
    assert (stored["clock"], stored["period_s"], stored["gpus"][0]["uuid"]) == ("CLOCK_MONOTONIC", 0.1, "GPU-a")
    assert len(stored["gpus"][0]["power_w"]) == len(stored["at_s"])


def test_a_cell_without_gpus_is_not_watched(tmp_path: Path) -> None:
    """No thread, no file, no question to a driver."""
    threads = threading.active_count()
    seen = []

    def counting(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        seen.append(threading.active_count())
        return measured(task, request, watch)

    around, _ = surroundings(tmp_path, FakeRuntime([counting]))
    around = replace(around, gpu_watch=lambda allocation: GpuWatch(allocation.gpus))
    list(execute(a_plan(a_cell()), around))

    assert seen == [threads]
    assert sorted(path.name for path in (tmp_path / CELL / "0").iterdir()) == [
        "log.txt", "outcome.json", "request.json", "result.json",
    ]  # fmt: skip


def test_a_stranger_has_the_repeat_measured_again(tmp_path: Path) -> None:
    """A process that ran on the GPU meanwhile is a disturbance as any other."""
    driver = FakeDriver()

    def comes() -> None:
        (tmp_path / "proc/77").mkdir(parents=True)
        (tmp_path / "proc/77/stat").write_text("77 (miner) S 1 77 77 0")
        driver.pids = (77,)

    def goes() -> None:
        driver.pids = ()

    (outcome,), runtime = carry_out(tmp_path, driver, after(comes), after(goes), policy=Policy(extra_repeats=1))

    # The second launch met it before it went.
    assert len(runtime.launched) == 2
    assert (outcome.status, outcome.remeasured) == (Status.OK, 1)
    first = json.loads((tmp_path / CELL / "0/attempt-1/outcome.json").read_text())
    assert first["disturbance"] == "GPU 0: process 77 ran on it too"
    assert (tmp_path / CELL / "0/attempt-1/telemetry.json").exists()


def test_a_failure_names_what_befell_the_gpu(tmp_path: Path) -> None:
    """It is no disturbance, since nothing was measured."""
    driver = FakeDriver()
    (outcome,), _ = carry_out(tmp_path, driver, after(lambda: driver.xids.append(79), exiting(1)))

    assert (outcome.status, outcome.disturbance) == (Status.FAILED, "")
    assert outcome.reason == "it broke; GPU 0: the driver reported XID 79 (it has fallen off the bus)"


def test_after_two_failures_another_gpu_is_taken(tmp_path: Path) -> None:
    driver = FakeDriver()

    def fails() -> None:
        driver.uncorrected += 1

    outcomes, runtime = carry_out(tmp_path, driver, after(fails), after(fails), repeats=3, gpus=2)

    assert [one.disturbance for one in outcomes] == ["GPU 0: 1 uncorrectable memory errors (ECC)"] * 2 + [""]
    assert [task.allocation.gpus for task in runtime.tasks] == [(GPU_A,), (GPU_A,), (GPU_B,)]


def test_after_two_failures_there_is_no_device(tmp_path: Path) -> None:
    """Neither for later repeats, nor for what would have been tried again on the same GPU."""
    driver = FakeDriver()

    def fails() -> None:
        driver.uncorrected += 1

    crash = after(fails, exiting(1))
    outcomes, runtime = carry_out(tmp_path, driver, crash, crash, policy=Policy(retries=5), repeats=2)
    why = "GPU 0 is left out after 2 failures, the last one: 1 uncorrectable memory errors (ECC)"

    assert [(one.status, one.reason) for one in outcomes] == [
        (Status.NO_DEVICE, why),
        (Status.NO_DEVICE, f"1_gpu needs 1 GPU; this host has 0; {why}"),
    ]
    assert len(runtime.launched) == 2


def test_telemetry_is_read_with_blocks_on_its_clock(tmp_path: Path) -> None:
    """A result whose blocks do not tell when they began has no series that fits it."""

    def stamped(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        ended = measured(task, request, watch)
        document = json.loads((task.folder / "result.json").read_text())
        for number, block in enumerate(document["blocks"]):
            block["conditions"] = {"begin_s": 100.0 + number, "wall_s": 0.5, "cpu_s": 0.5}
        (task.folder / "result.json").write_text(json.dumps(document))
        return ended

    carry_out(tmp_path, FakeDriver(), stamped, repeats=2)
    first, second = read_repeats(Run(tmp_path), CELL, range(2))

    assert first.telemetry is not None
    assert first.telemetry.gpus[0].uuid == GPU_A.uuid
    assert second.telemetry is None
    (tmp_path / CELL / "0/telemetry.json").write_text('{"schema": 1}')
    (rotted,) = read_repeats(Run(tmp_path), CELL, [0])
    assert (rotted.outcome.status, rotted.telemetry) == (Status.OK, None)
