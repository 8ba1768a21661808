"""From the conditions of blocks to what disturbed them."""

from collections.abc import Sequence
from typing import Any

import pytest

from orchestrator.devices.disturbance import Mark, judge
from orchestrator.results.contract import Block, Conditions, Loss, Memory, ModelFacts, Phases, Result

QUIET = {
    "wall_s": 0.25, "cpu_s": 0.45, "busy_s": 0.48, "steal_s": 0.0, "cpu_pressure_s": 0.2, "memory_pressure_s": 0.0,
    "io_pressure_s": 0.2, "throttled": 0, "thermal_events": 0, "swapped_bytes": 0, "frequency_hz": 3_000_000_000,
    "load": 9.0, "rss_bytes": 1,
}  # fmt: skip
HOT = "heat slowed a GPU for {} of the time"


def a_result(conditions: Sequence[dict[str, Any] | None], latency: dict[str, Any] | None = None) -> Result:
    blocks = [
        Block(
            steps=1, samples=10, wall_s=0.25, cpu_s=0.45, conditions=None if one is None else Conditions(**QUIET | one)
        )
        for one in conditions
    ]  # fmt: skip
    return Result(
        measurement_version=1, cell="c", repeat=0, started_at="2026-01-02T03:04:05Z",
        phases=Phases(import_s=1, build_s=1, first_step_s=1, warmup_s=1, steady_s=1, latency_s=1),
        first_step=blocks[0], warmup=(), blocks=tuple(blocks), latency_s=(),
        latency_conditions=None if latency is None else Conditions(**QUIET | latency), loss=Loss(first=1, last=1),
        model=ModelFacts(parameters=1, multiply_adds=1), memory=Memory(peak_rss_bytes=1), facts={},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("below", "above", "reason"),
    [
        ({"busy_s": 0.51}, {"busy_s": 0.68}, "others used 0.92 of our CPUs"),
        ({"steal_s": 0.025}, {"steal_s": 0.05}, "the hypervisor took 0.2 of our CPUs"),
        ({"memory_pressure_s": 0.0125}, {"memory_pressure_s": 0.1}, "40% of the time short of memory"),
        ({"swapped_bytes": 1_000_000}, {"swapped_bytes": 4_000_000}, "4e+06 bytes went to swap and back"),
        ({"throttled": 0}, {"throttled": 2}, "its CPU quota was used up in 2 periods"),
        ({"thermal_events": 0}, {"thermal_events": 1}, "its cores throttled themselves for heat 1 times"),
        ({"frequency_hz": 2_750_000_000}, {"frequency_hz": 2_400_000_000}, "its clock was 20% below its usual"),
        ({"gpus": [{"heat_limited_s": 0.0125}]}, {"gpus": [{}, {"heat_limited_s": 0.05}]}, HOT.format("20%")),
        ({"gpus": [{"slowed_by": ["power_limit"]}]}, {"gpus": [{"slowed_by": ["heat"]}]}, HOT.format("100%")),
    ],
)
def test_a_block_is_disturbed_only_above_a_threshold(below: dict[str, Any], above: dict[str, Any], reason: str) -> None:
    """A block is disturbed above each threshold, and not at it."""
    calm, hit = judge(a_result([below, *[{}] * 9])), judge(a_result([{}, above, *[{}] * 8]))

    assert calm is not None
    assert hit is not None
    assert (calm.marks, str(calm)) == ((), "")
    assert [mark.block for mark in hit.marks] == [1]
    assert str(hit) == f"1 of 10 blocks (1): {reason}"


def test_a_block_may_have_several_reasons() -> None:
    """A block may have several reasons, and the worst value of each is reported."""
    found = judge(a_result([{"busy_s": 0.6}, {"busy_s": 0.7, "throttled": 1}, {}, {"busy_s": 0.6}, {"throttled": 4}]))

    assert found is not None
    assert found.marks[1] == Mark(1, (("other_cpus", pytest.approx(1.0)), ("throttled", 1)))
    assert str(found) == ("4 of 5 blocks (0–1, 3–4): others used 1 of our CPUs; its CPU quota was used up in 4 periods")


@pytest.mark.parametrize(("number", "disturbed"), [(0, False), (2, False), (3, True), (10, True)])
def test_a_fifth_of_blocks_may_be_disturbed(number: int, disturbed: bool) -> None:
    """A repeat is disturbed if more than a fifth of its blocks are."""
    found = judge(a_result([*[{"steal_s": 0.2}] * number, *[{}] * (10 - number)]))

    assert found is not None
    assert found.disturbed is disturbed


def test_load_and_pressure_alone_are_no_disturbance() -> None:
    """Load, and the pressure on CPUs and disks, are no disturbance by themselves."""
    found = judge(
        a_result([{"load": 90.0, "cpu_pressure_s": 0.25, "io_pressure_s": 0.25, "group_cpu_pressure_s": 0.25}])
    )

    assert found is not None
    assert found.marks == ()


def test_what_could_not_be_read_is_no_disturbance() -> None:
    (nothing,) = [dict.fromkeys(QUIET) | {"wall_s": 0.25, "cpu_s": 0.5}]
    found = judge(a_result([nothing]))

    assert found is not None
    assert (found.blocks, found.marks) == (1, ())


def test_silent_or_short_blocks_are_not_judged() -> None:
    """Blocks that report nothing, or are too short for the kernel's ticks, are not judged."""
    assert judge(a_result([None, {"wall_s": 0.09, "busy_s": 5.0}])) is None
    found = judge(a_result([None, {"steal_s": 0.2}]))
    assert found is not None
    assert (found.blocks, found.disturbed, found.marks[0].block) == (1, True, 1)


def test_a_disturbed_latency_pass_disturbs_the_repeat() -> None:
    """A disturbed latency pass disturbs the repeat, however quiet its blocks were."""
    calm, hit = judge(a_result([{}] * 9, {"steal_s": 0.025})), judge(a_result([{}] * 9, {"steal_s": 0.05}))

    assert calm is not None
    assert hit is not None
    assert (calm.disturbed, str(calm)) == (False, "")
    assert (hit.disturbed, hit.marks, str(hit)) == (True, (), "latency pass: the hypervisor took 0.2 of our CPUs")


def test_blocks_and_latency_pass_are_reported_together() -> None:
    """Blocks and latency pass are reported side by side."""
    found = judge(a_result([{"steal_s": 0.1}, {}], {"busy_s": 0.68, "throttled": 2}))

    assert str(found) == (
        "1 of 2 blocks (0): the hypervisor took 0.4 of our CPUs; "
        "latency pass: others used 0.92 of our CPUs; its CPU quota was used up in 2 periods"
    )


def test_the_latency_clock_is_compared_with_the_blocks() -> None:
    """The clock of a latency pass is compared with that of the blocks."""
    found = judge(a_result([{}] * 3, {"frequency_hz": 2_400_000_000}))

    assert str(found) == "latency pass: its clock was 20% below its usual"


def test_a_short_latency_pass_is_not_judged() -> None:
    """A latency pass too short for the kernel's ticks is not judged, and one is judged without blocks."""
    short = judge(a_result([{}], {"wall_s": 0.09, "steal_s": 0.09}))

    assert short is not None
    assert not short.disturbed
    assert judge(a_result([None], {"wall_s": 0.09})) is None
    alone = judge(a_result([None], {"steal_s": 0.1}))
    assert alone is not None
    assert (alone.blocks, alone.disturbed) == (0, True)
