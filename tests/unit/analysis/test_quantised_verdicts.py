"""Verdicts on pairs with a quantised cell: never the same work as float32, and held to bars of their own."""

from typing import Any

import pytest
from parity_results import MXNET, TORCH, WEIGHTS, result, scaled, side, tensor

from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.analysis.parity.work import PairParity, WorkParity, pair
from orchestrator.domain import Framework, Mode
from orchestrator.regression.judge.comparable import work_difference
from orchestrator.results.parity.contract import ParityResult, Quantised

LOGITS = tensor(1.0, 0.0)
SAMPLES = 100


def plain(framework: Framework = MXNET, **changes: Any) -> ParitySide:
    return side(framework, **{"inferred": LOGITS} | changes)


def quantised(
    framework: Framework = TORCH, kind: str = "static", moved: float = 0.0, other_classes: int = 0, **changes: Any
) -> ParitySide:
    """A quantised side, whose logits are moved and of whose samples so many get another class."""
    answer = Quantised(
        kind=kind,  # type: ignore[arg-type]
        dataset="digits",
        chosen=(*[1] * other_classes, *[0] * (SAMPLES - other_classes)),
        unquantised=(0,) * SAMPLES,
        right=(90, 92),
        logits=LOGITS,
    )
    fields = {"inferred": tensor(1.0, moved), "quantised": answer, "lacking": ("training",)}
    return side(framework, options=(("quantisation", kind),), **fields | changes)


def judged(one: ParitySide, other: ParitySide) -> PairParity:
    found = pair(one, other, Mode.INFER)
    assert found == pair(other, one, Mode.INFER) or found.work is pair(other, one, Mode.INFER).work
    return found


def test_a_quantised_cell_is_never_the_same_work_as_one_in_float32() -> None:
    found = judged(plain(), quantised())

    assert (found.work, found.reason) == (WorkParity.QUANTISED, "")
    assert found.is_other_work
    assert found.note == (
        "quantised, and so other work (mxnet 1.9.1: none, torch 2.13.0: static): logits 0 % apart (bar 10 %), "
        "classes equal for 100 % of 100 samples of digits (bar 80 %); "
        "right in torch 2.13.0: 90 %, 92 % without quantisation"
    )


def test_a_regression_test_calls_it_other_work() -> None:
    assert work_difference(judged(plain(), quantised())).startswith("parity: quantised, and so other work")
    assert work_difference(judged(quantised(MXNET), quantised())) == ""


def test_two_quantised_cells_of_one_kind_are_alike() -> None:
    found = judged(quantised(MXNET), quantised())

    assert found.work is WorkParity.QUANTISED_ALIKE
    assert not found.is_other_work


def test_two_kinds_of_quantisation_are_other_work() -> None:
    assert judged(quantised(MXNET, kind="dynamic"), quantised()).work is WorkParity.QUANTISED


@pytest.mark.parametrize("other", [plain(), quantised(MXNET)], ids=["float32", "quantised"])
def test_logits_are_held_to_their_bar(other: ParitySide) -> None:
    assert judged(other, quantised(moved=0.09)).work is not WorkParity.NOT_COMPARABLE
    found = judged(other, quantised(moved=0.11))

    assert (found.work, found.reason) == (WorkParity.NOT_COMPARABLE, "logits: 0.11 apart, bar 0.1")


@pytest.mark.parametrize("other", [plain(), quantised(MXNET)], ids=["float32", "quantised"])
def test_classes_are_held_to_their_bar(other: ParitySide) -> None:
    assert judged(other, quantised(other_classes=20)).work is not WorkParity.NOT_COMPARABLE
    found = judged(other, quantised(other_classes=21))

    reason = "classes equal for 79 % of 100 samples of digits: 0.21 apart, bar 0.2"
    assert (found.work, found.reason) == (WorkParity.NOT_COMPARABLE, reason)


def test_the_model_without_quantisation_is_held_to_the_bar_of_inference() -> None:
    """Another model whose quantised form is near is not comparable."""
    found = judged(plain(inferred=tensor(1.0, 2e-4)), quantised())

    assert (found.work, found.reason) == (WorkParity.NOT_COMPARABLE, "unquantised logits: 0.0002 apart, bar 0.0001")


def test_other_weights_are_not_comparable() -> None:
    found = judged(plain(), quantised(weights=scaled(WEIGHTS, "dense_1.weight", 1 + 1.1e-6)))

    assert found.reason == "initial values of dense_1.weight: 1.1e-06 apart, bar 1e-06"


def test_an_answer_about_another_session_is_not_checked() -> None:
    found = judged(plain(), quantised(quantised=None))

    reason = "no answer of torch 2.13.0 about its quantisation"
    assert (found.work, found.reason) == (WorkParity.NOT_CHECKED, reason)


def test_classes_of_other_samples_are_not_compared() -> None:
    fewer = Quantised(kind="static", dataset="digits", chosen=(0,), unquantised=(0,), right=(1, 1), logits=LOGITS)
    found = judged(quantised(MXNET, quantised=fewer), quantised())

    assert (found.work, found.reason) == (WorkParity.NOT_CHECKED, "classes were chosen for other samples")


def test_an_answer_without_quantisation_is_written_as_before() -> None:
    written = result().model_dump(mode="json", by_alias=True)

    assert "quantised" not in written
    assert ParityResult.model_validate(written) == result()
