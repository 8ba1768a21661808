"""Two networks under one name, whose sizes differ and whose speeds are compared as those of frameworks."""

from typing import Any

import pytest
from counted_sessions import request_of

from benchmarks.errors import Failure
from benchmarks.frameworks import noop
from benchmarks.models.convolutional import mnist_cnn, vgg19
from benchmarks.models.residual import resnet50, resnet56
from benchmarks.timing import timed
from benchmarks.vocabulary import counting, layers
from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.analysis.parity.work import WorkParity, pair
from orchestrator.domain import Mode
from orchestrator.results.parity.contract import NativeLayer
from tests.unit.analysis.parity_results import MXNET, TORCH, side

RATE = 398_136_320_000
"""Multiply-adds per second that both frameworks reach."""


def pooled_by_three(net: Any) -> Any:
    """Build VGG-19 with pools of size 3 in place of 2, which lose a row and a column at every stage."""
    x = net.input(*vgg19.INPUT_SHAPE)
    for filters, convolutions in ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4)):
        for _ in range(convolutions):
            x = net.relu(net.batch_norm(net.conv2d(x, filters, 3, padding="same")))
        x = net.max_pool(x, 3, 2) if x.shape[1] > 2 else x
    return net.dense(net.flatten(x), vgg19.CLASSES)


def ported(net: Any) -> Any:
    """Build the CNN of MNIST with kernels as large as the image, and without its pool."""
    x = net.relu(net.conv2d(net.input(*mnist_cnn.INPUT_SHAPE), 32, 28, padding="same"))
    x = net.relu(net.conv2d(x, 64, 28, padding="same"))
    return net.dense(net.relu(net.dense(net.flatten(x), 128)), mnist_cnn.CLASSES)


def answered(framework: Any, recorded: Any) -> ParitySide:
    """Answer as a framework that made these layers."""
    made = tuple(
        NativeLayer(name=each.name, shape=tuple(each.output_shape), parameters=counting.parameters([each]))
        for each in recorded
    )
    count = counting.parameters(recorded)
    return side(framework, layers=made, counted=made, parameters=count, counted_parameters=count)


ONE, OTHER = layers.record(vgg19.build), layers.record(pooled_by_three)


def test_a_smaller_network_wins_by_its_size() -> None:
    adds = [counting.multiply_adds(each) for each in (ONE, OTHER)]
    images_per_s = [RATE / each for each in adds]

    assert images_per_s[1] / images_per_s[0] == pytest.approx(1.45, abs=0.005), "wrong: as fast at equal work"
    assert [round(each / 1e6) for each in adds] == [398, 274]
    assert counting.parameters(ONE) == counting.parameters(OTHER), "parameters do not tell them apart"


def test_unequal_networks_are_not_comparable() -> None:
    found = pair(answered(TORCH, ONE), answered(MXNET, OTHER), Mode.TRAIN)

    assert found.work is WorkParity.NOT_COMPARABLE
    assert found.reason.startswith("max_pool_1 yields 64×16×16 in torch 2.13.0, 64×15×15 in mxnet 1.9.1")


def test_equal_networks_are_the_same_work() -> None:
    assert pair(answered(TORCH, ONE), answered(MXNET, ONE), Mode.TRAIN).work is WorkParity.SAME


def test_a_port_with_other_kernels_is_not_comparable() -> None:
    right, port = layers.record(mnist_cnn.build), layers.record(ported)
    found = pair(answered(TORCH, right), answered(MXNET, port), Mode.TRAIN)

    assert counting.multiply_adds(port) / counting.multiply_adds(right) == pytest.approx(107.1, abs=0.1), "wrong"
    assert found.work is WorkParity.NOT_COMPARABLE
    assert found.reason.startswith("conv2d_1 yields 32×26×26 in torch 2.13.0, 32×28×28 in mxnet 1.9.1")


def test_a_label_is_held_to_its_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows said ResNet-50, and a ResNet-56 of forty times fewer multiply-adds was trained."""
    large, small = layers.record(resnet50.build), layers.record(resnet56.build)
    assert counting.multiply_adds(large) / counting.multiply_adds(small) == pytest.approx(39.85, abs=0.01), "wrong"

    class Mislabelled(type(noop.start(None))):  # type: ignore[misc]
        parameters = counting.parameters(small)

    monkeypatch.setattr(noop, "start", lambda _workload: Mislabelled())
    with pytest.raises(Failure, match="the framework made 857706 parameters of a model that has 25583592"):
        timed.execute(request_of(model="resnet50", batch_size=16), lambda _phase: None)
