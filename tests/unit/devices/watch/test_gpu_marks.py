"""Marks of what befalls GPUs, by a fake of the driver's library, since the hosts of these tests have none."""

import re
from pathlib import Path

import pytest

from orchestrator.devices.watch.marks import (
    LISTED_EVERY_S,
    RESETS,
    Errors,
    GpuMark,
    Strangers,
    heat_marks,
    unused_marks,
)
from orchestrator.devices.watch.processes import OwnProcesses
from orchestrator.devices.watch.series import device
from orchestrator.results.telemetry.contract import GpuSeries, Telemetry
from tests.documented import whole
from tests.unit.devices.watch.fake_driver import GPU_A, FakeDriver

MIB = 2**20


def marks(driver: FakeDriver, **later: object) -> list[GpuMark]:
    """The marks of errors that come up after the counting has begun."""
    errors = Errors(driver, device(driver, GPU_A))
    for name, value in later.items():
        setattr(driver, name, value)
    return list(errors.marks())


def test_quiet_gpus_have_no_marks() -> None:
    """Memory errors from before are no mark either."""
    assert marks(FakeDriver(uncorrected=7)) == []


def test_uncorrectable_memory_errors_are_a_fault() -> None:
    found = marks(FakeDriver(uncorrected=7), uncorrected=9)

    assert found == [GpuMark(GPU_A, "2 uncorrectable memory errors (ECC)", is_fault=True)]
    assert str(found[0]) == "GPU 0: 2 uncorrectable memory errors (ECC)"


def test_xids_tell_whose_fault_it_is() -> None:
    """After some a GPU has to be reset. Others come of what a program does."""
    driver = FakeDriver()

    assert marks(driver, xids=[31, 31, 79]) == [
        GpuMark(GPU_A, "the driver reported XID 31"),
        GpuMark(GPU_A, "the driver reported XID 79 (it has fallen off the bus)", is_fault=True),
    ]
    assert driver.asked.count("nvmlEventSetFree") == 1


def test_the_page_lists_the_xids_of_a_gpu() -> None:
    text = " ".join(whole("gpu.md").split())
    (listed,) = re.findall(r"the GPU reset or its host restarted after it. These are ([0-9, and]+)\.", text)

    assert [int(number) for number in re.findall(r"\d+", listed)] == list(RESETS)


@pytest.mark.parametrize("refused", ["nvmlEventSetCreate", "nvmlDeviceRegisterEvents", "nvmlDeviceGetTotalEccErrors"])
def test_errors_no_driver_tells_are_no_marks(refused: str) -> None:
    assert len(marks(FakeDriver(refused={refused}), xids=[79], uncorrected=1)) == 1


def stranger(proc: Path, pid: int = 77) -> FakeDriver:
    """A driver that lists a process of another user's on the GPU."""
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "stat").write_text(f"{pid} (a name) S 1 {pid} {pid} 0")
    (proc / str(pid) / "comm").write_text("miner\n")
    return FakeDriver(pids=(pid,))


def test_a_stranger_is_named_once(tmp_path: Path) -> None:
    driver = stranger(tmp_path)
    strangers = Strangers(device(driver, GPU_A), OwnProcesses(tmp_path))
    strangers.look(driver, 0.0, 1)
    strangers.look(driver, 1.0, 1, is_last=True)
    (mark,) = strangers.marks()

    assert str(mark).startswith("GPU 0: miner (process 77 of ")
    assert str(mark).endswith(") ran on it too")
    assert not mark.is_fault


def test_constant_memory_asks_for_no_list(tmp_path: Path) -> None:
    """The list is asked for at the beginning, at the end, and where the memory in use has changed, now and then."""
    driver = FakeDriver()
    strangers = Strangers(device(driver, GPU_A), OwnProcesses(tmp_path))
    due = []
    for at_s, memory in ((0, 100), (LISTED_EVERY_S, 101), (LISTED_EVERY_S, 130), (LISTED_EVERY_S + 1, 300), (99, 130)):
        driver.asked.clear()
        strangers.look(driver, at_s, memory * MIB)
        due.append(bool(driver.asked))
    strangers.look(driver, 100, 130 * MIB, is_last=True)

    assert due == [True, False, True, False, False]
    assert driver.asked == ["nvmlDeviceGetComputeRunningProcesses_v3"]


def series(*slowed_by: str | None) -> Telemetry:
    at_s = tuple(float(number) for number in range(len(slowed_by)))
    gpu = GpuSeries(uuid=GPU_A.uuid, slowed_by=slowed_by)
    return Telemetry(period_s=0.1, due=len(at_s), in_time=len(at_s), at_s=at_s, gpus=(gpu,))


def used(busy: list[int | None], memory: list[int | None]) -> list[str]:
    columns = GpuSeries(uuid=GPU_A.uuid, busy_percent=tuple(busy), memory_bytes=tuple(memory))
    at_s = tuple(map(float, range(len(busy))))
    telemetry = Telemetry(period_s=0.1, due=len(at_s), in_time=len(at_s), at_s=at_s, gpus=(columns,))
    return [str(mark) for mark in unused_marks([GPU_A], telemetry)]


def test_a_gpu_on_which_nothing_ran_is_marked() -> None:
    """Work shows as load, and a program that only opens the GPU as memory. Too few samples show nothing."""
    assert used([0] * 20, [MIB] * 20) == ["GPU 0: nothing ran on it"]
    assert used([0] * 19 + [3], [MIB] * 20) == []
    assert used([0] * 20, [MIB] * 19 + [300 * MIB]) == []
    assert used([0] * 19, [MIB] * 19) == []
    assert used([None] * 20, [MIB] * 20) == []


def test_heat_in_the_timed_blocks_marks() -> None:
    """A fifth of the time is as little as a fifth of the blocks."""
    telemetry = series("heat", "", "heat power_limit", None, "", "power_limit")

    assert list(heat_marks([GPU_A], telemetry, [(1.0, 4.0)])) == [
        GpuMark(GPU_A, "heat held it back for 33% of the time")
    ]
    assert list(heat_marks([GPU_A], telemetry, [(4.0, 5.0)])) == []
    assert len(list(heat_marks([GPU_A], telemetry, []))) == 1, "without blocks, all of it counts"
    assert list(heat_marks([GPU_A], series("heat", "", "", "", ""), [])) == []
