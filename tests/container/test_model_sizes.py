"""The sizes of a model, as its container resolves them."""

from types import SimpleNamespace
from typing import Any

import pytest
from container_support import request_of, start

from benchmarks import own_models, sizes
from benchmarks.errors import BadRequest
from benchmarks.models.transformers import decoder, encoder
from benchmarks.vocabulary import counting
from benchmarks.workload import ModelWorkload, model_module

MODEL = SimpleNamespace(__name__="stack", SIZES={"tiny": {"width": 4, "depth": 1}, "base": {"width": 8, "depth": 3}})


@pytest.mark.parametrize(
    ("given", "axes"),
    [
        ({}, {"width": 4, "depth": 1}),
        ({"size": "base"}, {"width": 8, "depth": 3}),
        ({"size": "base", "depth": 2}, {"width": 8, "depth": 2}),
        ({"width": 6}, {"width": 6, "depth": 1}),
    ],
)
def test_axes_go_over_those_of_a_size(given: dict[str, Any], axes: dict[str, int]) -> None:
    assert sizes.resolved(MODEL, given) == axes


@pytest.mark.parametrize(
    ("given", "mistake"),
    [
        ({"size": "huge"}, "stack has no size 'huge'; there are tiny, base"),
        ({"heads": 2}, "stack has no axis 'heads'; there are width, depth"),
        ({"width": 0}, "the axis 'width' is a whole number from 1, not 0"),
        ({"width": "4"}, "the axis 'width' is a whole number from 1, not '4'"),
    ],
)
def test_unknown_axes_are_refused(given: dict[str, Any], mistake: str) -> None:
    with pytest.raises(BadRequest, match=mistake):
        sizes.resolved(MODEL, given)


def test_model_without_sizes_takes_no_axes() -> None:
    with pytest.raises(BadRequest, match="lenet has no axes, and 'sequence' is asked for"):
        ModelWorkload(request_of(axes={"sequence": 4}), model_module("lenet"), {})


def test_request_with_axes_makes_another_network() -> None:
    asked = request_of(model="decoder", batch_size=2, axes={"sequence": 5, "vocabulary": 33})
    workload = ModelWorkload(asked, model_module("decoder"), {})

    inputs, labels = next(workload.batches())

    assert (inputs.shape, labels.shape, workload.classes) == ((2, 5), (2, 5), 33)
    assert inputs.max() < 33
    assert workload.axes["width"] == 128


def test_sizes_are_taken_by_hand() -> None:
    ended = start("encoder", "--framework", "noop", "--axis", "size=small", "--json")

    assert ended.returncode == 0, ended.stderr
    assert '"parameters": 28567555' in ended.stdout
    assert '"depth": 4' in ended.stdout


def bert(width: int, depth: int) -> int:
    """Parameters of BERT with 128 positions and without segments: embeddings with a norm, layers, the pooler."""
    layer = 4 * (width * width + width) + 2 * 4 * width * width + 4 * width + width + 4 * width
    return (30522 + 128) * width + 2 * width + depth * layer + width * width + width


def test_an_encoder_has_the_parameters_of_bert() -> None:
    """Those published of its base are 109 482 240, with two segments and 512 positions."""
    assert bert(768, 12) + 2 * 768 + 384 * 768 == 109_482_240
    for size, axes in encoder.SIZES.items():
        counted = counting.parameters(own_models.record(encoder, {"size": size}).layers)
        assert counted == bert(axes["width"], axes["depth"]) + 3 * axes["width"] + 3


def llama(width: int, depth: int, inner: int, shared: int, vocabulary: int) -> int:
    """Parameters of Llama: matrices of attention and gates, two norms in a layer and one at the end."""
    layer = 2 * width * width + 2 * width * shared + 3 * width * inner + 2 * width
    return 2 * vocabulary * width + depth * layer + width


def test_a_decoder_has_the_parameters_of_llama() -> None:
    """Those published of the one of 4096 features, 32 layers and 32 heads are 6 738 415 616."""
    assert llama(4096, 32, 11008, 4096, 32000) == 6_738_415_616
    wide = {"width": 4096, "depth": 32, "heads": 32, "shared_heads": 32, "vocabulary": 32000, "sequence": 8}
    assert counting.parameters(own_models.record(decoder, wide).layers) == 6_738_415_616
