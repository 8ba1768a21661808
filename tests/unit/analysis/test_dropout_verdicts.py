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


def test_dropouts_that_drop_are_the_same_work() -> None:
    """A dropout that drops on both sides is the same work, whatever it draws."""
    other = DROPS.model_copy(update={"losses": (2.3, 2.3, 2.3 * (1 + 1.1e-5))})

    assert judged(dropping(TORCH, DROPS), dropping(MXNET, other)).work is WorkParity.SAME


def test_dropout_that_drops_nothing_is_other_training() -> None:
    """A dropout that drops nothing is other work in training and the same in inference."""
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


def test_two_idle_dropouts_both_break_the_definition() -> None:
    """Two sides that drop nothing are both unlike the definition."""
    assert judged(dropping(TORCH, STAYS), dropping(MXNET, STAYS)).work is WorkParity.NOT_COMPARABLE


def test_dropout_of_rate_0_leaves_the_loss_alone() -> None:
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


def test_older_answer_leaves_training_unchecked() -> None:
    """An older answer holds no losses with dropout and leaves training unchecked."""
    sides = dropping(TORCH, DROPS), dropping(MXNET, None)

    found = judged(*sides)

    assert (found.work, found.reason) == (WorkParity.NOT_CHECKED, "no losses with dropout_1 of mxnet 1.9.1")
    assert judged(*sides, Mode.INFER).work is WorkParity.SAME


def test_broken_bar_is_reported_before_idle_dropout() -> None:
    """A broken bar is reported before a dropout that drops nothing."""
    found = judged(dropping(TORCH, DROPS), dropping(MXNET, STAYS, first_loss=2.4))

    assert found.reason.startswith("first loss ")


@pytest.mark.parametrize(("explains", "known"), [("dropout", "mxnet 1.9.1: it has none"), ("losses", "")])
def test_known_fault_may_explain_an_idle_dropout(explains: Any, known: str) -> None:
    """A known fault may explain a dropout that drops nothing."""
    fault = KnownFault(name="x", frameworks=("mxnet",), layers=("dropout",), explains=(explains,), fault="it has none")

    found = pair(dropping(TORCH, DROPS), dropping(MXNET, STAYS), Mode.TRAIN, [fault])

    assert found.known_fault == known


def test_model_without_dropout_needs_no_dropout_losses() -> None:
    assert judged(side(TORCH), side(MXNET)).work is WorkParity.SAME
