"""Proof that dropouts drop: only a mask changes the loss of the same batch if nothing is learned."""

from typing import Any

import pytest
from parity_results import MXNET, TORCH, result, side

from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.analysis.parity.work import PairParity, WorkParity, pair
from orchestrator.catalog import KnownFault
from orchestrator.domain import Framework, Mode
from orchestrator.results.parity.contract import Dropout, NativeLayer

COUNTED = (*result().counted, NativeLayer(name="dropout_1", shape=(10,), parameters=0))
DROPS = Dropout(rate=0.2, losses=(2.31, 2.29, 2.3))
STAYS = Dropout(rate=0.2, losses=(2.3, 2.3, 2.3 * (1 + 0.9e-5)))


def dropping(framework: Framework, seen: Dropout | None, **changes: Any) -> ParitySide:
    """A side whose model has one dropout; an older answer holds no losses with it."""
    return side(framework, dropouts={"dropout_1": seen} if seen else {}, **{"counted": COUNTED} | changes)


def judged(one: ParitySide, other: ParitySide, mode: Mode = Mode.TRAIN) -> PairParity:
    """The verdict, which must be the same from either side."""
    found = pair(one, other, mode)
    assert pair(other, one, mode).work is found.work
    return found


def test_a_dropout_that_drops_on_both_sides_is_the_same_work_whatever_it_draws() -> None:
    other = DROPS.model_copy(update={"losses": (2.3, 2.3, 2.3 * (1 + 1.1e-5))})

    assert judged(dropping(TORCH, DROPS), dropping(MXNET, other)).work is WorkParity.SAME


def test_a_dropout_that_drops_nothing_is_other_work_in_training_and_the_same_in_inference() -> None:
    sides = dropping(TORCH, DROPS), dropping(MXNET, STAYS)
    found = judged(*sides)

    assert (found.work, found.reason) == (
        WorkParity.NOT_COMPARABLE, "mxnet 1.9.1 drops nothing in dropout_1, whose rate is 0.2: the loss stays 2.3",
    )  # fmt: skip
    assert [each.evidence for each in found.differences] == [
        "weights",
        "first_loss",
        "gradients",
        "losses",
        *["optimizer"] * 3,
    ]
    assert judged(*sides, Mode.INFER).work is WorkParity.SAME


def test_two_sides_that_drop_nothing_are_both_unlike_the_definition() -> None:
    assert judged(dropping(TORCH, STAYS), dropping(MXNET, STAYS)).work is WorkParity.NOT_COMPARABLE


def test_a_dropout_of_rate_0_must_leave_the_loss_alone() -> None:
    idle, busy = (each.model_copy(update={"rate": 0.0}) for each in (STAYS, DROPS))

    assert judged(dropping(TORCH, idle), dropping(MXNET, idle)).work is WorkParity.SAME
    assert judged(dropping(TORCH, idle), dropping(MXNET, busy)).reason == (
        "mxnet 1.9.1 drops in dropout_1, whose rate is 0"
    )


def test_definitions_with_different_rates_are_other_work() -> None:
    found = judged(dropping(TORCH, DROPS), dropping(MXNET, DROPS.model_copy(update={"rate": 0.3})))

    assert (found.work, found.reason) == (
        WorkParity.NOT_COMPARABLE, "dropout_1 has a rate of 0.2 in torch 2.13.0, 0.3 in mxnet 1.9.1",
    )  # fmt: skip


def test_an_older_answer_holds_no_losses_with_dropout_and_leaves_training_unchecked() -> None:
    sides = dropping(TORCH, DROPS), dropping(MXNET, None)

    found = judged(*sides)

    assert (found.work, found.reason) == (WorkParity.NOT_CHECKED, "no losses with dropout_1 of mxnet 1.9.1")
    assert judged(*sides, Mode.INFER).work is WorkParity.SAME


def test_what_breaks_a_bar_is_told_before_a_dropout_that_drops_nothing() -> None:
    found = judged(dropping(TORCH, DROPS), dropping(MXNET, STAYS, first_loss=2.4))

    assert found.reason.startswith("first loss ")


@pytest.mark.parametrize(("explains", "known"), [("dropout", "mxnet 1.9.1: it has none"), ("losses", "")])
def test_a_known_fault_may_explain_a_dropout_that_drops_nothing(explains: Any, known: str) -> None:
    fault = KnownFault(name="x", frameworks=("mxnet",), layers=("dropout",), explains=(explains,), fault="it has none")

    found = pair(dropping(TORCH, DROPS), dropping(MXNET, STAYS), Mode.TRAIN, [fault])

    assert found.known_fault == known


def test_a_model_without_dropout_needs_no_losses_with_any() -> None:
    assert judged(side(TORCH), side(MXNET)).work is WorkParity.SAME
