"""Steps of the model's own optimizer: each bar is kept below and broken above, and the reason names the optimizer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parity_results import LAYERS, MXNET, SGD, SHARES, TORCH, side, stepped, steps

from benchmarks.vocabulary import optimizers
from orchestrator.analysis.parity.optimizer import RULES
from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.analysis.parity.work import PairParity, WorkParity, pair
from orchestrator.catalog import KnownFault
from orchestrator.domain import Framework, Mode, Options
from orchestrator.results.parity.contract import Form, NativeLayer, OptimizerSteps, Sample

ADAM = {"name": "adam", "learning_rate": 0.001, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8}
NOT_CHECKED = "the optimizer is not checked"
BATCH_NORM = NativeLayer(name="batch_norm_1", shape=(8, 24, 24), parameters=16)


def stepping(framework: Framework, taken: OptimizerSteps | None, options: Options = (), **changes: Any) -> ParitySide:
    return side(framework, options, optimizer=taken, **changes)


def judged(one: OptimizerSteps | None, other: OptimizerSteps | None, mode: Mode = Mode.TRAIN) -> PairParity:
    """A torch beside an mxnet; the verdict must be the same from either side."""
    sides = stepping(TORCH, one), stepping(MXNET, other)
    verdict, reverse = pair(*sides, mode), pair(*reversed(sides), mode)
    assert (verdict.work, len(verdict.differences)) == (reverse.work, len(reverse.differences))
    return verdict


def test_equal_steps_are_the_same_work() -> None:
    verdict = judged(steps(), steps())

    assert (verdict.work, verdict.note) == (WorkParity.SAME, "")
    assert [each.what for each in verdict.differences if each.evidence == "optimizer"] == [
        "3 steps of sgd from its rule, on dense_1.weight",
        "3 steps of sgd from its rule, on dense_1.weight",
        "3 steps of sgd on dense_1.weight",
    ]


def test_every_optimizer_of_the_vocabulary_has_a_bar() -> None:
    """A new one would silently be held to the bar of a rule that is not known."""
    assert set(RULES) == set(optimizers.DEFAULTS)


@pytest.mark.parametrize(("settings", "bar"), [(SGD, 1e-5), (ADAM, 1e-4), (ADAM | {"name": "rmsprop"}, 1e-5)])
def test_each_optimizer_has_its_bar(settings: dict[str, Any], bar: float) -> None:
    near, far = (steps(settings, conv2d_1__weight=stepped(share * bar)) for share in (0.9, 1.1))

    assert judged(steps(settings), near).work is WorkParity.SAME
    verdict = judged(steps(settings), far)
    assert verdict.work is WorkParity.NOT_COMPARABLE
    assert verdict.reason.startswith(
        f"3 steps of {settings['name']} from its rule, on conv2d_1.weight in mxnet 1.9.1 ("
    )


def test_reason_names_optimizer_and_settings() -> None:
    assert judged(steps(), steps(dense_1__weight=stepped(0.47))).reason == (
        "3 steps of sgd from its rule, on dense_1.weight in mxnet 1.9.1 (learning_rate 0.1, momentum 0.9): "
        "0.47 apart, bar 1e-05"
    )


def test_sides_with_one_fault_break_the_rule() -> None:
    """Two sides with the same fault both break the rule."""
    wrong = steps(dense_1__weight=stepped(0.47))

    assert judged(wrong, wrong).work is WorkParity.NOT_COMPARABLE


def test_the_form_that_fits_all_tensors_counts() -> None:
    def forms(inside: float, outside: float) -> dict[str, Form]:
        return {"inside": Form(moved=1, apart=inside), "outside": Form(moved=1, apart=outside)}

    settings = ADAM | {"name": "rmsprop"}
    outside = steps(
        settings, conv2d_1__weight=stepped(forms=forms(0.1, 0.0)), dense_1__weight=stepped(forms=forms(0.2, 0.0))
    )
    mixed = steps(
        settings, conv2d_1__weight=stepped(forms=forms(0.1, 0.0)), dense_1__weight=stepped(forms=forms(0.0, 0.2))
    )

    assert judged(outside, outside).work is WorkParity.SAME
    assert judged(outside, mixed).work is WorkParity.NOT_COMPARABLE


def test_rounding_of_weights_explains_what_it_can() -> None:
    """Three steps of weights with a norm of 1000 round by up to 1.03e-4, here of a movement of 1."""
    assert judged(steps(), steps(dense_1__weight=stepped(1.1e-4, weights=1000.0))).work is WorkParity.SAME
    assert judged(steps(), steps(dense_1__weight=stepped(1.2e-4, weights=1000.0))).work is WorkParity.NOT_COMPARABLE


def test_a_tensor_that_does_not_move_is_found() -> None:
    frozen = stepped(1.0, moved=0.0, sample=Sample(moved=(0.0, 0.0), gradients=SHARES))

    assert judged(steps(), steps(conv2d_1__weight=frozen)).reason.startswith(
        "3 steps of sgd from its rule, on conv2d_1.weight in mxnet 1.9.1"
    )


@pytest.mark.parametrize(("batch_norm", "bar"), [(False, 0.1), (True, 0.5)])
def test_sides_are_compared_with_each_other(batch_norm: bool, bar: float) -> None:
    layers = (*LAYERS, BATCH_NORM) if batch_norm else LAYERS
    parts: dict[str, Any] = {"layers": layers, "counted": layers}

    def moving(factor: float) -> PairParity:
        sample = Sample(moved=(0.6 * factor, 0.8 * factor), gradients=SHARES)
        other = steps(dense_1__weight=stepped(sample=sample))
        return pair(stepping(TORCH, steps(), **parts), stepping(MXNET, other, **parts), Mode.TRAIN)

    assert moving(1 / (1 - 0.9 * bar)).work is WorkParity.SAME
    verdict = moving(1 / (1 - 1.1 * bar))
    assert verdict.work is WorkParity.NOT_COMPARABLE
    assert verdict.reason.startswith("3 steps of sgd on dense_1.weight in torch 2.13.0 and mxnet 1.9.1: ")


@pytest.mark.parametrize(("name", "work"), [("adam", WorkParity.SAME), ("sgd", WorkParity.NOT_COMPARABLE)])
def test_small_gradients_are_left_out_where_divided(name: str, work: WorkParity) -> None:
    """Elements with small gradients are left out where the rule divides by them."""
    one, other = (
        steps(ADAM | {"name": name}, dense_1__weight=stepped(sample=Sample(moved=(0.6, last), gradients=(1.0, 0.009))))
        for last in (0.8, -0.8)
    )

    assert judged(one, other).work is work


def test_other_settings_are_other_work() -> None:
    verdict = judged(steps(), steps(SGD | {"momentum": 0.0}))

    assert (verdict.work, verdict.reason) == (
        WorkParity.NOT_COMPARABLE,
        (
            "the optimizer is sgd (learning_rate 0.1, momentum 0.9) in torch 2.13.0, "
            "sgd (learning_rate 0.1, momentum 0) in mxnet 1.9.1"
        ),
    )


def test_older_answers_keep_their_verdict() -> None:
    verdict = judged(steps(), None)

    assert (verdict.work, verdict.note) == (WorkParity.SAME, NOT_CHECKED)
    assert judged(None, None).note == NOT_CHECKED


def test_inference_has_no_optimizer() -> None:
    wrong = steps(dense_1__weight=stepped(1.0))

    assert judged(steps(), wrong, Mode.INFER).work is WorkParity.SAME
    assert judged(None, None, Mode.INFER).note == ""


def test_many_elements_left_out_are_told() -> None:
    most = steps(dense_1__weight=stepped(elements=9, left_out=8))
    verdict = judged(steps(), most)

    assert (verdict.work, verdict.note) == (
        WorkParity.SAME,
        "73% of the elements left out of the comparison of optimizers: their gradients are rounding",
    )
    every = steps(**dict.fromkeys(("conv2d_1__weight", "dense_1__weight"), stepped(left_out=2)))
    assert judged(steps(), every).note == NOT_CHECKED


def test_missing_tensor_is_a_difference() -> None:
    """A tensor that an answer does not report is a difference."""
    some = steps().model_copy(update={"tensors": {"dense_1.weight": stepped()}})

    verdict = judged(some, some)

    assert verdict.work is WorkParity.NOT_COMPARABLE
    assert verdict.reason.startswith("3 steps of sgd from its rule, on conv2d_1.weight in ")


def test_samples_of_other_sizes_are_a_difference() -> None:
    shorter = steps(dense_1__weight=stepped(sample=Sample(moved=(0.6,), gradients=(1.0,))))

    assert "of another size or in one only" in judged(steps(), shorter).reason


def test_weights_in_bfloat16_are_held_loosely() -> None:
    def side_of(framework: Framework, apart: float, precision: str) -> ParitySide:
        return stepping(framework, steps(dense_1__weight=stepped(apart)), (("precision", precision),))

    def work(apart: float, precision: str) -> WorkParity:
        return pair(side_of(TORCH, 0.0, precision), side_of(MXNET, apart, precision), Mode.TRAIN).work

    assert (work(0.09, "bf16"), work(0.11, "bf16")) == (WorkParity.SAME, WorkParity.NOT_COMPARABLE)
    assert (work(0.9e-5, "amp"), work(1.1e-5, "amp")) == (WorkParity.SAME, WorkParity.NOT_COMPARABLE)
    assert (work(0.9e-5, "tf32"), work(1.1e-5, "tf32")) == (WorkParity.SAME, WorkParity.NOT_COMPARABLE)


@pytest.mark.parametrize(("mode", "work"), [(Mode.TRAIN, WorkParity.NOT_COMPARABLE), (Mode.INFER, WorkParity.SAME)])
def test_a_session_that_ignores_given_weights_is_named(mode: Mode, work: WorkParity) -> None:
    verdict = pair(stepping(TORCH, steps()), stepping(MXNET, None, lacking=("given_weights",)), mode)

    assert (verdict.work, verdict.reason) == (work, "mxnet 1.9.1 without given_weights" if mode is Mode.TRAIN else "")


def test_a_known_fault_may_explain_an_optimizer() -> None:
    fault = KnownFault(name="x", frameworks=("mxnet",), explains=("optimizer",), fault="it stands still")
    wrong = stepping(MXNET, steps(dense_1__weight=stepped(1.0)))

    assert pair(stepping(TORCH, steps()), wrong, Mode.TRAIN, [fault]).known_fault == "mxnet 1.9.1: it stands still"


NUMBERS = st.floats(0, 1e50)


@given(apart=NUMBERS, moved=NUMBERS, by_rule=NUMBERS, weights=NUMBERS, elements=st.lists(st.floats(-1e50, 1e50)))
def test_every_answer_is_judged_alike_from_both_sides(
    apart: float, moved: float, by_rule: float, weights: float, elements: list[float]
) -> None:
    sample = Sample(moved=tuple(elements), gradients=(1.0,) * len(elements))
    forms = {"sgd": Form(moved=by_rule, apart=apart)}
    other = steps(dense_1__weight=stepped(moved=moved, weights=weights, forms=forms, sample=sample))

    verdict = judged(steps(), other)

    assert all(each.value >= 0 for each in verdict.differences)


OFF = (
    "the optimizer is not checked to its bar: in half of the tensors or more, rounding of bfloat16 exceeds 10% of the "
    "steps"
)


def in_precision(precision: str, taken: OptimizerSteps) -> PairParity:
    sides = (stepping(framework, taken, (("precision", precision),)) for framework in (TORCH, MXNET))
    return pair(*sides, Mode.TRAIN)


@pytest.mark.parametrize(
    ("precision", "weights", "noted"),
    [("bf16", 200.0, True), ("bf16", 30.0, True), ("bf16", 29.0, False), ("amp", 200.0, False), ("fp32", 200.0, False)],
)
def test_steps_below_rounding_of_bfloat16_are_told(precision: str, weights: float, noted: bool) -> None:
    """Three steps round by 0.34 % of the weights, whose steps have a norm of 1."""
    small = stepped(weights=weights)
    verdict = in_precision(precision, steps(conv2d_1__weight=small, dense_1__weight=small))

    assert (verdict.work, OFF in verdict.note) == (WorkParity.SAME, noted)


def test_wrong_momentum_below_rounding_gets_a_note() -> None:
    """A wrong momentum below rounding passes with a note."""
    wrong = stepped(0.47, weights=200.0)
    verdict = in_precision("bf16", steps(conv2d_1__weight=wrong, dense_1__weight=wrong))

    assert (verdict.work, OFF in verdict.note) == (WorkParity.SAME, True)


@pytest.mark.parametrize(("small", "noted"), [(1, True), (0, False)])
def test_rounding_of_half_of_the_tensors_is_told(small: int, noted: bool) -> None:
    names = ("conv2d_1__weight", "dense_1__weight")[:small]

    assert (OFF in in_precision("bf16", steps(**dict.fromkeys(names, stepped(weights=200.0)))).note) is noted


def test_tensors_without_any_step_round_nothing_off() -> None:
    still = stepped(weights=200.0, moved=0.0, forms={"sgd": Form(moved=0.0, apart=0.0)})
    verdict = in_precision("bf16", steps(conv2d_1__weight=still))

    assert OFF not in verdict.note
