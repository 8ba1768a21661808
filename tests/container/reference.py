"""Every layer of the vocabulary forward and backward, in float64 and NumPy alone: what frameworks are held against.

Written from the conventions in `benchmarks/vocabulary/layers.py`, by definition and not for speed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from reference_sequences import SEQUENCES, Array, Backward
from reference_transformer import TRANSFORMERS

from benchmarks.inputs.sparse import Rows

Weights = dict[str, Array]


def loss_and_gradients(
    layers: Sequence[Any], weights: Mapping[str, Any], inputs: Any, labels: Any, name: str = "softmax_cross_entropy"
) -> tuple[float, Weights]:
    """Loss of a batch in training mode (without dropout, with L2 terms), and its gradients by parameter name."""
    values, backwards = _forward(layers, weights, inputs, training=True)
    loss, error = _LOSSES[name](values[len(layers)], labels)
    taken: dict[int, Any] = dict.fromkeys(values, 0.0)
    taken[len(layers)] = error
    gradients: Weights = {}
    for position in range(len(layers), 0, -1):
        layer = layers[position - 1]
        into, own = backwards[position - 1](taken[position])
        for source, gradient in zip(layer.inputs, into, strict=True):
            taken[source] = taken[source] + gradient
        gradients.update((parameter.name, each) for parameter, each in zip(layer.parameters, own, strict=True))
        if layer.settings.get("l2"):
            weight = np.asarray(weights[layer.parameters[0].name], float)
            loss += layer.settings["l2"] * float((weight**2).sum())
            gradients[layer.parameters[0].name] = own[0] + 2 * layer.settings["l2"] * weight
    return loss, gradients


def loss_and_gradients_of_parts(
    layers: Sequence[Any], weights: Mapping[str, Any], batch: Any, parts: int, name: str = "softmax_cross_entropy"
) -> tuple[float, Weights]:
    """Means of loss and gradients over equal parts of a batch, in the order of its samples."""
    size = len(batch[1]) // parts
    each = [
        loss_and_gradients(layers, weights, *(values[begin : begin + size] for values in batch), name)
        for begin in range(0, parts * size, size)
    ]
    loss = sum(loss for loss, _ in each) / parts
    return loss, {key: sum(gradients[key] for _, gradients in each) / parts for key in each[0][1]}


def _cross_entropy(logits: Array, labels: Any) -> tuple[float, Array]:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = float(-np.log(shares[rows, labels]).mean())
    shares[rows, labels] -= 1
    return loss, shares / len(labels)


def _squared_error(outputs: Array, labels: Any) -> tuple[float, Array]:
    target = np.zeros(outputs.shape)
    if outputs.shape[1] == 1:
        target[:, 0] = labels
    else:
        target[np.arange(len(labels)), labels] = 1
    return float(((outputs - target) ** 2).mean()), 2 * (outputs - target) / outputs.size


def _next_token(logits: Array, labels: Any) -> tuple[float, Array]:
    loss, error = _cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.ravel())
    return loss, error.reshape(logits.shape)


_LOSSES = {"softmax_cross_entropy": _cross_entropy, "mean_squared_error": _squared_error, "next_token": _next_token}


def losses_of_descent(  # noqa: PLR0913, PLR0917 -- all that a descent depends on
    layers: Sequence[Any],
    weights: Mapping[str, Any],
    batch: Any,
    steps: int,
    rate: float,
    name: str = "softmax_cross_entropy",
    parts: int = 1,
) -> Any:
    """Losses of one batch before and after each of so many plain SGD steps on it.

    With several `parts` each step takes the mean over equal parts of the batch, and batch norm is that of each part.
    """
    held = {name: np.asarray(value, float) for name, value in weights.items()}
    losses = []
    for _ in range(steps + 1):
        loss, gradients = loss_and_gradients_of_parts(layers, held, batch, parts, name)
        losses.append(loss)
        held = {name: value - rate * gradients[name] for name, value in held.items()}
    return losses


def logits(layers: Sequence[Any], weights: Mapping[str, Any], inputs: Any) -> Array:
    """Logits in evaluation mode, batch norm having its initial running values."""
    yielded: Array = _forward(layers, weights, inputs, training=False)[0][len(layers)]
    return yielded


def _forward(layers: Sequence[Any], weights: Mapping[str, Any], inputs: Any, *, training: bool) -> Any:
    several = inputs if isinstance(inputs, tuple) else (inputs,)
    values = {-number: np.asarray(_dense_rows(each), float) for number, each in enumerate(several)}
    backwards = []
    for position, layer in enumerate(layers, 1):
        taken = [values[position] for position in layer.inputs]
        own = [np.asarray(weights[parameter.name], float) for parameter in layer.parameters]
        run = _evaluated_batch_norm if layer.kind == "batch_norm" and not training else _KINDS[layer.kind]
        values[position], backward = run(layer.settings, taken, own)
        backwards.append(backward)
    return values, backwards


def _dense_rows(inputs: Any) -> Any:
    return inputs.dense() if isinstance(inputs, Rows) else inputs


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
    (x,), weight, others = taken, own[0], tuple(range(taken[0].ndim - 1))

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        into = np.tensordot(x, gradient, (others, others))
        return [gradient @ weight.T], [into, gradient.sum(axis=others)][: len(own)]

    return x @ weight + (own[1] if len(own) > 1 else 0.0), backward


def _max_pool(settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    (x,), size, stride = taken, settings["size"], settings["stride"]
    top, bottom, left, right = settings["pads"]
    height, width = x.shape[2:]
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))[:, :, ::stride, ::stride]
    greatest = windows.reshape(*windows.shape[:4], -1)
    chosen = greatest.argmax(axis=-1)

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        n, c, y, z = np.indices(chosen.shape)
        into = np.zeros(x.shape)
        np.add.at(into, (n, c, y * stride + chosen // size, z * stride + chosen % size), gradient)
        return [into[:, :, top : top + height, left : left + width]], []

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


def _separable_conv2d(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    """By the convolution of all channels: a filter for each channel is zero in the others."""
    depthwise, channels = own[0], taken[0].shape[1]
    across = depthwise[..., 0][..., None] * np.eye(channels)
    inner, backward_inner = _conv2d(settings | {"bias": False}, taken, [across])
    outer, backward_outer = _conv2d(settings | {"stride": 1, "pads": (0, 0, 0, 0)}, [inner], own[1:])

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        between, after = backward_outer(gradient)
        into, (wide,) = backward_inner(between[0])
        return into, [np.einsum("ijcc->ijc", wide)[..., None], *after]

    return outer, backward


def _time_distributed(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    """Each step by itself, one after another."""
    inner, (x,) = settings["layer"], taken
    steps = x.transpose(2, 0, 3, 1) if x.ndim == 4 else x.transpose(1, 0, 2)
    runs = [_KINDS[inner.kind](inner.settings, [each], own) for each in steps]

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        results = [each(gradient[:, step]) for step, (_, each) in enumerate(runs)]
        into = np.stack([each[0] for each, _ in results])
        shares = [sum(parts) for parts in zip(*[own for _, own in results], strict=True)]
        return [into.transpose(1, 3, 0, 2) if x.ndim == 4 else into.transpose(1, 0, 2)], shares  # type: ignore[list-item]

    return np.stack([value for value, _ in runs], axis=1), backward


def _concatenate(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    axis = 1 if taken[0].ndim == 4 else -1
    ends = np.cumsum([each.shape[axis] for each in taken])[:-1]
    return np.concatenate(taken, axis=axis), lambda gradient: (np.split(gradient, ends, axis=axis), [])


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
    "flatten": _flatten,
    "relu": _relu,
    "dropout": _dropout,
    "separable_conv2d": _separable_conv2d,
    "time_distributed": _time_distributed,
    "concatenate": _concatenate,
    **SEQUENCES,
    **TRANSFORMERS,
}
