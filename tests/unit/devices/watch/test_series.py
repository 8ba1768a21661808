"""The series of GPUs, by a fake of the driver's library, and the moments at which samples are due."""

import pynvml
import pytest

from orchestrator.devices.watch.series import Pace, SampledColumns, device, row
from tests.unit.devices.watch.fake_driver import GPU_A, GPU_B, PART, FakeDriver


def test_a_gpu_is_asked_for_every_column() -> None:
    driver = FakeDriver(energy_mj=1_500, reasons=0x4 | 0x20 | 0x40)

    assert row(driver, device(driver, GPU_A)) == {
        "memory_bytes": 10**9, "clock_hz": 1_980_000_000, "memory_clock_hz": 2_619_000_000, "temperature_c": 50,
        "slowed_by": "heat power_limit", "busy_percent": 90, "power_w": 300.0, "energy_j": 1.5,
    }  # fmt: skip
    assert "nvmlDeviceGetComputeRunningProcesses_v3" not in driver.asked, "which holds a lock for milliseconds"


def test_a_refused_question_is_a_missing_value() -> None:
    driver = FakeDriver(refused={"nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetMemoryInfo"})
    answers = row(driver, device(driver, GPU_A))

    assert (answers["energy_j"], answers["memory_bytes"], answers["power_w"]) == (None, None, 300.0)


def test_a_part_has_no_load_of_its_own() -> None:
    """Its clocks and heat are those of the whole GPU. Load, power and energy would be those of its neighbours too."""
    driver = FakeDriver()
    part = device(driver, PART)

    assert (part.own, part.whole) == ("MIG-a", "whole of MIG-a")
    assert row(driver, part).keys() == {"memory_bytes", "clock_hz", "memory_clock_hz", "temperature_c", "slowed_by"}


def test_a_lost_gpu_raises() -> None:
    driver = FakeDriver()
    asked = device(driver, GPU_A)
    driver.lost = {GPU_A.uuid}

    with pytest.raises(pynvml.NVMLError):
        row(driver, asked)


def test_samples_on_time_are_counted() -> None:
    pace = Pace(10.0, 0.5)
    first, second = pace.taken(10.0, 10.125), pace.taken(10.75, 10.75)

    assert (first, second) == (0.375, 0.25)
    assert (pace.due, pace.in_time) == (2, 2), "the second was late by half a period, and no more"
    pace.taken(11.375, 11.375)
    assert (pace.due, pace.in_time) == (3, 2)


def test_missed_moments_count_as_due() -> None:
    """They are not made up for by samples that follow at once."""
    pace = Pace(10.0, 0.5)
    pause_s = pace.taken(10.0, 12.0)

    assert (pace.due, pace.in_time, pause_s) == (4, 1, 0.0)
    assert pace.taken(12.0, 12.0) == 0.5
    assert (pace.due, pace.in_time) == (5, 2)


def test_a_long_series_merges_neighbours() -> None:
    """The highest use of memory stays, and later samples may be rarer."""
    samples = SampledColumns([GPU_A], most=4)
    merged = [samples.add(float(at), [{"memory_bytes": 100 - at, "power_w": at}]) for at in range(5)]
    series = samples.telemetry(Pace(0.0))

    assert merged == [False] * 4 + [True]
    assert series is None, "no sample was due"
    pace = Pace(0.0)
    pace.taken(0.0, 0.0)
    series = samples.telemetry(pace)
    assert series is not None
    assert series.at_s == (1.0, 3.0, 4.0)
    assert (series.gpus[0].memory_bytes, series.gpus[0].power_w) == ((100, 98, 96), (1, 3, 4))


def test_columns_that_no_driver_tells_are_left_out() -> None:
    samples = SampledColumns([GPU_A, GPU_B])
    samples.add(1.0, [{"power_w": 1.5}, {}])
    samples.add(2.0, [{}, {}])
    pace = Pace(1.0)
    pace.taken(1.0, 1.0)
    series = samples.telemetry(pace)

    assert series is not None
    document = series.model_dump(mode="json", by_alias=True)
    assert document["gpus"] == [{"uuid": "GPU-a", "power_w": [1.5, None]}, {"uuid": "GPU-b"}]
    assert series.in_time_share == 1.0
