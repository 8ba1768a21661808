"""Rows of whole numbers, as models take them."""

from typing import Any

import numpy as np
import pytest

from benchmarks import own_models
from benchmarks.errors import BadRequest, Unsupported
from benchmarks.inputs import datasets, mounted
from benchmarks.inputs.dealt import Split
from benchmarks.models.recurrent import babi_rnn, char_lstm
from orchestrator.catalog import DatasetInfo, own_dataset, unsuitable
from orchestrator.catalog.model_files.models import load_models
from orchestrator.resources import BENCHMARKS
from orchestrator.user_files import SequenceInput

STORY, QUESTION = ("story", 552, 36), ("question", 5, 36)
CHARACTERS = ("characters", 40, 50)
Rows = tuple[str, int, int]


def request(*inputs: Rows) -> dict[str, Any]:
    rows = [dict(zip(("name", "length", "vocabulary"), each, strict=True)) for each in inputs]
    return {"folder": "data", "format": "idx", "inputs": rows, "classes": 36, "training": 30, "testing": 10}


def split_of(*inputs: Rows) -> Split:
    """Thirty samples to train with and ten to test with, whose rows begin with their own number."""
    parts = []
    for count in (30, 10):
        rows = tuple(np.tile(np.arange(length) % vocabulary, (count, 1)) for _, length, vocabulary in inputs)
        for each in rows:
            each[:, 0] = np.arange(count)
        parts += [tuple(each.astype(np.uint8) for each in rows), np.arange(count).astype(np.uint8)]
    return Split(*parts, 255, "0" * 64)


def named(monkeypatch: pytest.MonkeyPatch, model: Any, *inputs: Rows) -> Any:
    monkeypatch.setattr(mounted, "load", lambda _data: split_of(*inputs))
    return datasets.named("told", model, 0, request(*inputs), own_models.record(model).inputs)


@pytest.mark.parametrize("inputs", [(STORY, QUESTION), (QUESTION, STORY)], ids=["in order", "turned round"])
def test_integer_model_takes_inputs_by_name(monkeypatch: pytest.MonkeyPatch, inputs: tuple[Rows, ...]) -> None:
    """A model of whole numbers takes its inputs by name."""
    data = named(monkeypatch, babi_rnn, *inputs)

    (stories, questions), labels = next(data.batches(8, 3))

    assert (stories.shape, questions.shape, stories.dtype) == ((8, 552), (8, 5), np.int32)
    assert np.array_equal(stories[:, 0], labels)
    assert np.array_equal(questions[:, 0], labels)
    assert data.held_out()[0][0].shape == (10, 552)
    assert np.array_equal(data.seen(8)[1], np.arange(10))


def test_one_hot_model_takes_plain_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of one-hot characters takes numbers as such."""
    data = named(monkeypatch, char_lstm, CHARACTERS)

    inputs, labels = next(data.batches(8, 3))

    assert (inputs.shape, inputs.dtype) == ((8, 40, 57), np.float32)
    assert np.array_equal(inputs.sum(axis=2), np.ones((8, 40)))
    assert np.array_equal(inputs[:, 0].argmax(axis=1), labels)


def test_an_epoch_takes_every_sample_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = named(monkeypatch, char_lstm, CHARACTERS)

    assert data.batch_count(10, 2) == 6
    taken = [labels for _, labels in data.batches(10, 6)]

    assert sorted(np.concatenate(taken[:3])) == sorted(np.concatenate(taken[3:])) == list(range(30))
    assert not np.array_equal(taken[0], taken[3]), "each epoch has an order of its own"


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (babi_rnn, (STORY,)),
        (babi_rnn, (STORY, ("answer", 5, 36))),
        (babi_rnn, (STORY, ("question", 5, 37))),
        (babi_rnn, (STORY, ("question", 6, 36))),
        (char_lstm, (("characters", 39, 50),)),
        (char_lstm, (("characters", 40, 58),)),
        (char_lstm, (CHARACTERS, ("more", 40, 50))),
    ],
)
def test_rows_that_do_not_fit_are_unsupported(
    monkeypatch: pytest.MonkeyPatch, model: Any, inputs: tuple[Rows, ...]
) -> None:
    with pytest.raises(Unsupported, match=r"told \(.*\) does not fit a model that takes"):
        named(monkeypatch, model, *inputs)


def test_a_number_beyond_the_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = request(("characters", 40, 20))
    data["files"] = {}
    rows = split_of(("characters", 40, 40))
    monkeypatch.setattr(mounted, "_idx", lambda *_: ((rows.training, rows.training_labels),) * 2)

    with pytest.raises(BadRequest, match="characters has a number 39, beyond the vocabulary"):
        mounted.load(data | {"testing": 30})


@pytest.mark.parametrize(
    ("name", "inputs", "fits"),
    [
        ("babi_rnn", (STORY, QUESTION), True),
        ("babi_rnn", (("story", 500, 36), QUESTION), False),
        ("char_lstm", (CHARACTERS,), True),
        ("char_lstm", (("characters", 40, 58),), False),
        ("lenet", (CHARACTERS,), False),
    ],
)
def test_the_plan_knows_what_fits(name: str, inputs: tuple[Rows, ...], fits: bool) -> None:
    rows = tuple(SequenceInput(*each) for each in inputs)
    info = own_dataset(DatasetInfo("told", None, 10, 30, 10, rows), "idx")

    said = unsuitable(info, load_models(BENCHMARKS / "models")[name], 8)

    assert (not said) == fits
    assert said == "" or said.startswith(f"told ({inputs[0][0]} of {inputs[0][1]} below {inputs[0][2]}")
