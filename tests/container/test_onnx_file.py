"""The ONNX file of a model, run by ONNX's own reference and compared with ours in float64."""

import importlib
from typing import Any

import numpy as np
import onnx
import pytest
import reference
from onnx.reference import ReferenceEvaluator

from benchmarks.inputs import datasets
from benchmarks.native import onnx as writer
from benchmarks.native import parts
from benchmarks.vocabulary import features, layers, weights

BATCH = 4
OWN = ("every_layer", "features", "sequence", "two_inputs", "gates", "separable", "joined", "early_reset", "both_ways")
OWN += ("encoded", "decoded", "written", "mixed")


def model_of(name: str) -> Any:
    return importlib.import_module(name if name in OWN else f"benchmarks.models.{name}")


class Written:
    """A model and its file. By the weights of the start a swapped scale and shift would not show, so it has others."""

    def __init__(self, name: str) -> None:
        self.net = layers.recorded(model_of(name).build)
        draw = np.random.default_rng(5)
        start = weights.initial(self.net.layers, 0)
        self.weights = {
            key: (value + draw.uniform(-0.1, 0.1, value.shape)).astype("f4") for key, value in start.items()
        }
        data = datasets.named("synthetic", model_of(name), 0, inputs=self.net.inputs)
        self.inputs = next(data.batches(BATCH, 1))[0]
        types = {"float": "f4", "integer": "i8"}
        given = zip(self.net.inputs, parts(self.inputs), strict=True)
        self.fed = {each.name: np.asarray(array, types[each.kind]) for each, array in given}

    def file(self, **wanted: bool) -> bytes:
        content: bytes = writer.file(self.net.layers, self.net.inputs, self.weights, BATCH, **wanted)
        return content


@pytest.fixture(params=[*OWN, "mlp", "lenet", "lstm"])
def written(request: pytest.FixtureRequest) -> Written:
    return Written(request.param)


def computed(content: bytes, fed: Any) -> Any:
    """Compute a file by ONNX's own reference, which before opset 14 normalises by the batch in inference too."""
    model = onnx.load_model_from_string(content)
    model.opset_import[0].version = 14
    return ReferenceEvaluator(model).run(None, fed)


def test_the_file_computes_what_the_reference_computes(written: Written) -> None:
    content = written.file()
    onnx.checker.check_model(content, full_check=True)

    (logits,) = computed(content, written.fed)

    wanted = reference.logits(written.net.layers, written.weights, written.inputs)
    assert np.abs(logits - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_every_layer_yields_the_shape_that_is_recorded(written: Written) -> None:
    yielded = computed(written.file(yielded=True), written.fed)

    assert [each.shape for each in yielded] == [(BATCH, *layer.output_shape) for layer in written.net.layers]


def test_weights_are_read_back_as_they_were(written: Written) -> None:
    read = writer.weights(written.file(), written.net.layers)

    assert list(read) == list(written.weights)
    assert all(np.array_equal(read[name], value) for name, value in written.weights.items())


def test_one_model_has_one_file(written: Written) -> None:
    """Engines of different releases are compared by the same file."""
    assert written.file() == written.file()


def test_every_layer_of_the_vocabulary_is_written() -> None:
    """A sparse input, which a dense layer takes, is not."""
    written = {kind for name in OWN for kind in kinds(model_of(name))}

    assert {f"layer {kind}" for kind in written} == {name for name in features.ALL if name.startswith("layer ")}


def kinds(model: Any) -> set[str]:
    return {layer.kind for layer in layers.record(model.build)}
