import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import wording


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
    assert wording.rate(value) == expected


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
    assert wording.seconds(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5531, "0.553"), (0.99951, "1.00"), (1.834, "1.83"), (12.41, "12.4"), (104.4, "104"), (0.00012, "0.00012")],
)
def test_a_factor_keeps_three_digits(value: float, expected: str) -> None:
    assert wording.factor(value) == expected


@pytest.mark.parametrize(("value", "expected"), [(1_000_000, "1.0 MB"), (412e6, "412 MB"), (3.213e9, "3.21 GB")])
def test_memory_is_in_decimal_units(value: float, expected: str) -> None:
    assert wording.memory(int(value)) == expected


@pytest.mark.parametrize(
    ("items", "expected"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_a_listing_reads_as_a_sentence(items: list[str], expected: str) -> None:
    assert wording.listing(items) == expected


@given(st.text())
def test_cleaned_text_holds_nothing_that_steers_a_terminal(value: str) -> None:
    cleaned = wording.clean(value)

    assert not any(ord(c) < 32 and c not in "\n\t" for c in cleaned)
    assert "\x1b" not in cleaned
    assert "\x9b" not in cleaned
    assert wording.clean(cleaned) == cleaned
    cleaned.encode()


def test_no_printable_character_is_taken_out() -> None:
    """Printable texts are passed through unseen, and others with a newline are not: both must come to the same."""
    printable = "".join(chr(code) for code in range(sys.maxunicode + 1) if chr(code).isprintable())

    assert wording.clean(printable) == printable
    assert wording.clean(f"\n{printable}") == f"\n{printable}"
