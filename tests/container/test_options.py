"""Options change how a framework computes and never what: held against NumPy, and told in the facts."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import reference
from container_support import Measure, request_of, start

from benchmarks.workload import ModelWorkload
from orchestrator.domain import ImageSpec
from orchestrator.resources import ROOT
from orchestrator.runtimes.model import Ready
from tests.until import LIMIT_S

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]

Environment = tuple[ImageSpec, Ready]
Parity = Callable[..., dict[str, Any]]
MODELS = (Path(__file__).parent, *(ROOT / "benchmarks" / "models").iterdir())
BATCH = 32
EXACT = 1e-3  # after three steps with batch norm, the bar of parity
REDUCED = 5e-2  # bfloat16 has three digits
ONEDNN = {"TF_ENABLE_ONEDNN_OPTS": "1"}  # which TensorFlow leaves off on CPUs without AVX-512
NO_CHANNELS_LAST = "MXNet has convolutions for channels_last on some GPUs alone; this builder runs channels_first"


def of(*frameworks: str) -> pytest.MarkDecorator:
    """Run a test in the environments of some frameworks alone."""
    return pytest.mark.parametrize("environment", frameworks, indirect=True)


@pytest.fixture
def parity(environment: Environment, io: Callable[..., Path]) -> Parity:
    """Ask for what a model's layers are and compute, with options; the model is a file beside this one."""
    image, ready = environment

    def ask(model: str, variables: Mapping[str, str] = MappingProxyType({}), **options: Any) -> dict[str, Any]:
        name = image.framework.name
        asked = {"mode": "parity", "batch_size": BATCH, "threads": 1, "options": options}
        folder = io(builder=image.environment.builder, framework=name, model=model, model_file=f"{model}.py", **asked)
        shutil.copy(next(place / f"{model}.py" for place in MODELS if (place / f"{model}.py").exists()), folder)
        ended = start(
            "--io", str(folder), python=ready.handle, OMP_NUM_THREADS="1", **dict(ready.variables) | dict(variables)
        )
        assert ended.returncode == 0, ended.stderr
        answer: dict[str, Any] = json.loads((folder / "result.json").read_text())
        return answer

    return ask


@pytest.fixture
def refused(environment: Environment, io: Callable[..., Path]) -> Callable[..., tuple[int, str]]:
    """Ask for options that cannot be had; return the exit code and the reason."""
    image, ready = environment

    def ask(
        variables: Mapping[str, str] = MappingProxyType({}), model: str = "lenet", **options: Any
    ) -> tuple[int, str]:
        folder = io(builder=image.environment.builder, framework=image.framework.name, model=model, options=options)
        ended = start("--io", str(folder), python=ready.handle, **dict(ready.variables) | dict(variables))
        return ended.returncode, ended.stderr.rstrip().splitlines()[-1]

    return ask


@cache
def losses_by_numpy(model: str) -> list[float]:
    """Of a batch before any step and after each of three plain ones, in float64."""
    module = import_module(model)
    workload = ModelWorkload(request_of(model=model, batch_size=BATCH), module, {})
    weights, batch = workload.weights(), next(workload.batches())
    found: list[float] = reference.losses_of_descent(workload.layers, weights, batch, 3, 0.01)
    return found


def worst(answer: Mapping[str, Any], model: str) -> float:
    """Greatest relative difference of the losses from NumPy's."""
    expected = losses_by_numpy(model)
    found = {0: answer["first_loss"], 1: answer["losses"]["1"], 3: answer["losses"]["3"]}
    return max(abs(loss - expected[steps]) / expected[steps] for steps, loss in found.items())


@of("tensorflow", "torch", "jax")
@pytest.mark.parametrize("model", ["every_layer", "sequence"])
@pytest.mark.parametrize("precision", ["bf16", "amp"])
def test_reduced_precision_computes_the_same_with_fewer_digits(parity: Parity, model: str, precision: str) -> None:
    answer = parity(model, precision=precision)

    assert 1e-6 < worst(answer, model) < REDUCED
    weights_too = "" if precision == "bf16" else " with float32 weights"
    assert answer["facts"]["precision"] == f"bfloat16{weights_too}"
    assert answer["facts"]["tf32"] is False


@of("tensorflow", "torch", "jax")
@pytest.mark.parametrize("precision", ["bf16", "amp"])
def test_reduced_precision_trains_every_weight(parity: Parity, precision: str) -> None:
    # Of plain SGD, as parity takes it. A loss moves too little in a few steps to show a weight that stays as it is.
    plain, reduced = parity("lenet")["gradients"], parity("lenet", precision=precision)["gradients"]

    assert {name: gradient["norm"] for name, gradient in reduced.items()} == {
        name: pytest.approx(gradient["norm"], rel=0.3) for name, gradient in plain.items()
    }


@of("mxnet")
@pytest.mark.parametrize("hybridize", [True, False])
def test_mxnet_computes_the_same_with_mixed_precision(parity: Parity, hybridize: bool) -> None:
    model = "every_layer"
    answer = parity(model, precision="amp", hybridize=hybridize)

    assert 1e-6 < worst(answer, model) < REDUCED
    assert answer["facts"]["precision"] == "bfloat16 with float32 weights"
    assert answer["facts"]["tf32"] is False
    plain = parity(model, hybridize=hybridize)
    assert worst(plain, model) < EXACT
    assert (plain["facts"]["precision"], plain["facts"]["layout"]) == ("float32", "channels_first")


@of("mxnet")
@pytest.mark.parametrize("mode", ["train", "infer"])
def test_mxnet_measures_with_mixed_precision(measure: Measure, mode: str) -> None:
    result = measure(mode=mode, options={"precision": "amp"})

    assert result.facts["options"] == {"hybridize": True, "layout": "auto", "precision": "amp"}
    assert result.facts["precision"] == "bfloat16 with float32 weights"


@pytest.mark.parametrize(
    ("environment", "option", "value", "reason"),
    [
        ("mxnet", "precision", "bf16", "MXNet 1.9.1 makes no weights of bfloat16; amp computes in it"),
        ("mxnet-1.5.1", "precision", "amp", "contrib.amp of MXNet 1.5.1 has no bfloat16; that of MXNet 1.9 has"),
        ("mxnet", "layout", "channels_last", NO_CHANNELS_LAST),
        ("mxnet-1.5.1", "layout", "channels_last", NO_CHANNELS_LAST),
    ],
    indirect=["environment"],
)
def test_what_mxnet_cannot_do_is_unsupported(
    refused: Callable[..., tuple[int, str]], option: str, value: str, reason: str
) -> None:
    assert refused(**{option: value}) == (3, reason)


@of("mxnet")
def test_mxnet_has_no_lstm_with_mixed_precision(refused: Callable[..., tuple[int, str]]) -> None:
    expected = (3, "contrib.amp of MXNet 1.9.1 has no LSTM in bfloat16")
    assert refused(model="lstm", precision="amp") == expected


@of("keras-mxnet")
@pytest.mark.parametrize("layout", ["channels_last", "channels_first"])
def test_keras_mxnet_computes_the_same_in_both_layouts(parity: Parity, layout: str) -> None:
    answer = parity("every_layer", layout=layout)

    assert worst(answer, "every_layer") < EXACT
    assert (answer["facts"]["layout"], answer["facts"]["precision"]) == (layout, "float32")
    assert answer["layers"] == [layer for layer in answer["counted"] if layer["name"] in names(answer)]


def names(answer: Mapping[str, Any]) -> set[str]:
    return {layer["name"] for layer in answer["layers"]}


@of("keras-mxnet")
def test_keras_mxnet_measures_the_requested_layout(measure: Measure) -> None:
    first, last = (measure(options=options) for options in ({}, {"layout": "channels_last"}))

    assert (first.facts["layout"], last.facts["layout"]) == ("channels_first", "channels_last")
    assert first.loss is not None
    assert last.loss is not None
    assert last.loss.first == pytest.approx(first.loss.first, rel=1e-5)


@of("tensorflow", "torch", "jax")
@pytest.mark.parametrize("model", ["every_layer", "sequence"])
def test_by_default_all_is_float32_without_tf32(parity: Parity, model: str) -> None:
    answer = parity(model)

    assert worst(answer, model) < EXACT
    assert (answer["facts"]["precision"], answer["facts"]["tf32"]) == ("float32", False)
    assert answer["facts"]["layout"] == "channels_last"


@of("tensorflow", "torch")
def test_channels_first_computes_the_same(parity: Parity) -> None:
    answer = parity("every_layer", ONEDNN, layout="channels_first")

    assert worst(answer, "every_layer") < EXACT
    assert answer["facts"]["layout"] == "channels_first"


@of("tensorflow", "keras3")
def test_channels_first_takes_kernels_of_onednn(refused: Callable[..., tuple[int, str]]) -> None:
    code, reason = refused({"TF_ENABLE_ONEDNN_OPTS": "0"}, layout="channels_first")

    assert (code, reason.partition(", ")[0]) == (3, "without oneDNN")


@of("tensorflow")
@pytest.mark.parametrize("model", ["every_layer", "sequence"])
@pytest.mark.parametrize(("option", "execution"), [("eager", "eager"), ("xla", "tf.function with XLA")])
def test_tensorflow_eager_and_xla_compute_the_same(parity: Parity, model: str, option: str, execution: str) -> None:
    answer = parity(model, **{option: True})

    assert worst(answer, model) < EXACT
    assert answer["facts"]["execution"] == execution


@of("tensorflow")
def test_xla_reaches_no_other_process_or_function(measure: Measure) -> None:
    """Two cells in turn, as a run launches them; the first tells what holds for all of its process."""
    compiled = measure(steps=2, options={"xla": True}).facts
    untouched = measure(steps=2).facts

    assert (compiled["xla"], compiled["xla_in_whole_process"]) == (True, False)
    assert (untouched["xla"], untouched["xla_in_whole_process"]) == (False, False)
    assert untouched["execution"] == "tf.function"


@of("tensorflow")
def test_xla_compiles_its_own_session_alone(environment: Environment) -> None:
    """One process, two sessions and a function of somebody else: `xla_apart` asks each of them."""
    _, ready = environment
    variables = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [ready.handle, str(Path(__file__).with_name("xla_apart.py"))], env=variables | dict(ready.variables),
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip

    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1]) == {"sessions": [True, False], "other": False, "variables": []}


@of("tensorflow")
def test_xla_and_eager_together_are_unsupported(refused: Callable[..., tuple[int, str]]) -> None:
    code, reason = refused(xla=True, eager=True)

    assert (code, reason) == (3, "xla compiles a step's tf.function, and with eager there is none; set one of them")


@of("tensorflow")
def test_xla_compiles_no_sparse_rows(refused: Callable[..., tuple[int, str]]) -> None:
    expected = (3, "XLA has no product of sparse rows; xla: false has")
    assert refused(model="sparse_regression", xla=True) == expected


@of("mxnet", "tensorflow", "torch")
def test_sparse_rows_are_float32_alone(refused: Callable[..., tuple[int, str]]) -> None:
    expected = (3, "sparse inputs are float32 alone, not amp; set precision: fp32")
    assert refused(model="sparse_regression", precision="amp") == expected


@of("torch")
@pytest.mark.skipif(not shutil.which("g++"), reason="torch.compile needs g++")
@pytest.mark.parametrize(("model", "breaks"), [("every_layer", False), ("sequence", True)])
def test_torch_compile_agrees_and_counts_graph_breaks(parity: Parity, model: str, breaks: bool) -> None:
    """With torch.compile, the same is computed and the graph breaks are counted."""
    answer = parity(model, compile=True)

    assert worst(answer, model) < EXACT
    assert answer["facts"]["execution"] == "torch.compile"
    assert (answer["facts"]["graph_breaks"] > 0) == breaks


@of("torch")
def test_torch_compile_without_a_compiler_is_unsupported(refused: Callable[..., tuple[int, str]]) -> None:
    code, reason = refused(compile=True, variables={"PATH": "/nowhere"})

    assert (code, reason) == (3, "torch.compile needs a C++ compiler, and there is none here: install g++")


@of("tensorflow", "torch", "jax", "mxnet")
def test_unknown_value_of_an_option_is_refused(refused: Callable[..., tuple[int, str]]) -> None:
    assert refused(precision="fp8") == (5, "option 'precision' is one of fp32, tf32, bf16, amp, not 'fp8'")


@of("jax")
def test_flax_has_no_layers_for_channels_first(refused: Callable[..., tuple[int, str]]) -> None:
    code, reason = refused(layout="channels_first")

    assert (code, reason) == (5, "option 'layout' is one of auto, channels_last, not 'channels_first'")
