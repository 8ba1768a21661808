import pytest

from orchestrator.analysis.estimates import Estimate
from orchestrator.reporting import inline


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([0], "repeat 0"), ([0, 1], "repeats 0, 1"), ([0, 1, 2], "repeats 0–2"), ([0, 2], "repeats 0, 2")],
)
def test_repeats_are_named_in_short(numbers: list[int], expected: str) -> None:
    assert inline.repeats(numbers) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (3.27, 1_480_000, "3.27–1,480,000"),
        (999_000, 1_020_000, "999,000–1,020,000"),
        (12_990, 13_830, "12,990–13,830"),
        (1_270_000, 1_480_000, "1.27 M–1.48 M"),
        (1_270_000, 1_480_000_000, "1.27 M–1.48 G"),
    ],
)
def test_both_range_ends_show_units_or_neither(low: float, high: float, expected: str) -> None:
    value = Estimate(value=low, low=low, high=high, n=2, confidence=0.95, next_low=low, next_high=high)

    assert (inline.rate_interval(value), inline.next_interval(value)) == (expected, expected)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        (None, "–"),
        ((0.0171, 0.025), "17.1–25.0 ms"),
        ((0.00098, 0.00112), "980 µs–1.12 ms"),
        ((58.0, 130.0), "58.0 s–2 min 10 s"),
        ((125.0, 185.0), "2 min 5 s–3 min 5 s"),
    ],
)
def test_bounds_name_a_shared_unit_once(bounds: tuple[float, float] | None, expected: str) -> None:
    assert inline.seconds_bounds(bounds) == expected
