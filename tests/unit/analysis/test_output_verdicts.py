"""Verdicts on two operators by their outputs: the bar is kept just below and broken just above it."""

from typing import Any

import pytest
from parity_results import MXNET, TORCH

from orchestrator.analysis.parity.sides import OutputEvidence, ParitySide
from orchestrator.analysis.parity.work import PairParity, WorkParity, pair
from orchestrator.domain import Framework, Mode
from orchestrator.results.parts.outputs import Outputs

BAR = 1e-5
RIGHT: dict[str, Any] = {"elements": 2, "norm": 5.0, "sketch": (3.0, 4.0), "scale": 5.0, "error": 1e-7}


def side(framework: Framework, outputs: Outputs | None, version: int = 1) -> ParitySide:
    return ParitySide(framework.label, framework, (), None, output=OutputEvidence(BAR, outputs, version))


def judged(version: int = 1, **changes: Any) -> PairParity:
    """A torch that is right beside an mxnet whose outputs have these changes."""
    return pair(side(TORCH, Outputs(**RIGHT)), side(MXNET, Outputs(**RIGHT | changes), version), Mode("ops"))


def test_equal_outputs_are_the_same_work() -> None:
    verdict = judged()

    assert verdict.work is WorkParity.SAME
    assert [difference.evidence for difference in verdict.differences] == ["outputs"] * 3


@pytest.mark.parametrize(
    ("changes", "work"),
    [
        ({"error": 0.99 * BAR}, WorkParity.SAME),
        ({"error": 1.01 * BAR}, WorkParity.NOT_COMPARABLE),
        ({"sketch": (3.0, 4.0 + 5 * 0.99 * BAR)}, WorkParity.SAME),
        ({"sketch": (3.0, 4.0 + 5 * 1.01 * BAR)}, WorkParity.NOT_COMPARABLE),
        ({"elements": 3}, WorkParity.NOT_COMPARABLE),
        ({"sketch": (3.0, 4.0, 0.0)}, WorkParity.NOT_COMPARABLE),
    ],
)
def test_a_bar_parts_the_verdicts(changes: dict[str, Any], work: WorkParity) -> None:
    assert judged(**changes).work is work


def test_a_reason_names_the_side_and_the_bar() -> None:
    assert judged(error=0.5).reason == f"output of {MXNET.label} and of NumPy in float64: 0.5 apart, bar 1e-05"


def test_a_side_without_outputs_is_not_checked() -> None:
    verdict = pair(side(TORCH, Outputs(**RIGHT)), side(MXNET, None), Mode("ops"))

    assert (verdict.work, verdict.reason) == (WorkParity.NOT_CHECKED, f"no output of {MXNET.label}")


def test_another_measurement_version_is_not_checked() -> None:
    assert judged(version=2).work is WorkParity.NOT_CHECKED


def test_nothing_is_apart_where_nothing_is_copied() -> None:
    zeros = {"norm": 0.0, "sketch": (0.0, 0.0), "scale": 0.0, "error": 0.0}
    both = [side(framework, Outputs(**RIGHT | zeros)) for framework in (TORCH, MXNET)]

    assert pair(*both, Mode("ops")).work is WorkParity.SAME
