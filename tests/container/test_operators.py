"""Single operators: every call is synchronised and kept, and outputs are compared with NumPy in float64."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from container_support import FAST, Measure, document, request_of, start

from benchmarks.errors import Diverged, Failure
from benchmarks.modes import ops as timed_operators
from benchmarks.operators import definitions
from benchmarks.timing.measure import Clock
from orchestrator.modes.ops import BARS, OF_MATRICES
from orchestrator.results.container_answers import read_result
from orchestrator.results.contract import Request, Result
from orchestrator.running.classify import discrepancy

WITH_OPERATORS = ("mxnet", "tensorflow", "torch", "jax")
AXES = {"size": 7, "seeds": 3, "tries": 2}
ASKED = {
    "cell": "noop-1-cpu/gemm-ops-size=7", "model": "gemm", "mode": "ops", "axes": AXES, "batch_size": 1,
    "steps": 6, "min_blocks": 3, "min_block_s": 0.0, "latency_steps": 6, "warmup_steps": 4,
}  # fmt: skip


class Session:
    """A session whose calls take a second each, the first of a pair two, and whose waits take another."""

    def __init__(self, yields: Callable[..., Any]) -> None:
        self.now, self.calls, self.waits = 0.0, 0, 0
        self.inputs: list[tuple[Any, ...]] = []
        self._yields = yields

    def call(self, _name: str) -> Callable[..., Any]:
        def operator(*inputs: Any) -> Any:
            self.calls += 1
            self.now += 1.0 + self.calls % 2
            self.inputs.append(inputs)
            return self._yields(*inputs)

        return operator

    def placed(self, array: Any) -> Any:
        self.now += 100.0
        return array

    def synchronise(self, _handle: Any) -> None:
        self.waits += 1
        self.now += 1.0

    def fetch(self, handle: Any) -> Any:
        self.now += 1000.0
        return handle

    def facts(self) -> dict[str, Any]:
        return {"device": "here"}

    def peak_device_bytes(self) -> None:
        return None


def measured(monkeypatch: pytest.MonkeyPatch, session: Session, **changes: Any) -> dict[str, Any]:
    """Measure with a session in place of that of the noop builder."""
    from benchmarks.operators import noop

    monkeypatch.setattr(noop, "start", lambda _settings: session)
    clock = Clock(lambda: session.now, lambda: session.now)
    request = request_of(**ASKED | {"telemetry": False} | changes)
    result: dict[str, Any] = timed_operators.execute(request, lambda _phase: None, clock)
    return result


def product(one: Any, other: Any) -> Any:
    return one.dot(other)


def test_each_call_is_timed_with_its_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(product)

    result = measured(monkeypatch, session)

    assert result["latency_s"] == [2.0, 3.0] * 3 or result["latency_s"] == [3.0, 2.0] * 3
    assert [block["wall_s"] for block in result["blocks"]] == [5.0] * 3
    assert [block["steps"] for block in result["blocks"]] == [2] * 3
    assert session.calls == 1 + 4 + 6  # the first step, the warm-up, and three draws of two tries
    assert session.waits == session.calls + 2 * 4  # and after both inputs of each draw were placed


def test_every_seed_draws_other_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(product)

    measured(monkeypatch, session)

    draws = {one.tobytes() for one, _ in session.inputs}
    assert len(draws) == 3
    assert session.inputs[0][0].tobytes() == session.inputs[5][0].tobytes()  # the first one is that of the warm-up


def test_a_right_output_has_the_error_of_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = measured(monkeypatch, Session(product))["outputs"]

    assert 0 < outputs["error"] < 1e-6
    assert outputs["elements"] == 49
    assert len(outputs["sketch"]) == 49
    assert outputs["scale"] == pytest.approx(outputs["norm"], rel=1e-6)


def test_one_wrong_seed_shows_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(lambda one, other: one.dot(other) * (1.01 if session.calls == 11 else 1.0))

    assert measured(monkeypatch, session)["outputs"]["error"] == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize(
    ("yields", "failure", "reason"),
    [
        (lambda one, other: one.dot(other)[:3], Failure, "gemm yields 21 values, not 49"),
        (lambda one, other: one.dot(other) * numpy.nan, Diverged, "the output of gemm is not all finite"),
    ],
)
def test_another_output_is_no_measurement(
    monkeypatch: pytest.MonkeyPatch, yields: Callable[..., Any], failure: type[Failure], reason: str
) -> None:
    with pytest.raises(failure, match=reason):
        measured(monkeypatch, Session(yields))


@pytest.mark.parametrize("kind", ["tensor_from_numpy", "tensor_from_list"])
def test_what_makes_tensors_gets_values_of_the_host(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    session = Session(lambda values: numpy.array(values, numpy.float32))

    result = measured(monkeypatch, session, model=kind)

    assert {type(values) for (values,) in session.inputs} == {numpy.ndarray if kind.endswith("numpy") else list}
    assert result["outputs"]["error"] == 0


def test_the_host_knows_every_operator() -> None:
    assert list(BARS) == list(definitions.OPERATORS)
    assert {name for name, each in definitions.OPERATORS.items() if "matrix" in each.takes} == OF_MATRICES


REFERENCES: dict[str, tuple[list[float], list[float]]] = {
    "sigmoid": ([0.0, 1.0], [0.5, 0.7310585786300049]),
    "relu": ([-2.0, 3.0], [0.0, 3.0]),
    "tanh": ([0.0, 1.0], [0.0, 0.7615941559557649]),
    "softplus": ([0.0, 1.0], [0.6931471805599453, 1.3132616875182228]),
    "softsign": ([-3.0, 1.0], [-0.75, 0.5]),
    "l2_normalize": ([3.0, 4.0], [0.6, 0.8]),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_the_reference_of_an_operator(name: str) -> None:
    values, expected = REFERENCES[name]

    assert definitions.named(name).reference(numpy.array(values)).tolist() == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("broadcast_add", [[11.0, -18.0], [13.0, -16.0]]),
        ("broadcast_multiply", [[10.0, -40.0], [30.0, -80.0]]),
        ("broadcast_maximum", [[10.0, 2.0], [10.0, 4.0]]),
    ],
)
def test_a_row_meets_each_row_of_a_matrix(name: str, expected: list[list[float]]) -> None:
    matrix, row = numpy.array([[1.0, 2.0], [3.0, 4.0]]), numpy.array([[10.0, -20.0]])

    assert definitions.named(name).reference(matrix, row).tolist() == expected


def test_cancelling_dot_is_measured_by_its_terms() -> None:
    """A dot product that cancels is held to the size of its terms."""
    dot = definitions.named("dot")
    one, other = numpy.array([1.0, 1.0]), numpy.array([1.0, -1.0])

    assert dot.reference(one, other) == 0
    assert dot.scale(dot, [one, other]) == pytest.approx(2.0)


def test_the_floor_of_the_harness_answers(io: Callable[..., Path]) -> None:
    asked = document(**ASKED)
    ended = start("--io", str(io(**ASKED)))
    assert ended.returncode == 0, ended.stderr

    result = read_result(io(**ASKED) / "result.json")

    assert isinstance(result, Result)
    assert discrepancy(Request.model_validate(asked), result) is None
    assert result.outputs is None
    assert result.model.multiply_adds == 343


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ({"axes": {"size": 7, "seeds": 3}}, 5, "takes a whole number 'tries' of at least 1 in 'axes'"),
        ({"axes": AXES | {"size": 0}}, 5, "takes a whole number 'size' of at least 1"),
        ({"axes": AXES | {"width": 2}}, 5, "the mode 'ops' has no axis 'width'"),
        ({"model": "gem"}, 5, "there is no operator 'gem' in this image"),
        ({"builder": "keras_mxnet"}, 3, "keras_mxnet offers no operators"),
        ({"builder": "nothing"}, 5, "there is no framework builder 'nothing'"),
    ],
)
def test_what_cannot_be_answered(io: Callable[..., Path], changes: dict[str, Any], status: int, reason: str) -> None:
    ended = start("--io", str(io(**ASKED | changes)))

    assert (ended.returncode, reason in ended.stderr) == (status, True), ended.stderr


def test_a_result_says_what_ran(io: Callable[..., Path]) -> None:
    folder = io(**ASKED)
    assert start("--io", str(folder)).returncode == 0

    facts = json.loads((folder / "result.json").read_text())["facts"]

    assert {"python", "versions", "builder", "options", "device"} <= set(facts)


@pytest.mark.frameworks
@pytest.mark.parametrize(
    "environment",
    [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in WITH_OPERATORS],
    indirect=True,
)
@pytest.mark.parametrize("name", definitions.OPERATORS)
def test_a_framework_keeps_the_bar_of_an_operator(measure: Measure, name: str) -> None:
    size = 550 if name in OF_MATRICES else 95_000

    result = measure(**ASKED | {"model": name, "axes": AXES | {"size": size}})

    assert result.outputs is not None
    assert result.outputs.error <= BARS[name]
    assert len(result.latency_s) == 6
