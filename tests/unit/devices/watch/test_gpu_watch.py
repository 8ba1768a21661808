"""The watch beside a launch, by a fake of the driver's library."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.devices.driver import Driver
from orchestrator.devices.watch import gpu_watch
from orchestrator.devices.watch.gpu_watch import GpuWatch, Session
from orchestrator.devices.watch.processes import OwnProcesses
from tests.unit.devices.watch.fake_driver import GPU_A, GPU_B, FakeDriver


def test_without_gpus_nothing_is_started() -> None:
    """Neither a thread nor the driver."""

    @contextmanager
    def forbidden() -> Iterator[Driver]:
        raise AssertionError("the driver was asked")
        yield Driver()

    before = threading.active_count()
    with GpuWatch(nvml=forbidden) as watch:
        assert threading.active_count() == before

    assert (watch.seen.telemetry, watch.marks()) == (None, ())


def test_a_launch_is_sampled_from_before_until_after() -> None:
    driver = FakeDriver()
    with GpuWatch([GPU_A, GPU_B], nvml=driver.nvml) as watch:
        driver.energy_mj, driver.uncorrected = 5_000, 1
    telemetry = watch.seen.telemetry

    assert telemetry is not None
    assert [gpu.uuid for gpu in telemetry.gpus] == ["GPU-a", "GPU-b"]
    assert (telemetry.gpus[0].energy_j[0], telemetry.gpus[0].energy_j[-1]) == (0, 5.0)
    assert (len(telemetry.at_s) >= 2, 0 < telemetry.due < len(telemetry.at_s)) == (True, True)
    assert [mark.gpu for mark in watch.marks()] == [GPU_A, GPU_B], "each has counted a memory error"


def test_without_a_driver_nothing_is_seen() -> None:
    @contextmanager
    def absent() -> Iterator[Driver]:
        yield Driver(fault="Driver/library version mismatch")

    with GpuWatch([GPU_A], nvml=absent) as watch:
        pass

    assert (watch.seen.telemetry, watch.marks()) == (None, ())


def test_a_driver_that_hangs_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its GPUs count as failed, and the launch goes on."""
    release = threading.Event()

    @contextmanager
    def hanging() -> Iterator[Driver]:
        release.wait()
        yield Driver()

    monkeypatch.setattr(gpu_watch, "PATIENCE_S", 0.01)
    with GpuWatch([GPU_A], nvml=hanging) as watch:
        pass
    release.set()

    assert [(mark.text, mark.is_fault) for mark in watch.marks()] == [("the driver did not answer for 0.01 s", True)]


def test_a_lost_gpu_costs_its_own_samples(tmp_path: Path) -> None:
    """It is marked once, and not asked again."""
    driver = FakeDriver()
    session = Session(driver, [GPU_A, GPU_B], OwnProcesses(tmp_path))
    session.sample(0.0)
    driver.lost = {GPU_A.uuid}
    session.sample(1.0)
    driver.asked.clear()
    session.sample(2.0)

    assert driver.asked.count("nvmlDeviceGetMemoryInfo") == 1
    assert [(mark.gpu, mark.text, mark.is_fault) for mark in session.marks()] == [(GPU_A, "GPU is lost", True)]


def test_a_gpu_lost_from_the_beginning_is_marked(tmp_path: Path) -> None:
    driver = FakeDriver(lost={str(GPU_A.uuid.encode()), GPU_A.uuid})
    session = Session(driver, [GPU_A], OwnProcesses(tmp_path))
    session.sample(0.0)

    assert [mark.text for mark in session.marks()] == ["GPU is lost"]
