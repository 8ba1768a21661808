"""The models against the studies that published them: parameters, multiply-adds and layers."""

import importlib
import json
import pkgutil
from collections import Counter

import pytest
from test_sessions import Environment, said

from benchmarks import models, own_models
from benchmarks.vocabulary import counting, layers, losses
from orchestrator.catalog.model_files.models import load_models
from orchestrator.resources import BENCHMARKS


def v1(blocks: int, dense: int) -> int:
    """Weights, biases, and scale and shift of each convolution of Keras' ResNet v1; two shortcuts without the latter.

    A convolution of size k from i to o filters has k * k * i * o + o weights, and batch norm 2 * o.
    """
    total = 9 * 3 * 16 + 3 * 16
    for inner, outer in ((16, 16), (16, 32), (32, 64)):
        total += 9 * inner * outer + 3 * outer + (2 * blocks - 1) * (9 * outer * outer + 3 * outer)
        total += inner * outer + outer if inner != outer else 0
    return total + dense


def v2(blocks: int) -> int:
    """The same of v2, whose batch norm is as wide as what a convolution takes, and whose first bottleneck lacks one."""
    total = 9 * 3 * 16 + 3 * 16
    for taken, narrow, wide in ((16, 16, 64), (64, 64, 128), (128, 128, 256)):
        for block in range(blocks):
            given = wide if block else taken
            total += given * narrow + narrow + 9 * narrow * narrow + narrow + narrow * wide + wide
            total += 2 * (given + 2 * narrow) + (0 if block else given * wide + wide)
    return total - 2 * 16 + 2 * 256 + 256 * 10 + 10


PUBLISHED = {
    "lenet": (60_170, 231_720),
    "mlp": (1_177_576, 1_175_552),
    "cnn": (203_434, 11_190_528),
    "lstm": (104_508, 3_857_920),
    "resnet20": (272_474, 40_813_184),
    "vgg19": (20_040_522, 398_136_320),
    # Keras prints 25 636 712, of which 53 120 are running values.
    "resnet50": (25_583_592, 5_011_308_544),
    # torchvision's count, and the 4.09 · 10⁹ multiply-adds that are published of it.
    "resnet50_v1_5": (25_557_032, 4_089_184_256),
    # 4 gates of (57 + 128) * 128 and a bias, and 128 * 57 + 57.
    "char_lstm": (4 * ((57 + 128) * 128 + 128) + 129 * 57, 40 * 4 * (57 + 128) * 128 + 128 * 57),
    # Keras prints 274 442 and 861 770 for depths of 20 and 56, of which 1376 and 4064 are running values.
    "resnet20_l2": (274_442 - 1_376, 40_813_184),
    "resnet56": (861_770 - 4_064, 125_747_840),
    "resnet110": (v1(18, 650), 253_149_824),
    "resnet20_v2": (v2(2), 66_243_072),
    "resnet56_v2": (v2(6), 193_120_768),
    "resnet110_v2": (v2(12), 383_437_312),
    # The same convolutions on 64 times the area, and 64 * 8 * 8 features to 1000 classes.
    "resnet56_images": (v1(9, 4096 * 1000 + 1000), (125_747_840 - 640) * 64 + 4096 * 1000),
    "gluon_cnn": (
        25 * 20 + 20 + 25 * 20 * 50 + 50 + 800 * 512 + 512 + 5130,
        500 * 24**2 + 25_000 * 8**2 + 409_600 + 5120,
    ),
    # 100 of 10 000 features of a row have an entry.
    "sparse_regression": (10_001, 100),
    "fashion_mlp": (101_770, 784 * 128 + 1280),
    "cifar_cnn": (1_250_858, 20_741_120),
    "mnist_cnn": (1_199_882, 288 * 26**2 + 18_432 * 24**2 + 9216 * 128 + 1280),
    "mnist_mlp": (669_706, 784 * 512 + 512 * 512 + 5120),
    # Each of 28 rows runs over 28 pixels of one value, and the second LSTM over 28 rows.
    "hierarchical_rnn": (66_560 + 131_584 + 1_290, 28 * 28 * 4 * 129 * 128 + 28 * 4 * 256 * 128 + 1280),
    # Twice 36 * 50, twice 4 * (100 * 50 + 50), and 50 * 36 + 36; a question of 5 and a story of 552 words.
    "babi_rnn": (3_600 + 2 * 20_200 + 1_836, 557 * 4 * 100 * 50 + 1_800),
    # 3 gates of (60 + 32) * 32 and a bias, and 32 * 60 + 60.
    "gru": (3 * (92 * 32 + 32) + 33 * 60, 40 * 3 * 92 * 32 + 1920),
    # Keras prints 2 757 761 with one output of 128 features, where there are two here: 20 000 * 128, twice two LSTMs
    # of 4 * ((128 + 64) * 64 + 64), and 128 * 2 + 2.
    "bilstm": (2_757_761 + 129, 200 * 4 * 4 * (128 + 64) * 64 + 128 * 2),
    "vgg16": (138_357_544, 15_470_264_320),
    # Keras prints 22 910 480, of which 54 528 are running values.
    "xception": (22_910_480 - 54_528, 8_357_403_496),
    # Google prints 4 385 920 of BERT-Tiny, with 384 more positions, 2 segments, and without the 3 * 128 + 3 of a head.
    # Four products of 128 steps, two in a block of 512, the scores and sums of all pairs, then the pooler and the head.
    "encoder": (
        4_385_920 - 386 * 128 + 387,
        2 * (128 * (4 * 128**2 + 2 * 128 * 512) + 2 * 128**2 * 128) + 128**2 + 384,
    ),
    # Llama's shape: twice 4096 * 128, four matrices with half of the keys and values, three of 512, five norms.
    "decoder": (
        2 * 4096 * 128 + 2 * (3 * 128**2 + 3 * 128 * 512) + 5 * 128,
        2 * (64 * (3 * 128**2 + 3 * 128 * 512) + 2 * 64**2 * 128) + 64 * 128 * 4096,
    ),
}


def test_every_model_has_its_published_counts() -> None:
    assert set(PUBLISHED) == {each.name for each in pkgutil.iter_modules(models.__path__) if not each.ispkg}


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_and_multiply_adds_are_those_published(name: str) -> None:
    model = importlib.import_module(f"benchmarks.models.{name}")
    recorded = own_models.record(model).layers

    assert (counting.parameters(recorded), counting.multiply_adds(recorded)) == PUBLISHED[name]
    assert recorded[-1].output_shape[-1] == model.CLASSES


def test_host_counts_every_model_as_the_container_does() -> None:
    counted = {name: (info.parameters, info.multiply_adds) for name, info in load_models(BENCHMARKS / "models").items()}

    assert counted == PUBLISHED


@pytest.mark.parametrize("name", ["resnet20_l2", "resnet56", "resnet110_v2", "resnet56_images"])
def test_resnet_convolutions_have_their_l2_term(name: str) -> None:
    """Every convolution of a CIFAR ResNet has its L2 term."""
    recorded = layers.record(importlib.import_module(f"benchmarks.models.{name}").build)

    convolutions = [layer.parameters[0].name for layer in recorded if layer.kind == "conv2d"]
    assert losses.l2_terms(recorded) == [(convolution, 1e-4) for convolution in convolutions]


@pytest.mark.frameworks
@pytest.mark.slow
@pytest.mark.parametrize("environment", ["tensorflow"], indirect=True)
@pytest.mark.parametrize(
    ("name", "application"), [("vgg16", "VGG16"), ("xception", "Xception"), ("resnet50", "ResNet50")]
)
def test_layers_are_those_of_keras(environment: Environment, name: str, application: str) -> None:
    """Every trained tensor of Keras' own definition is one of ours, by its shape, and none is left over."""
    recorded = layers.record(importlib.import_module(f"benchmarks.models.{name}").build)
    theirs = said(environment, "keras_application.py", application)

    ours = [list(parameter.shape) for layer in recorded for parameter in layer.parameters]
    assert Counter(map(json.dumps, ours)) == Counter(map(json.dumps, theirs))
