"""Numbers that a computation gives are told from those that training may have yielded."""

import math

import numpy as np
import pytest

from orchestrator.networks.usual_numbers import DIGITS, is_usual

GIVEN = (
    0, 1, -1, 0.5, 2, 8, 1000, 1e-5, 1e-12, 0.1, 0.485, 0.044715, math.sqrt(2), math.sqrt(2 / math.pi), 64**-0.5,
    80**-0.5, 128**-0.25, 1 / 6, 1 / 255, -1e4, -math.inf, float(np.finfo("f4").min), float(np.finfo("f2").min),
)  # fmt: skip


@pytest.mark.parametrize("number", GIVEN)
def test_numbers_of_formulas_are_usual(number: float) -> None:
    assert is_usual(float(np.float32(number)), DIGITS["FLOAT"])


@pytest.mark.parametrize(
    "number", [0, 1, 0.5, 2, 8, 1e-5, 0.1, 64**-0.5, 128**-0.5, math.sqrt(2), -1e4, 65504, 0.044715]
)
@pytest.mark.parametrize("kind", ["FLOAT16", "BFLOAT16"])
def test_they_are_usual_in_16_bits_too(number: float, kind: str) -> None:
    stored = np.float16(number) if kind == "FLOAT16" else bfloat16(number)

    assert is_usual(float(stored), DIGITS[kind])


def bfloat16(number: float) -> float:
    whole, exponent = math.frexp(number)
    return math.ldexp(round(whole * 256) / 256, exponent)


@pytest.mark.parametrize(("kind", "most"), [("FLOAT", 0.01), ("FLOAT16", 0.04), ("BFLOAT16", 0.25)])
def test_few_numbers_by_chance_are_usual(kind: str, most: float) -> None:
    drawn = np.exp(np.random.default_rng(0).uniform(math.log(0.001), math.log(100), 3000))
    rounded = {"FLOAT": np.float32, "FLOAT16": np.float16, "BFLOAT16": bfloat16}[kind]

    assert np.mean([is_usual(float(rounded(each)), DIGITS[kind]) for each in drawn.tolist()]) < most
