"""A model may ask for more than builders have: each answers with the name of what it lacks."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from container_support import offers, request_of, start

from benchmarks import definitions
from benchmarks.errors import CannotTrain, Unsupported
from benchmarks.vocabulary import features, graph, optimizers
from benchmarks.workload import ModelWorkload, model_module
from orchestrator.catalog.model_files.definitions import builders

HEAD = """
TITLE = "Wide"
INPUT_SHAPE = (4,)
CLASSES = 3
BATCH_SIZE = 8
SAMPLES = 64
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1}
"""
PLAIN = HEAD + "def build(net):\n    return net.dense(net.input(*INPUT_SHAPE), CLASSES)\n"
TWO_INPUTS = (
    HEAD
    + """
def build(net):
    one = net.dense(net.input(*INPUT_SHAPE), 3)
    other = net.dense(net.input(5, name="other"), 3)
    return net.dense(net.add(one, other), CLASSES)
"""
)
INTEGERS = PLAIN.replace("net.input(*INPUT_SHAPE)", 'net.input(*INPUT_SHAPE, kind="integer")')
OTHER_LOSS = PLAIN.replace("def build", 'LOSS = "mean_squared_error"\ndef build')
MODELS = [(TWO_INPUTS, "several inputs"), (INTEGERS, "integer inputs"), (OTHER_LOSS, "loss mean_squared_error")]
NAMES = ["two", "integers", "loss"]


def workload_of(folder: Path, text: str, **changes: Any) -> ModelWorkload:
    path = folder / "wide.py"
    path.write_text(text)
    return ModelWorkload(request_of(model="wide", batch_size=8, **changes), model_module("wide", str(path)), {})


def maker_of(builder: str) -> SimpleNamespace:
    """Stand for a builder, with the features that its file names."""
    named = offers(builder)
    return SimpleNamespace(start=lambda workload: workload, **({} if named is None else {"OFFERS": named}))


@pytest.mark.parametrize("builder", builders())
@pytest.mark.parametrize(("text", "name"), MODELS, ids=NAMES)
def test_builder_names_the_feature_it_lacks(tmp_path: Path, builder: str, text: str, name: str) -> None:
    trains = "training" in features.offered(maker_of(builder))
    workload = workload_of(tmp_path, text, mode="train", builder=builder)

    with pytest.raises(Unsupported) as failure:
        definitions.start(maker_of(builder), workload)

    assert str(failure.value) == f"{builder} lacks {name if trains else 'training'}"


@pytest.mark.parametrize(("text", "name"), MODELS, ids=NAMES)
def test_lacking_feature_ends_as_unsupported(tmp_path: Path, io: Callable[..., Path], text: str, name: str) -> None:
    folder = io(model="wide", model_file="wide.py", batch_size=8)
    (folder / "wide.py").write_text(text)

    ended = start("--io", str(folder))

    assert (ended.returncode, ended.stderr) == (3, f"noop lacks {name}\n")


def test_new_optimizer_is_not_taken_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(optimizers.DEFAULTS, "lamb", {})
    workload = workload_of(tmp_path, PLAIN.replace('"sgd"', '"lamb"'), mode="train")

    with pytest.raises(Unsupported, match="noop lacks optimizer lamb"):
        definitions.start(maker_of("noop"), workload)


def test_offered_feature_reaches_the_builder(tmp_path: Path) -> None:
    """A builder that has a feature adds it to the common ones, and nothing else changes."""
    workload = workload_of(tmp_path, TWO_INPUTS, mode="train")
    maker = SimpleNamespace(start=lambda asked: asked.inputs, OFFERS=features.COMMON | {"several inputs"})

    inputs = definitions.start(maker, workload)

    assert [(each.name, each.shape) for each in inputs] == [("inputs", (4,)), ("other", (5,))]
    walk, _ = graph.places(workload.layers)
    assert [taken for taken, _ in walk[:2]] == [(0,), (1,)]


def test_inference_needs_neither_loss_nor_training(tmp_path: Path) -> None:
    workload = workload_of(tmp_path, OTHER_LOSS, mode="infer")

    assert definitions.start(SimpleNamespace(start=lambda asked: asked, OFFERS=("layer dense",)), workload) is workload
    workload.training = True
    with pytest.raises(CannotTrain):
        definitions.start(SimpleNamespace(OFFERS=("layer dense",)), workload)
