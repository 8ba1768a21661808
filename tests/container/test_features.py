"""A model may ask for more than builders have: each answers with the name of what it lacks."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from container_support import document, offers, request_of, start

from benchmarks import definitions
from benchmarks.errors import CannotTrain, Unsupported
from benchmarks.vocabulary import features, graph, losses, optimizers
from benchmarks.vocabulary.layers import Net
from benchmarks.workload import ModelWorkload, model_module
from orchestrator.catalog.model_files.definitions import builders
from orchestrator.resources import BENCHMARKS
from tests.documented import whole

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
INTEGERS = PLAIN.replace(
    "net.dense(net.input(*INPUT_SHAPE), CLASSES)",
    'net.dense(net.lstm(net.embedding(net.input(4, kind="integer", vocabulary=9), 5), 6), CLASSES)',
)
SPARSE = PLAIN.replace("net.input(*INPUT_SHAPE)", 'net.input(4, kind="sparse", density=0.5)')
OTHER_LOSS = PLAIN.replace("def build", 'LOSS = "mean_squared_error"\ndef build')
MODELS = [
    (TWO_INPUTS, "several inputs"),
    (INTEGERS, "integer inputs, layer embedding"),
    (SPARSE, "sparse inputs"),
    (OTHER_LOSS, "loss mean_squared_error"),
    (PLAIN.replace('"sgd"', '"adadelta"'), "optimizer adadelta"),
    (PLAIN.replace("0.1}", '0.1, "decay": 1e-6}'), "learning-rate decay"),
    (PLAIN.replace("CLASSES)\n", "CLASSES, l2=1e-4)\n"), "L2 terms"),
    (PLAIN.replace("net.dense(", "net.dense(net.tanh(").replace(", CLASSES)", "), CLASSES)"), "layer tanh"),
]
NAMES = ["two", "integers", "sparse", "loss", "adadelta", "decay", "l2", "tanh"]
PADDED = """
def build(net):
    x = net.{layer}
    return net.dense(net.global_average_pool(x), CLASSES)
"""


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
    offered = features.offered(maker_of(builder))
    workload = workload_of(tmp_path, text, mode="train", builder=builder)
    if set(features.needed(workload)) <= offered:
        assert definitions.start(maker_of(builder), workload) is workload
        return

    with pytest.raises(Unsupported) as failure:
        definitions.start(maker_of(builder), workload)

    assert str(failure.value) == f"{builder} lacks {name if 'training' in offered else 'training'}"


@pytest.mark.parametrize(("text", "name"), MODELS, ids=NAMES)
def test_builder_without_offers_has_the_common_ones(tmp_path: Path, text: str, name: str) -> None:
    workload = workload_of(tmp_path, text, mode="train", builder="mine")

    with pytest.raises(Unsupported, match=f"mine lacks {name}$"):
        definitions.start(SimpleNamespace(start=lambda asked: asked), workload)


@pytest.mark.parametrize(
    ("layer", "name"),
    [
        ("conv2d(net.input(1, 4, 4), 2, 3, padding=(1, 0, 1, 0))", "explicit pads"),
        ("max_pool(net.input(1, 4, 4), 3, 2, padding='same')", "padded pools"),
        ("conv2d(net.input(1, 4, 4), 2, 3, padding='same')", None),
        ("max_pool(net.input(1, 4, 4), 2)", None),
    ],
)
def test_pads_that_few_have_are_features(tmp_path: Path, layer: str, name: str | None) -> None:
    workload = workload_of(tmp_path, HEAD + PADDED.format(layer=layer), mode="infer")

    assert set(features.needed(workload)) - features.COMMON == ({name} if name else set())


GATED = """
def build(net):
    return net.dense(net.gru(net.input(4, 3), 5, reset_after={reset_after}), CLASSES)
"""


@pytest.mark.parametrize(("reset_after", "more"), [(True, set()), (False, {"GRU without reset_after"})])
def test_gru_that_few_have_is_a_feature(tmp_path: Path, reset_after: bool, more: set[str]) -> None:
    workload = workload_of(tmp_path, HEAD + GATED.format(reset_after=reset_after), mode="infer")

    assert set(features.needed(workload)) - features.COMMON == {"layer gru"} | more


@pytest.mark.parametrize(("bidirectional", "more"), [(False, set()), (True, {"bidirectional LSTM"})])
def test_bidirectional_lstm_is_a_feature(tmp_path: Path, bidirectional: bool, more: set[str]) -> None:
    build = GATED.replace("gru", "lstm").replace("reset_after={reset_after}", f"bidirectional={bidirectional}")
    workload = workload_of(tmp_path, HEAD + build, mode="infer")

    assert set(features.needed(workload)) - features.COMMON == more


def test_all_features_are_those_of_the_vocabulary() -> None:
    """A new layer, loss or optimizer that nobody names would be unsupported everywhere."""
    layers = {name for name in dir(Net) if not name.startswith("_")} - {"input"}

    assert {name for name in features.ALL if name.startswith("layer ")} == {f"layer {name}" for name in layers}
    assert {f"loss {name}" for name in losses.NAMES} <= features.ALL
    assert {f"optimizer {name}" for name in optimizers.DEFAULTS} <= features.ALL


def test_lacking_feature_ends_as_unsupported(tmp_path: Path) -> None:
    shutil.copytree(BENCHMARKS, tmp_path / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "benchmarks" / "frameworks" / "mine.py").write_text("OPTIONS = {}\nstart = None\n")
    asked = document(model="wide", model_file="wide.py", batch_size=8, builder="mine")
    (tmp_path / "request.json").write_text(json.dumps(asked))
    (tmp_path / "wide.py").write_text(TWO_INPUTS)

    ended = start("--io", str(tmp_path), path=tmp_path)

    assert (ended.returncode, ended.stderr) == (3, "mine lacks several inputs\n")


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


def documented(cell: str) -> frozenset[str]:
    """Return the features that a row of the table says a builder lacks, which it names before a semicolon."""
    lacks = cell.partition(";")[0]
    named = frozenset(re.findall("`([^`]+)`", lacks))
    assert named <= features.ALL, lacks
    return features.ALL - named if lacks.startswith("all but ") else named


def test_the_table_of_what_builders_lack_is_true() -> None:
    """A builder may be missing from the table, as a new framework needs no edit of a page."""
    section = whole("models.md").split("\n## Features")[1].split("\n## ")[0]
    rows = [row.split(" | ") for row in re.findall(r"^\| (`.*) \|$", section, re.MULTILINE)]
    shown = {builder: documented(cell) for names, cell in rows for builder in re.findall(r"`(\w+)`", names)}

    assert shown
    assert shown == {builder: features.ALL - features.offered(maker_of(builder)) for builder in shown}
