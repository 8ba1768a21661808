# ruff: noqa: E501 — each message stands on one line, as it is printed
"""The layers of a model, read from its file: what is counted, what is refused, and what is left to the container."""

import ast
import re
from pathlib import Path

import pytest

from benchmarks.models.convolutional import cnn, lenet, vgg19
from benchmarks.models.dense import mlp
from benchmarks.models.recurrent import bilstm, lstm
from benchmarks.models.residual import resnet20
from benchmarks.vocabulary import counting
from benchmarks.vocabulary import layers as vocabulary
from orchestrator.catalog import load_models, own_models
from orchestrator.catalog.model_files.layers import layers
from orchestrator.resources import BENCHMARKS

HEAD = """TITLE = "M"
INPUT_SHAPE = (1, 8, 8)
CLASSES = 10
BATCH_SIZE = 8
SAMPLES = 64
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1}
"""
BUILD = "def build(net):\n    x = net.flatten(net.input(*INPUT_SHAPE))\n"
SHIPPED = load_models(BENCHMARKS / "models")


def mistakes(folder: Path, text: str) -> list[str]:
    (folder / "wide.py").write_text(text)
    _, found = own_models(folder, SHIPPED, "mine")
    return list(found.values())


@pytest.mark.parametrize("model", [bilstm, cnn, lenet, lstm, mlp, resnet20, vgg19], ids=lambda each: each.TITLE)
def test_shipped_models_count_as_in_the_container(model: object) -> None:
    """The reading of the text and a run of the function agree on every model that ships."""
    recorded = vocabulary.record(model.build)  # type: ignore[attr-defined]
    info = SHIPPED[model.__name__.rpartition(".")[2]]  # type: ignore[attr-defined]

    assert info.multiply_adds == counting.multiply_adds(recorded) > 0
    assert info.parameters == counting.parameters(recorded)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"name": "adagrad"', "OPTIMIZER: no optimizer 'adagrad'; there are adadelta, adam, rmsprop, sgd"),
        ('"nesterov": True, "name": "sgd"', "OPTIMIZER: optimizer 'sgd' has no setting 'nesterov'; it has learning_rate, momentum, decay"),
        ('"momentum": "high", "name": "sgd"', "OPTIMIZER: setting 'momentum' of optimizer 'sgd' is a number, not 'high'"),
        ('"decay": -1, "name": "sgd"', "OPTIMIZER: setting 'decay' of optimizer 'sgd' is 0 or more, not -1"),
    ],
)  # fmt: skip
def test_an_unknown_optimizer_or_setting_is_refused(tmp_path: Path, line: str, message: str) -> None:
    text = HEAD.replace('"name": "sgd"', line) + BUILD + "    return net.dense(x, CLASSES)\n"

    assert mistakes(tmp_path, text) == [f"mine/wide.py:6:13: not a model: {message}"]


def test_an_unknown_loss_is_refused(tmp_path: Path) -> None:
    text = HEAD + 'LOSS = "hinge"\n' + BUILD + "    return net.dense(x, CLASSES)\n"

    (mistake,) = mistakes(tmp_path, text)

    line = text.splitlines().index('LOSS = "hinge"') + 1
    message = "LOSS: no loss 'hinge'; there are mean_squared_error, next_token, softmax_cross_entropy"
    assert mistake == f"mine/wide.py:{line}:8: not a model: {message}"


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("    return net.dense(x, CLASSES, bais=False)\n", 9, "dense() got an unexpected keyword argument 'bais'"),
        ("    return net.dense(x)\n", 9, "dense() missing 1 required positional argument: 'units'"),
        ("    for units in (32, 16):\n        x = net.swish(net.dense(x, units))\n    return x\n", 10, "net has no 'swish'; there is add, attention, average_pool, batch_norm, concatenate, conv2d, dense, dropout, embedding, first_step, flatten, gelu, global_average_pool, gru, input, layer_norm, lstm, max_pool, multiply, positions, relu, repeat, rms_norm, separable_conv2d, sigmoid, silu, softmax, tanh, time_distributed"),
        ("    return net.dense(net.conv2d(net.input(1, 8, 8), 4, 3, padding='full'), 10)\n", 9, "conv2d pads 'valid', 'same' or (top, bottom, left, right), not 'full'"),
        ("    return net.dense(net.conv2d(x, 4, 3), 10)\n", 9, "conv2d of size 3 cannot take the shape (64,)"),
        ("    x = net.input(9, name='rows', kind='sparse', density=0.1)\n    return net.dense(net.relu(x), 10)\n", 10, "relu cannot take sparse rows; put net.dense before it"),
        ("    return net.dense(net.input(9, name='rows', kind='sparse', density=2), 10)\n", 9, "an input of sparse rows, and no other, has a density above 0 and up to 1, as in density=0.01"),
        ("    net.dense(x, 10)\n    return net.dense(x, 10)\n", 7, "nothing takes what dense_1 yields"),
        ("    return x\n", 7, "a model must not return a flattened image, whose order is the layout's: end in dense"),
        ("    return two(net, x)\n\n\ndef two(net, x, units=4):\n    return net.dense(x, units, units, units, units)\n", 13, "dense() takes from 3 to 5 positional arguments but 6 were given"),
        ("    return net.dense(net.repeat(net.dense(x, 4), 9), 10)\n", 7, "softmax_cross_entropy takes flat outputs, not the shape (9, 10)"),
    ],
)  # fmt: skip
def test_what_the_vocabulary_refuses_has_its_line(tmp_path: Path, body: str, line: int, message: str) -> None:
    (mistake,) = mistakes(tmp_path, HEAD + BUILD + body)
    assert re.fullmatch(rf"mine/wide\.py:{line}:\d+: not a model: {re.escape(message)}", mistake)


@pytest.mark.parametrize(
    "body",
    [
        "    while True:\n        x = net.swish(x)\n    return x\n",
        "    return [net.swish(x) for _ in range(2)][-1]\n",
        "    return net.dense(x, units())\n",
        "    for _ in range(10 ** 9):\n        x = net.relu(x)\n    return net.swish(x)\n",
        "    return net.dense(x, 10 ** 10 ** 10)\n",
        "    return net.dense(x, len((0,) * 10 ** 12))\n",
        "    net = Other(net)\n    return net.swish(x)\n",
        "    return again(net, x)\n\n\ndef again(net, x):\n    return again(net, x)\n",
        "    import os\n    return net.swish(x)\n",
        "    global CLASSES\n    return net.swish(x)\n",
        "    try:\n        return net.swish(x)\n    except AttributeError:\n        return net.relu(x)\n",
    ],
)
def test_unfollowed_code_is_left_to_the_container(tmp_path: Path, body: str) -> None:
    """It is no mistake, whatever it holds, and its work is not known."""
    (tmp_path / "wide.py").write_text(HEAD + BUILD + body)
    found, wrong = own_models(tmp_path, SHIPPED, "mine")

    assert wrong == {}
    assert (found["wide"].multiply_adds, found["wide"].parameters) == (None, None)


def test_what_is_followed_is_what_python_does() -> None:
    """One file with everything that is followed, recorded by Python and from its text."""
    text = HEAD + (
        "WIDTHS = tuple([2 ** 3, 4 * 2 + 1]) + (6,)\n"
        "from math import pi\n\n\n"
        "def build(net):\n"
        '    """Everything."""\n'
        "    x, count = net.input(*INPUT_SHAPE), 0\n"
        "    for index, (width, kernel) in enumerate(zip(WIDTHS, (3, 1, 1))):\n"
        "        if index % 2 == 0 and not width < 2 or False:\n"
        "            y = net.conv2d(x, width, kernel=kernel, padding='same' if index else 'valid', bias=index != 0)\n"
        "            x = block(net, y, times=1 + (index > 0))\n"
        "        elif width is None:\n"
        "            pass\n"
        "        else:\n"
        "            x = net.max_pool(x, min(2, x.shape[-1] // 2))\n"
        "        count += -width\n"
        "    x = net.flatten(x)\n"
        "    return net.dense(x, CLASSES if count < -9 else 3)\n\n\n"
        "def block(net, x, times=1, *, rate=0.5):\n"
        "    for _ in reversed(range(times)):\n"
        "        x = net.dropout(net.relu(net.batch_norm(x)), rate)\n"
        "    return net.add(x, net.relu(x))\n"
    )
    names: dict[str, object] = {}
    exec(compile(text, "m", "exec"), names)
    read = layers(ast.parse(text))

    assert read is not None
    assert [tuple(layer) for layer in read] == [tuple(layer) for layer in vocabulary.record(names["build"])]
