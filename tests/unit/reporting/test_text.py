import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.analysis import Estimate
from orchestrator.reporting import text
from tests.unit.reporting import synthetic as s


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2_478_000_000, "2.48 G"),
        (999_999_000, "1.00 G"),
        (1_351_000, "1.35 M"),
        (999_999, "999,999"),
        (999_999.9, "1.00 M"),
        (13_402, "13,402"),
        (100, "100"),
        (99.9, "99.9"),
        (9.99, "9.99"),
        (2.414, "2.41"),
        (0.0123, "0.0123"),
    ],
)
def test_a_rate_keeps_about_four_digits(value: float, expected: str) -> None:
    assert text.rate(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0 ns"),
        (8.4e-8, "84 ns"),
        (9.996e-7, "1.00 µs"),
        (8.5e-4, "850 µs"),
        (0.99949e-3, "999 µs"),
        (0.0149, "14.9 ms"),
        (0.9996, "1.00 s"),
        (3.1, "3.10 s"),
        (99.97, "1 min 40 s"),
        (725, "12 min 5 s"),
        (3599.7, "1 h 0 min"),
        (7380, "2 h 3 min"),
    ],
)
def test_a_duration_has_the_unit_that_suits_it(value: float, expected: str) -> None:
    assert text.seconds(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5531, "0.553"), (0.99951, "1.00"), (1.834, "1.83"), (12.41, "12.4"), (104.4, "104"), (0.00012, "0.00012")],
)
def test_a_factor_keeps_three_digits(value: float, expected: str) -> None:
    assert text.factor(value) == expected


@pytest.mark.parametrize(("value", "expected"), [(1_000_000, "1.0 MB"), (412e6, "412 MB"), (3.213e9, "3.21 GB")])
def test_memory_is_in_decimal_units(value: float, expected: str) -> None:
    assert text.memory(int(value)) == expected


@pytest.mark.parametrize(
    ("items", "expected"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_a_listing_reads_as_a_sentence(items: list[str], expected: str) -> None:
    assert text.listing(items) == expected


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([0], "repeat 0"), ([0, 1], "repeats 0, 1"), ([0, 1, 2], "repeats 0–2"), ([0, 2], "repeats 0, 2")],
)
def test_repeats_are_named_in_short(numbers: list[int], expected: str) -> None:
    assert text.repeats(numbers) == expected


@given(st.text())
def test_cleaned_text_holds_nothing_that_steers_a_terminal(value: str) -> None:
    cleaned = text.clean(value)

    assert not any(ord(c) < 32 and c not in "\n\t" for c in cleaned)
    assert "\x1b" not in cleaned
    assert "\x9b" not in cleaned
    assert text.clean(cleaned) == cleaned
    cleaned.encode()


def test_labels_say_only_what_tells_cells_apart() -> None:
    on, off = (s.cell(s.MXNET, options=(("hybridize", flag), ("layout", "nchw"))) for flag in (True, False))
    older = s.cell(s.Framework("torch", "2.13.0", python="3.10"))

    assert text.labels([on, off, s.cell(s.TORCH), older]) == (
        "mxnet 1.9.1 · hybridize=true",
        "mxnet 1.9.1 · hybridize=false",
        "torch 2.13.0 · Python 3.11",
        "torch 2.13.0 · Python 3.10",
    )
    assert text.labels([on]) == ("mxnet 1.9.1",)


def test_facts_are_flattened_to_dotted_names() -> None:
    facts = {
        "versions": {"numpy": "1.0"},
        "gpus": [{"x": 1}, "b"],
        "cpus": [0, 1],
        "none": None,
        "empty": [],
        "on": True,
    }

    assert dict(text.flatten(facts)) == {
        "versions.numpy": "1.0",
        "gpus.0.x": "1",
        "gpus.1": "b",
        "cpus": "0, 1",
        "on": "True",
    }


def test_no_printable_character_is_taken_out() -> None:
    """Printable texts are passed through unseen, and others with a newline are not: both must come to the same."""
    printable = "".join(chr(code) for code in range(sys.maxunicode + 1) if chr(code).isprintable())

    assert text.clean(printable) == printable
    assert text.clean(f"\n{printable}") == f"\n{printable}"


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
def test_both_ends_of_a_range_show_their_unit_or_none(low: float, high: float, expected: str) -> None:
    value = Estimate(value=low, low=low, high=high, n=2, confidence=0.95, next_low=low, next_high=high)

    assert (text.rate_interval(value), text.next_interval(value)) == (expected, expected)


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
    assert text.seconds_bounds(bounds) == expected
