"""Every layer of the vocabulary forward and backward, in float64 and NumPy alone: what frameworks are held against.

Written from the conventions in `benchmarks/vocabulary/layers.py`, by definition and not for speed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Backward = Callable[[Array], tuple[list[Array], list[Array]]]
"""Takes the gradient of what a layer yielded; gives those of what it took, and of its parameters."""
Weights = dict[str, Array]


def loss_and_gradients(
    layers: Sequence[Any], weights: Mapping[str, Any], inputs: Any, labels: Any
) -> tuple[float, Weights]:
    """Mean softmax cross-entropy of a batch in training mode (without dropout), and its gradients by parameter name."""
    values, backwards = _forward(layers, weights, inputs, training=True)
    logits = values[-1]
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = float(-np.log(shares[rows, labels]).mean())
    shares[rows, labels] -= 1
    taken: list[Any] = [0.0] * len(values)
    taken[-1] = shares / len(labels)
    gradients: Weights = {}
    for position in range(len(layers), 0, -1):
        layer = layers[position - 1]
        into, own = backwards[position - 1](taken[position])
        for source, gradient in zip(layer.inputs, into, strict=True):
            taken[source] = taken[source] + gradient
        gradients.update((parameter.name, each) for parameter, each in zip(layer.parameters, own, strict=True))
    return loss, gradients


def losses_of_descent(layers: Sequence[Any], weights: Mapping[str, Any], batch: Any, steps: int, rate: float) -> Any:
    """Losses of one batch before and after each of so many plain SGD steps on it."""
    held = {name: np.asarray(value, float) for name, value in weights.items()}
    losses = []
    for _ in range(steps + 1):
        loss, gradients = loss_and_gradients(layers, held, *batch)
        losses.append(loss)
        held = {name: value - rate * gradients[name] for name, value in held.items()}
    return losses


def logits(layers: Sequence[Any], weights: Mapping[str, Any], inputs: Any) -> Array:
    """Logits in evaluation mode, batch norm having its initial running values."""
    return _forward(layers, weights, inputs, training=False)[0][-1]


def _forward(layers: Sequence[Any], weights: Mapping[str, Any], inputs: Any, *, training: bool) -> Any:
    values = [np.asarray(inputs, float)]
    backwards = []
    for layer in layers:
        taken = [values[position] for position in layer.inputs]
        own = [np.asarray(weights[parameter.name], float) for parameter in layer.parameters]
        run = _evaluated_batch_norm if layer.kind == "batch_norm" and not training else _KINDS[layer.kind]
        value, backward = run(layer.settings, taken, own)
        values.append(value)
        backwards.append(backward)
    return values, backwards


def _conv2d(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    (x,), weight, stride = taken, own[0], settings["stride"]
    size, _, channels, filters = weight.shape
    top, bottom, left, right = settings["pads"]
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(2, 3))[:, :, ::stride, ::stride]
    n, _, height, width = windows.shape[:4]
    columns = windows.transpose(0, 2, 3, 4, 5, 1).reshape(n * height * width, -1)
    matrix = weight.reshape(-1, filters)
    rows = columns @ matrix + (own[1] if settings["bias"] else 0.0)

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        flat = gradient.transpose(0, 2, 3, 1).reshape(-1, filters)
        spread = (flat @ matrix.T).reshape(n, height, width, size, size, channels)
        into = np.zeros(padded.shape)
        for i in range(size):
            for j in range(size):
                place = np.s_[:, :, i : i + height * stride : stride, j : j + width * stride : stride]
                into[place] += spread[:, :, :, i, j].transpose(0, 3, 1, 2)
        into = into[:, :, top : top + x.shape[2], left : left + x.shape[3]]
        parts = [(columns.T @ flat).reshape(weight.shape), flat.sum(axis=0)]
        return [into], parts[: len(own)]

    return rows.reshape(n, height, width, filters).transpose(0, 3, 1, 2), backward


def _dense(_settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    (x,), (weight, bias) = taken, own
    return x @ weight + bias, lambda gradient: ([gradient @ weight.T], [x.T @ gradient, gradient.sum(axis=0)])


def _max_pool(settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    (x,), size, stride = taken, settings["size"], settings["stride"]
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))[:, :, ::stride, ::stride]
    greatest = windows.reshape(*windows.shape[:4], -1)
    chosen = greatest.argmax(axis=-1)

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        n, c, y, z = np.indices(chosen.shape)
        into = np.zeros(x.shape)
        np.add.at(into, (n, c, y * stride + chosen // size, z * stride + chosen % size), gradient)
        return [into], []

    return greatest.max(axis=-1), backward


def _average_pool(settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    (x,), size = taken, settings["size"]
    n, channels, height, width = x.shape[0], x.shape[1], x.shape[2] // size, x.shape[3] // size
    kept = x[:, :, : height * size, : width * size]

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        into = np.zeros(x.shape)
        into[:, :, : height * size, : width * size] = np.kron(gradient, np.ones((size, size))) / size**2
        return [into], []

    return kept.reshape(n, channels, height, size, width, size).mean(axis=(3, 5)), backward


def _global_average_pool(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    (x,) = taken
    area = x.shape[2] * x.shape[3]
    return x.mean(axis=(2, 3)), lambda gradient: ([np.ones(x.shape) * gradient[:, :, None, None] / area], [])


def _batch_norm(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    (x,) = taken
    over = (0, 2, 3)[: x.ndim - 1] if x.ndim == 4 else (0,)
    scale, shift = (_per_channel(each, x) for each in own)
    deviation = np.sqrt(x.var(axis=over, keepdims=True) + settings["epsilon"])
    normal = (x - x.mean(axis=over, keepdims=True)) / deviation

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        inner = gradient * scale
        mean, along = inner.mean(axis=over, keepdims=True), (inner * normal).mean(axis=over, keepdims=True)
        return [(inner - mean - normal * along) / deviation], [
            (gradient * normal).sum(axis=over),
            gradient.sum(axis=over),
        ]

    return normal * scale + shift, backward


def _evaluated_batch_norm(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Any]:
    scale, shift = (_per_channel(each, taken[0]) for each in own)
    return taken[0] / np.sqrt(1 + settings["epsilon"]) * scale + shift, None


def _per_channel(values: Array, x: Array) -> Array:
    return values.reshape((-1,) + (1,) * (x.ndim - 2))


def _add(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    return taken[0] + taken[1], lambda gradient: ([gradient, gradient], [])


def _lstm(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    (x,), (weight, recurrent, bias) = taken, own
    n, time, _ = x.shape
    h, c = (np.zeros((n, settings["units"])) for _ in range(2))
    outputs, kept = [], []
    for step in range(time):
        i, f, g, o = np.split(x[:, step] @ weight + h @ recurrent + bias, 4, axis=1)
        i, f, o, g = _sigmoid(i), _sigmoid(f), _sigmoid(o), np.tanh(g)
        kept.append((i, f, g, o, h, c))
        c = f * c + i * g
        h = o * np.tanh(c)
        outputs.append((h, c))

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        into, parts = np.zeros(x.shape), [np.zeros(each.shape) for each in own]
        to_h, to_c = np.zeros_like(h), np.zeros_like(c)
        for step in range(time - 1, -1, -1):
            i, f, g, o, before_h, before_c = kept[step]
            squashed = np.tanh(outputs[step][1])
            if settings["sequences"]:
                to_h = to_h + gradient[:, step]
            elif step == time - 1:
                to_h = to_h + gradient
            to_c = to_c + to_h * o * (1 - squashed**2)
            gates = np.concatenate(
                [to_c * g * i * (1 - i), to_c * before_c * f * (1 - f), to_c * i * (1 - g**2),
                 to_h * squashed * o * (1 - o)], axis=1,
            )  # fmt: skip
            into[:, step] = gates @ weight.T
            shares = (x[:, step].T @ gates, before_h.T @ gates, gates.sum(axis=0))
            parts = [part + share for part, share in zip(parts, shares, strict=True)]
            to_h, to_c = gates @ recurrent.T, to_c * f
        return [into], parts

    every = np.stack([each for each, _ in outputs], axis=1)
    return every if settings["sequences"] else h, backward


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _flatten(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    (x,) = taken
    return x.reshape(len(x), -1), lambda gradient: ([gradient.reshape(x.shape)], [])


def _relu(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    (x,) = taken
    return np.maximum(x, 0), lambda gradient: ([gradient * (x > 0)], [])


def _dropout(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    return taken[0], lambda gradient: ([gradient], [])


_KINDS: dict[str, Callable[[Any, list[Array], list[Array]], tuple[Array, Backward]]] = {
    "conv2d": _conv2d,
    "dense": _dense,
    "max_pool": _max_pool,
    "average_pool": _average_pool,
    "global_average_pool": _global_average_pool,
    "batch_norm": _batch_norm,
    "add": _add,
    "lstm": _lstm,
    "flatten": _flatten,
    "relu": _relu,
    "dropout": _dropout,
}
