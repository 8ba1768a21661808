"""The causes that hold a GPU's clocks down, on both sides and in words for people."""

from dataclasses import replace
from types import SimpleNamespace

import pynvml
import pytest

from benchmarks.sampling import gpus
from orchestrator.devices import throttling
from orchestrator.devices.fitness import fitness
from tests.unit.devices.test_fitness import GOOD, GPU


def test_both_sides_name_the_same_causes() -> None:
    """Code in containers cannot import the host's table, and has one of its own."""
    assert gpus.CAUSES == throttling.CAUSES


@pytest.mark.parametrize(("bit", "cause"), throttling.CAUSES)
def test_every_cause_has_a_bit_and_words(bit: str, cause: str) -> None:
    seen = replace(GOOD, gpus=(replace(GPU, slowed_by=throttling.slowed_by(pynvml, getattr(pynvml, bit))),))
    (clocks,) = [each.found for each in fitness(seen) if each.check == "GPU 0 clocks"]

    assert seen.gpus[0].slowed_by == (cause,)
    assert "held back by" in clocks


def test_unknown_bits_and_no_answer_name_nothing() -> None:
    """An old library lacks some bits."""
    assert throttling.slowed_by(SimpleNamespace(), 0xFFFF) == ()
    assert throttling.slowed_by(pynvml, None) == ()
