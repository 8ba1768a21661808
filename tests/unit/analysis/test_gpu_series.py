"""Figures of GPUs from a series: energy over the steady phase, memory and load."""

from typing import Any

import pytest

from orchestrator.analysis.gpus.series import Energy, SeriesUse, energy, series_use
from orchestrator.analysis.resources import gpu_use, joules_per_sample
from orchestrator.results.contract import Block, Conditions, GpuConditions
from orchestrator.results.telemetry.contract import GpuSeries, Telemetry, spans

AT_S = tuple(10.0 + number / 4 for number in range(21))
"""Five seconds, four samples a second."""


def telemetry(*gpus: dict[str, Any], in_time: int = 21) -> Telemetry:
    series = tuple(GpuSeries(uuid=f"GPU-{number}", **columns) for number, columns in enumerate(gpus))
    return Telemetry(period_s=0.25, due=21, in_time=in_time, at_s=AT_S, gpus=series)


def a_block(begin_s: float, wall_s: float = 1.0, samples: int = 50, energy_j: float | None = None) -> Block:
    seen = Conditions(begin_s=begin_s, wall_s=wall_s, cpu_s=1.0, gpus=(GpuConditions(energy_j=energy_j),))
    return Block(steps=1, samples=samples, wall_s=wall_s, cpu_s=1.0, conditions=seen)


STEADY = tuple(100.0 * (at_s - 10) for at_s in AT_S)
"""A counter at 100 W."""


def test_energy_of_blocks_is_that_of_the_phase() -> None:
    """Blocks that follow each other add up to the whole, wherever the counter steps."""
    stepping = tuple(100.0 * int(at_s - 10) for at_s in AT_S)
    whole = energy(telemetry({"energy_j": stepping}), [(11.0, 14.0)])
    parts = energy(telemetry({"energy_j": stepping}), [(11.0, 11.9), (11.9, 12.3), (12.3, 14.0)])

    assert whole is not None
    assert parts is not None
    assert whole.joules == pytest.approx(300.0)
    assert parts.joules == pytest.approx(whole.joules)


def test_energy_between_samples_lies_on_the_line() -> None:
    assert energy(telemetry({"energy_j": STEADY}), [(11.1, 12.3)]) == Energy(pytest.approx(120.0), is_integrated=False)


def test_evaluation_between_epochs_is_left_out() -> None:
    found = energy(telemetry({"energy_j": STEADY}), [(11.0, 12.0), (13.0, 14.0)])

    assert found == Energy(pytest.approx(200.0), is_integrated=False)


def test_all_gpus_of_a_cell_count() -> None:
    """One without a counter is integrated from its power, and the sum says so."""
    powered = {"power_w": (50.0,) * len(AT_S)}
    both = telemetry({"energy_j": STEADY, "power_w": (999.0,) * len(AT_S)}, powered)

    assert energy(both, [(11.0, 13.0)]) == Energy(pytest.approx(300.0), is_integrated=True)
    assert energy(telemetry({"energy_j": STEADY}, {}), [(11.0, 13.0)]) is None, "nothing is known of the second"


@pytest.mark.parametrize("timed", [[(9.0, 12.0)], [(12.0, 16.0)], [(11.0, 11.9)], []])
def test_energy_beyond_the_samples_is_unknown(timed: list[tuple[float, float]]) -> None:
    """So is that of a phase which is too short for the steps of a counter."""
    assert energy(telemetry({"energy_j": STEADY}), timed) is None


def test_a_counter_that_goes_down_tells_nothing() -> None:
    """As after a new start of the driver."""
    assert energy(telemetry({"energy_j": (*STEADY[:9], *STEADY[:12])}), [(11.0, 14.0)]) is None


def test_peaks_are_of_the_whole_and_of_blocks() -> None:
    """Autotuning before the timed blocks takes memory of its own."""
    memory = (None, 900, 300, 300, 300, 400, *(350,) * 14, 700)
    busy = (0.0, 0.0, 0.0, 0.0, *(80.0,) * 8, None, *(100.0,) * 8)
    other = {"memory_bytes": (200,) * 21}
    found = series_use(telemetry({"memory_bytes": memory, "busy_percent": busy}, other, in_time=20), [(11.0, 14.9)])

    assert (found.peak_bytes, found.timed_peak_bytes) == (900, 400)
    assert found.busy == pytest.approx((8 * 0.8 + 7 * 1.0) / 15)
    assert found.in_time == 20 / 21


def test_an_unknown_use_is_missing() -> None:
    assert series_use(telemetry({}), [(11.0, 12.0)]) == SeriesUse(1.0, None, None, None)


def test_the_series_replaces_differences_over_blocks() -> None:
    """Without a series, the differences over single blocks are all that is known."""
    blocks = [a_block(11.0, energy_j=7.0), a_block(12.0, energy_j=7.0)]
    sampled, unsampled = gpu_use(blocks, telemetry({"energy_j": STEADY})), gpu_use(blocks)

    assert sampled is not None
    assert sampled.series is not None
    assert sampled.energy_j == pytest.approx(200.0)
    assert unsampled is not None
    assert (unsampled.energy_j, unsampled.series) == (14.0, None)
    assert joules_per_sample(blocks, telemetry({"energy_j": STEADY})) == pytest.approx(2.0)
    assert joules_per_sample(blocks, None) is None


def test_a_silent_gpu_leaves_no_energy() -> None:
    """The energy of the other GPU is not that of the cell, with a series and without one."""
    both = Conditions(begin_s=11.0, wall_s=2.0, cpu_s=1.0, gpus=(GpuConditions(energy_j=200.0), GpuConditions()))
    block = Block(steps=1, samples=50, wall_s=2.0, cpu_s=1.0, conditions=both)
    sampled, unsampled = gpu_use([block], telemetry({"energy_j": STEADY}, {})), gpu_use([block])

    assert sampled is not None
    assert unsampled is not None
    assert (sampled.energy_j, unsampled.energy_j) == (None, None)


def test_a_short_phase_has_no_energy() -> None:
    """The steps of the counters are too coarse for it, also where blocks have read them."""
    short = gpu_use([a_block(11.0, wall_s=0.2, energy_j=20.0)], telemetry({"energy_j": STEADY}))

    assert short is not None
    assert short.energy_j is None


def test_blocks_without_a_beginning_have_no_spans() -> None:
    bare = Block(steps=1, samples=1, wall_s=1.0, cpu_s=1.0, conditions=Conditions(wall_s=1.0, cpu_s=1.0))

    assert spans([a_block(11.0, 2.0), a_block(13.5)]) == ((11.0, 13.0), (13.5, 14.5))
    assert spans([a_block(11.0), bare]) == ()
    assert gpu_use([bare], telemetry({"energy_j": STEADY})) is not None
