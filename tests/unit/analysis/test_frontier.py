"""The frontier of latency and throughput, over steps whose times are known."""

import random
from collections.abc import Callable, Iterable

import pytest

from orchestrator.analysis.estimates import estimate
from orchestrator.analysis.frontier.points import (
    FrontierPoint,
    best_under,
    first_sizes,
    known_by,
    next_sizes,
    on_frontier,
    step_between,
)
from orchestrator.modes.parts.frontier import SIZES

Step = Callable[[int], float]
SCATTERS = (0.004, 0.03)
"""From repeat to repeat, on a quiet host and on a restless one."""


def point(size: int, step_s: float, seed: int = 0, scatter: float = SCATTERS[0]) -> FrontierPoint:
    draw = random.Random(size * 1000 + seed)
    repeats = [step_s * (1 + draw.gauss(0, scatter)) for _ in range(5)]
    return FrontierPoint(size, estimate(repeats), estimate([size / each for each in repeats]))


def found(
    step: Step, seed: int = 0, others: Iterable[FrontierPoint] = (), scatter: float = SCATTERS[0]
) -> dict[int, FrontierPoint | None]:
    """Search until nothing is left to measure."""
    measured: dict[int, FrontierPoint | None] = {}
    wanted = first_sizes(SIZES)
    while wanted:
        measured |= {size: point(size, step(size), seed, scatter) for size in wanted}
        wanted = next_sizes(SIZES, measured, others)
    return measured


def highest_rate(points: Iterable[tuple[float, float]], limit_s: float) -> float:
    """Return the highest rate of points within a limit of their latency."""
    return max((rate for latency_s, rate in points if latency_s <= limit_s), default=0.0)


def reached(measured: dict[int, FrontierPoint | None]) -> list[tuple[float, float]]:
    """Return latency and rate of every size, as measured or on the line between its neighbours."""
    known = {size: each for size, each in measured.items() if each}
    points = []
    for size in SIZES:
        if size in known:
            points.append((known[size].latency_s.value, known[size].rate.value))
        elif size < max(known):
            lower, upper = max(each for each in known if each < size), min(each for each in known if each > size)
            points.append(step_between(known[lower], known[upper], size))
    return points


def cores(size: int) -> float:
    """A CPU, which one sample fills nearly."""
    return 0.002 + 0.040 * size


def accelerator(size: int) -> float:
    """A GPU, whose step takes the same until it is full."""
    return max(0.004, 0.001 + 0.00012 * size)


def cached(size: int) -> float:
    """A CPU whose cache is full at 32 samples."""
    return 0.001 + 0.001 * size + 0.0008 * max(0, size - 32)


def slow(size: int) -> float:
    """A full device, which yields the same at any size."""
    return 0.05 * size


@pytest.mark.parametrize(("step", "sizes"), [(cores, 3), (slow, 3), (cached, 4), (accelerator, 6)])
@pytest.mark.parametrize("seed", range(10))
def test_search_needs_few_sizes(step: Step, sizes: int, seed: int) -> None:
    """The page of the frontier says how many, and that scatter takes one more at most."""
    assert len(found(step, seed)) == sizes
    assert len(found(step, seed, scatter=SCATTERS[1])) <= sizes + 1


@pytest.mark.parametrize("scatter", SCATTERS)
def test_devices_need_at_most_two_fifths(scatter: float) -> None:
    """Over the four kinds of device the search measures at most 0.4 of the grids."""
    devices = (cores, slow, cached, accelerator)
    cells = sum(len(found(step, seed, scatter=scatter)) for step in devices for seed in range(10))

    assert cells <= 0.4 * 4 * 10 * len(SIZES)


@pytest.mark.parametrize("step", [cores, slow, cached, accelerator])
@pytest.mark.parametrize("scatter", SCATTERS)
@pytest.mark.parametrize("seed", range(10))
def test_found_frontier_is_that_of_the_grid(step: Step, scatter: float, seed: int) -> None:
    """Under any limit of latency, the rate that is reached is that of the whole grid, within the scatter."""
    points = reached(found(step, seed, scatter=scatter))

    for size in SIZES:
        limit_s = step(size) * 1.02
        whole = highest_rate(((step(each), each / step(each)) for each in SIZES), limit_s)
        assert highest_rate(points, limit_s * (1.01 + 1.5 * scatter)) >= whole * 0.96


def test_what_failed_ends_the_climb() -> None:
    """A batch that does not fit leaves what is below it to be found, and nothing above it."""
    measured: dict[int, FrontierPoint | None] = {}
    wanted = first_sizes(SIZES)
    while wanted:
        measured |= {size: point(size, accelerator(size)) if size <= 48 else None for size in wanted}
        wanted = next_sizes(SIZES, measured)

    assert measured[48] is not None
    assert measured[64] is None
    assert {size for size in measured if size > 64} <= {96, 128, 192, 256}
    assert known_by(SIZES, measured).get(256, "") in {"", "failed: a batch of 64 has no figure"}


def test_nothing_follows_sizes_that_all_failed() -> None:
    assert next_sizes(SIZES, dict.fromkeys(first_sizes(SIZES))) == ()


def test_series_that_another_dominates_is_not_refined() -> None:
    fast = [point(size, accelerator(size)) for size in SIZES]

    assert len(found(lambda size: 3 * accelerator(size) + 0.001, others=fast)) < len(found(accelerator))


def test_every_size_that_is_left_out_has_its_reason() -> None:
    measured = found(cores)
    reasons = known_by(SIZES, measured)

    assert set(reasons) == set(SIZES) - set(measured)
    assert {reason.partition(":")[0] for reason in reasons.values()} <= {"saturated", "dominated", "straight"}
    assert "the run ended before it was measured" in known_by(SIZES, {1: measured[1], 6: measured[6]}).values()


def test_points_that_others_beat_are_off_the_frontier() -> None:
    points = [
        FrontierPoint(size, estimate([latency_s]), estimate([rate]))
        for size, latency_s, rate in ((1, 1.0, 1.0), (2, 1.5, 1.3), (4, 3.0, 1.3), (8, 5.0, 1.6))
    ]

    assert on_frontier(points) == (True, True, False, True)
    assert best_under(points, 4.0) == points[1]
    assert best_under(points, 0.5) is None
