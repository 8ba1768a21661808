"""Pairs that parity cannot judge, pairs with a known fault, and sessions that lack evidence."""

from dataclasses import replace
from typing import Any

import pytest
from parity_results import GRADIENTS, MXNET, TORCH, scaled, side, unchecked

from orchestrator.analysis.parity.work import PairParity, WorkParity, pair
from orchestrator.catalog import KnownFault, load_faults
from orchestrator.domain import Mode
from orchestrator.matrix.model import parse_pin
from tests.unit.analysis.judged_pairs import judged


def test_side_without_result_leaves_the_pair_unchecked() -> None:
    """A side without a result leaves the pair unchecked, with its reason."""
    failed = unchecked(MXNET, "its parity container failed: so it is")
    found = pair(side(TORCH), failed, Mode.TRAIN)

    assert found == PairParity(WorkParity.NOT_CHECKED, "mxnet 1.9.1: its parity container failed: so it is")
    assert pair(failed, side(TORCH), Mode.TRAIN) == found


def test_reason_shared_by_sides_is_said_once() -> None:
    found = pair(unchecked(TORCH, "switched off"), unchecked(MXNET, "switched off"), Mode.TRAIN)

    assert found == PairParity(WorkParity.NOT_CHECKED, "switched off")


def test_different_measurement_versions_are_not_compared() -> None:
    found = judged(measurement_version=2, first_loss=9.0)

    assert (found.work, found.reason) == (
        WorkParity.NOT_CHECKED,
        "checked in different ways (measurement_version 1, 2)",
    )


def test_answers_of_different_batches_are_not_compared() -> None:
    found = pair(side(MXNET), replace(side(TORCH, first_loss=9.0), batch_size=16), Mode.TRAIN)

    assert (found.work, found.reason) == (
        WorkParity.NOT_CHECKED,
        "checked on different batches (128 and 16 samples)",
    )


def test_missing_loss_leaves_the_pair_unchecked() -> None:
    """A missing loss leaves the pair unchecked unless something differs already."""
    assert judged(losses={"1": 2.28}).reason == "no loss after 10 steps of mxnet 1.9.1"
    assert judged(losses={"1": 2.28}).work is WorkParity.NOT_CHECKED
    assert judged(losses={"1": 2.28}, first_loss=3.0).work is WorkParity.NOT_COMPARABLE


FAULT = KnownFault(
    name="x", frameworks=("mxnet==1.9.1",), layers=("max_pool",), options={"hybridize": True},
    explains=("gradients",), fault="pools lose gradients",
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "options", "known"),
    [
        ({}, (("hybridize", True),), "mxnet 1.9.1: pools lose gradients"),
        ({}, (), "mxnet 1.9.1: pools lose gradients"),
        ({}, (("hybridize", False),), ""),
        ({"frameworks": ("mxnet<1.9",)}, (), ""),
        ({"layers": ("max_pool", "lstm")}, (), ""),
        ({"explains": ("losses",)}, (), ""),
        ({"frameworks": ("torch==2.13.0",)}, (), "torch 2.13.0: pools lose gradients"),
    ],
)
def test_known_fault_is_named_where_all_matches(changes: dict[str, Any], options: Any, known: str) -> None:
    """A known fault is named where framework, version, layers, options and difference match."""
    lost = scaled(GRADIENTS, "conv2d_1.weight", 0.0)
    found = pair(side(TORCH), side(MXNET, options, gradients=lost), Mode.TRAIN, [FAULT.model_copy(update=changes)])

    assert (found.work, found.known_fault) == (WorkParity.NOT_COMPARABLE, known)


def test_layout_fault_is_met_by_layout_in_force() -> None:
    """A known fault of a layout is met by what was in force, not by what was asked."""
    fault = FAULT.model_copy(update={"options": {"layout": "channels_last"}})
    lost = scaled(GRADIENTS, "conv2d_1.weight", 0.0)

    def found(layout: str) -> str:
        asked = (("layout", "auto"),)
        return pair(
            side(TORCH), side(MXNET, asked, gradients=lost, facts={"layout": layout}), Mode.TRAIN, [fault]
        ).known_fault

    assert found("channels_last") == "mxnet 1.9.1: pools lose gradients"
    assert found("channels_first") == ""


@pytest.mark.parametrize(
    ("changes", "known"),
    [
        ({}, "mxnet 1.9.1: pools lose gradients"),
        ({"explains": ("gradients",)}, ""),
        ({"layers": ("lstm",)}, ""),
        ({"frameworks": ("mxnet<1.9",)}, ""),
        ({"layers": ()}, "mxnet 1.9.1: pools lose gradients"),
    ],
)
def test_fault_that_stops_a_check_is_named(changes: Any, known: str) -> None:
    """A fault that keeps a check from ending is named next to the verdict not checked."""
    fault = FAULT.model_copy(update={"explains": ("failure",)} | changes)
    failed = unchecked(MXNET, "its parity check ended as timeout")

    found = pair(side(TORCH), failed, Mode.TRAIN, [fault])

    assert (found.work, found.known_fault) == (WorkParity.NOT_CHECKED, known)
    assert pair(failed, side(TORCH), Mode.TRAIN, [fault]) == found


def test_unrelated_fault_leaves_same_work_alone() -> None:
    """A fault that explains nothing here leaves the same work alone."""
    assert pair(side(TORCH), side(MXNET), Mode.TRAIN, [FAULT]).known_fault == ""


def test_the_faults_that_ship_are_pins_of_frameworks() -> None:
    faults = load_faults()

    assert {fault.name for fault in faults} >= {
        "mxnet-symbolic-max-pool", "keras-tensorflow-race", "theano-compile-time",
    }  # fmt: skip
    assert all(parse_pin(text).name for fault in faults for text in fault.frameworks)


@pytest.mark.parametrize(
    ("mode", "lacking", "changes", "reason"),
    [
        (Mode.TRAIN, ("weights",), {"weights": {}, "gradients": {}}, "mxnet 1.9.1 without weights"),
        (Mode.TRAIN, ("native_layers",), {"layers": ()}, "mxnet 1.9.1 without native_layers"),
        (Mode.INFER, ("weights",), {"weights": {}, "gradients": {}}, "mxnet 1.9.1 without weights"),
        (Mode.INFER, ("predict",), {"logits": None}, ""),
        (Mode.TRAIN, ("predict",), {"logits": None}, ""),
        (
            *(Mode.TRAIN, ("native_layers", "weights", "predict")),
            *({"layers": (), "weights": {}, "gradients": {}, "logits": None},),
            "mxnet 1.9.1 without native_layers, weights",
        ),
    ],
)
def test_session_names_what_it_lacks_for_comparison(
    mode: Mode, lacking: tuple[str, ...], changes: dict[str, Any], reason: str
) -> None:
    """A session that cannot be asked is not comparable and says for lack of what."""
    found = judged(mode, lacking=lacking, **changes)

    assert (found.work, found.reason) == (WorkParity.NOT_COMPARABLE if reason else WorkParity.SAME, reason)


def test_limited_session_is_compared_with_bars_first() -> None:
    """The evidence that a session of limited answers does give is compared with the bars first."""
    found = judged(lacking=("weights",), weights={}, gradients={}, first_loss=2.4)

    assert found.work is WorkParity.NOT_COMPARABLE
    assert found.reason.startswith("first loss ")
