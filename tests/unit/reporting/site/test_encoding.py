"""The columns of a site, written and read back."""

import json
import math

import pytest

from orchestrator.analysis.estimates import estimate
from orchestrator.reporting.site import encoding

HOSTILE = "</script><script>alert(1)</script> \u2028 \ud800 \x1b[31m \"' \\"


def test_a_dictionary_column_comes_back() -> None:
    column = encoding.dictionary(["b", "a", "b", None, "a"])

    assert column == {"of": ["b", "a", None], "at": [0, 1, 0, 2, 1]}
    assert encoding.decoded(column) == ["b", "a", "b", None, "a"]


def test_a_script_comes_back_whatever_it_holds() -> None:
    document = {"log": HOSTILE, "values": [1.5, None, 3]}
    text = encoding.script(HOSTILE, encoding.compact(document))

    assert encoding.parsed(text) == document
    assert text.isascii()


@pytest.mark.parametrize("text", ["", "{}", 'bench.put("a",{"b":1', 'bench.put("a",[1])\n', "alert(1)"])
def test_another_text_is_no_script_of_ours(text: str) -> None:
    with pytest.raises(ValueError, match="is no data of a site"):
        encoding.parsed(text)


@pytest.mark.parametrize("peak", [3e-7, 0.02, 1.0, 9.99999, 123_456.0, 8e9])
def test_scaled_numbers_keep_four_digits(peak: float) -> None:
    values = [peak, peak / 3, None, 0.0, peak / 1000]
    column = encoding.scaled(values)

    assert column is not None
    back = [None if value is None else value / 10.0 ** column["d"] for value in column["v"]]
    assert back[2] is None
    assert back[:2] == pytest.approx(values[:2], rel=1e-4)
    assert max(abs(value) for value in column["v"] if value is not None) <= 10**encoding.PARTS
    json.dumps(column, allow_nan=False)


def test_a_column_of_zeros_is_left_out() -> None:
    assert encoding.scaled([0.0, None, 0.0]) is None
    assert encoding.scaled([]) is None


def test_half_width_leads_back_to_the_interval() -> None:
    figure = estimate([100.0, 104.0, 98.0])
    width = encoding.half_width(figure)

    assert width is not None
    assert figure.value * math.exp(width / encoding.HALF_WIDTH) == pytest.approx(figure.high, rel=1e-4)
    assert figure.value * math.exp(-width / encoding.HALF_WIDTH) == pytest.approx(figure.low, rel=1e-4)
    assert encoding.half_width(estimate([100.0])) is None


@pytest.mark.parametrize(("value", "rounded"), [(1234567.0, 1234600), (0.000123456, 0.00012346), (math.inf, None)])
def test_figures_keep_five_digits(value: float, rounded: float | None) -> None:
    assert encoding.significant(value) == rounded
