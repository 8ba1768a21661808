"""Models that predict the next token: their data, their loss, and what they must yield."""

from pathlib import Path
from typing import Any

import decoded
import numpy as np
import pytest
from container_support import request_of

from benchmarks.errors import BadRequest, Failure
from benchmarks.inputs import datasets
from benchmarks.timing import evaluation
from benchmarks.vocabulary import layers, losses
from benchmarks.workload import ModelWorkload, model_module

TEXT = Path(decoded.__file__).read_text()


def drawn(count: int, seed: int = 0) -> list[Any]:
    data = datasets.named("synthetic", decoded, seed, inputs=layers.recorded(decoded.build).inputs)
    return list(data.batches(200, count))


def workload_of(folder: Path, text: str) -> ModelWorkload:
    path = folder / "own.py"
    path.write_text(text)
    return ModelWorkload(request_of(model="own", batch_size=8), model_module("own", str(path)), {})


def test_labels_are_the_tokens_that_follow() -> None:
    ((tokens, labels), (others, _)) = drawn(2)

    assert (tokens.shape, labels.shape, tokens.dtype, labels.dtype) == ((200, 9), (200, 9), np.int32, np.int32)
    assert np.array_equal(tokens[:, 1:], labels[:, :-1])
    assert set(tokens.ravel()) == set(range(19))
    assert not np.array_equal(tokens, others)


def test_tokens_are_seeded() -> None:
    assert np.array_equal(drawn(1)[0][0], drawn(1)[0][0])
    assert not np.array_equal(drawn(1)[0][0], drawn(1, seed=1)[0][0])


def test_next_token_can_be_learned() -> None:
    """The most frequent successor of each token is right in about half of the steps of another batch."""
    *known, (tokens, labels) = drawn(6)
    pairs = np.zeros((19, 19), int)
    for some, following in known:
        np.add.at(pairs, (some, following), 1)

    assert 0.48 < (pairs.argmax(axis=1)[tokens] == labels).mean() < 0.58


def test_loss_is_the_mean_over_steps() -> None:
    outputs = np.random.RandomState(0).normal(size=(4, 3, 5))
    labels = np.random.RandomState(1).randint(0, 5, (4, 3))

    found = evaluation.scores(lambda _: outputs, (labels, labels), 4, 5, losses.NEXT_TOKEN)

    flat = evaluation.scores(lambda _: outputs.reshape(12, 5), (labels.ravel(), labels.ravel()), 12, 5)
    assert found == pytest.approx(flat)


def test_last_logits_are_of_each_step(tmp_path: Path) -> None:
    workload = workload_of(tmp_path, TEXT)

    workload.check_outputs(np.zeros((8, 9, 19)))
    with pytest.raises(Failure, match=r"not \(8, 9, 19\)"):
        workload.check_outputs(np.zeros((8, 19)))


@pytest.mark.parametrize(
    ("before", "after", "mistake"),
    [
        ("CLASSES, bias=False)", "7, bias=False)", r"own.py: next_token takes one input of whole numbers"),
        ('LOSS = "next_token"', "", r"own.py: softmax_cross_entropy takes flat outputs, not the shape \(9, 19\)"),
    ],
)
def test_logits_that_a_loss_lacks_are_refused(tmp_path: Path, before: str, after: str, mistake: str) -> None:
    with pytest.raises(BadRequest, match=mistake):
        workload_of(tmp_path, TEXT.replace(before, after))


def test_real_samples_have_no_next_token() -> None:
    with pytest.raises(BadRequest, match="digits has a class for each sample"):
        datasets.named("digits", decoded, 0, inputs=())
