"""Unequal models that are planted into a framework, which parity has to tell apart."""

import shutil
from pathlib import Path

import pytest
from container_support import Check
from tensors_apart import apart

from orchestrator.analysis.parity import layers as layer_checks
from orchestrator.domain import ImageSpec
from orchestrator.resources import BENCHMARKS
from orchestrator.runtimes.model import Ready

PLANTED = """
import copy
import padded as model
from benchmarks.vocabulary import layers
from benchmarks.frameworks import {real} as real
OPTIONS = real.OPTIONS
def start(workload):
    other = copy.copy(workload)
    {plant}
    session = real.start(other)
    {after}
    return session
"""
PADDED = """
TITLE, INPUT_SHAPE, CLASSES, BATCH_SIZE, SAMPLES = "Padded", (1, 8, 8), 4, 32, 1024
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}
def build(net, filters=5, normalised=True):
    x = net.conv2d(net.input(*INPUT_SHAPE), filters, 3, stride=2, padding="same")
    x = net.relu(net.batch_norm(x) if normalised else x)
    return net.dense(net.flatten(x), CLASSES)
"""
SHIFTED = (
    "other.layers = tuple(each._replace(settings=dict(each.settings, pads=(1, 0, 1, 0))) if 'pads' in each.settings "
    "else each for each in other.layers)"
)
SHIFTED_IN_KERAS = """
    import tensorflow
    from benchmarks.native.tensorflow import LAYERS, Builder
    def shifted(self, asked):
        pad = LAYERS.ZeroPadding2D(((1, 0), (1, 0)), **self._format)
        names = dict(self._format, strides=asked["stride"], use_bias=asked["bias"])
        return tensorflow.keras.Sequential([pad, LAYERS.Conv2D(asked["filters"], asked["kernel"], **names)])
    Builder._conv2d = shifted
"""
"""TensorFlow's `same` is what the vocabulary means by it, so its builder hands no pads on that could be planted."""


ONE_SAMPLE = """if not other.training:
        step, fetch = session.step, session.fetch
        session.step = lambda batch: step((batch[0][:1], batch[1]) if isinstance(batch, tuple) else batch[:1])
        session.fetch = lambda handle: fetch(handle).repeat(other.batch_size, axis=0)"""
"""Inference that computes one sample of a batch and yields it for all: right in shape, finite, many times as fast."""


PLANTED_IN_IMAGES = pytest.mark.slow_in("torch")
"""`tests/docker/test_run_parity.py` has these faults in images of PyTorch."""


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("plant", "shows"),
    [
        ("pass", set()),
        pytest.param(
            "other.layers = layers.record(lambda net: model.build(net, filters=6))",
            {"parameters", "layers"},
            marks=PLANTED_IN_IMAGES,
        ),
        pytest.param(
            "other.layers = layers.record(lambda net: model.build(net, normalised=False))",
            {"parameters", "layers"},
            marks=PLANTED_IN_IMAGES,
        ),
        pytest.param(SHIFTED, {"first loss", "gradients", "inferred"}, marks=PLANTED_IN_IMAGES),
        pytest.param("other.seed += 1", {"first loss", "gradients", "weights", "inferred"}, marks=PLANTED_IN_IMAGES),
        (ONE_SAMPLE, {"inferred"}),
    ],
    ids=["nothing", "one more filter", "no batch norm", "other padding", "other initialisation", "one sample of many"],
)
def test_an_unequal_model_is_told_apart(
    check: Check, environment: tuple[ImageSpec, Ready], tmp_path: Path, plant: str, shows: set[str]
) -> None:
    folder = tmp_path / "source"
    shutil.copytree(BENCHMARKS, folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    builder = environment[0].environment.builder
    pads_itself = plant == SHIFTED and builder == "tensorflow"
    before, after = ("pass", plant) if plant == ONE_SAMPLE else (plant, "pass")
    before = SHIFTED_IN_KERAS.strip() if pads_itself else before
    text = PLANTED.format(real=builder, plant=before, after=after)
    (folder / "benchmarks" / "frameworks" / "planted.py").write_text(text)
    for place in (tmp_path, folder):
        (place / "padded.py").write_text(PADDED)

    true = check("padded", model_file="padded.py")
    planted = check("padded", path=folder, model_file="padded.py", builder="planted")

    assert true.layers == true.counted == planted.counted
    found = set()
    if planted.parameters != true.parameters:
        found.add("parameters")
    if planted.layers != planted.counted:
        found.add("layers")
    if not found:
        if planted.first_loss != pytest.approx(true.first_loss, rel=1e-5):
            found.add("first loss")
        for what in ("weights", "gradients"):
            theirs = {name: each.model_dump() for name, each in getattr(true, what).items()}
            if any(apart(each, theirs[name], 1e-3) > 0.1 for name, each in getattr(planted, what).items()):
                found.add(what)
        assert true.inferred is not None
        assert planted.inferred is not None
        if apart(planted.inferred, true.inferred.model_dump()) > 1e-4:
            found.add("inferred")
    assert found == shows


DEAF = """
from benchmarks.frameworks import {real} as real
OPTIONS = real.OPTIONS
def start(workload):
    layers = tuple({change} for each in workload.layers)
    workload.layers, asked = layers, workload.layers
    session = real.start(workload)
    workload.layers = asked
    return session
"""
"""A builder that leaves out one dropout of two, whatever its rate."""


@pytest.mark.frameworks
@pytest.mark.usefixtures("training")
@pytest.mark.parametrize("left_out", [(), ("dropout_2",)], ids=["nothing", "one"])
def test_dropout_that_drops_nothing_is_recognised(
    check: Check, environment: tuple[ImageSpec, Ready], tmp_path: Path, left_out: tuple[str, ...]
) -> None:
    """A dropout that drops nothing is distinguished from one that does drop."""
    folder = tmp_path / "source"
    shutil.copytree(BENCHMARKS, folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    builder = environment[0].environment.builder
    change = f"each._replace(settings=dict(rate=0.0)) if each.name in {left_out!r} else each"
    (folder / "benchmarks" / "frameworks" / "deaf.py").write_text(DEAF.format(real=builder, change=change))

    answer = check("mlp", path=folder, batch_size=32, builder="deaf")

    assert {name: seen.rate for name, seen in answer.dropouts.items()} == {"dropout_1": 0.2, "dropout_2": 0.2}
    apart = {name: max(seen.losses) / min(seen.losses) - 1 for name, seen in answer.dropouts.items()}
    # Ten times the bar of the verdict on either side of it.
    assert [name for name, each in apart.items() if each < 10 * layer_checks.ROUNDING] == list(left_out)
    assert all(apart[name] < layer_checks.ROUNDING / 10 for name in left_out)
