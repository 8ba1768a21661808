"""Layers of sequences and activations, forward and backward in float64: a part of the `reference`."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Backward = Callable[[Array], tuple[list[Array], list[Array]]]
"""Takes the gradient of what a layer yielded; gives those of what it took, and of its parameters."""


def _lstm(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    return (_both_ways if settings["bidirectional"] else _forward_lstm)(settings, taken, own)


def _both_ways(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    """Another LSTM over the steps in reverse, whose outputs are put back in order."""
    (x,) = taken
    forth, backward_of_forth = _forward_lstm(settings, [x], own[:3])
    back, backward_of_back = _forward_lstm(settings, [x[:, ::-1]], own[3:])

    def ordered(outputs: Array) -> Array:
        return outputs[:, ::-1] if settings["sequences"] else outputs

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        to_forth, to_back = np.split(gradient, 2, axis=-1)
        (into_forth,), parts_of_forth = backward_of_forth(to_forth)
        (into_back,), parts_of_back = backward_of_back(ordered(to_back))
        return [into_forth + into_back[:, ::-1]], parts_of_forth + parts_of_back

    return np.concatenate([forth, ordered(back)], axis=-1), backward


def _forward_lstm(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
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


def _gru(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    return (_reset_after if settings["reset_after"] else _reset_before)(settings, taken, own)


def _reset_before(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    """The gates of Cho et al. (2014): the new state is of the product of the state that was reset."""
    (x,), (weight, recurrent, bias) = taken, own
    n, time, _ = x.shape
    units = settings["units"]
    gates_of_state, new_of_state = recurrent[:, : 2 * units], recurrent[:, 2 * units :]
    h = np.zeros((n, units))
    outputs, kept = [], []
    for step in range(time):
        into_r, into_z, into_n = np.split(x[:, step] @ weight + bias, 3, axis=1)
        from_r, from_z = np.split(h @ gates_of_state, 2, axis=1)
        r, z = _sigmoid(into_r + from_r), _sigmoid(into_z + from_z)
        new = np.tanh(into_n + (r * h) @ new_of_state)
        kept.append((r, z, new, h))
        h = z * h + (1 - z) * new
        outputs.append(h)

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        into, parts = np.zeros(x.shape), [np.zeros(each.shape) for each in own]
        to_h = np.zeros_like(h)
        for step in range(time - 1, -1, -1):
            r, z, new, before = kept[step]
            if settings["sequences"]:
                to_h = to_h + gradient[:, step]
            elif step == time - 1:
                to_h = to_h + gradient
            to_n = to_h * (1 - z) * (1 - new**2)
            to_reset = to_n @ new_of_state.T
            to_r, to_z = to_reset * before * r * (1 - r), to_h * (before - new) * z * (1 - z)
            gates, every = np.concatenate([to_r, to_z], axis=1), np.concatenate([to_r, to_z, to_n], axis=1)
            into[:, step] = every @ weight.T
            of_state = np.concatenate([before.T @ gates, (r * before).T @ to_n], axis=1)
            shares = (x[:, step].T @ every, of_state, every.sum(axis=0))
            parts = [part + share for part, share in zip(parts, shares, strict=True)]
            to_h = to_h * z + gates @ gates_of_state.T + to_reset * r
        return [into], parts

    return np.stack(outputs, axis=1) if settings["sequences"] else h, backward


def _reset_after(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    """The gates of cuDNN: the reset multiplies the product of the state."""
    (x,), (weight, recurrent, bias) = taken, own
    n, time, _ = x.shape
    h = np.zeros((n, settings["units"]))
    outputs, kept = [], []
    for step in range(time):
        into_r, into_z, into_n = np.split(x[:, step] @ weight + bias, 3, axis=1)
        from_r, from_z, from_n = np.split(h @ recurrent, 3, axis=1)
        r, z = _sigmoid(into_r + from_r), _sigmoid(into_z + from_z)
        new = np.tanh(into_n + r * from_n)
        kept.append((r, z, new, from_n, h))
        h = z * h + (1 - z) * new
        outputs.append(h)

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        into, parts = np.zeros(x.shape), [np.zeros(each.shape) for each in own]
        to_h = np.zeros_like(h)
        for step in range(time - 1, -1, -1):
            r, z, new, from_n, before = kept[step]
            if settings["sequences"]:
                to_h = to_h + gradient[:, step]
            elif step == time - 1:
                to_h = to_h + gradient
            to_n = to_h * (1 - z) * (1 - new**2)
            to_r, to_z = to_n * from_n * r * (1 - r), to_h * (before - new) * z * (1 - z)
            direct, around = np.concatenate([to_r, to_z, to_n], axis=1), np.concatenate([to_r, to_z, to_n * r], axis=1)
            into[:, step] = direct @ weight.T
            shares = (x[:, step].T @ direct, before.T @ around, direct.sum(axis=0))
            parts = [part + share for part, share in zip(parts, shares, strict=True)]
            to_h = to_h * z + around @ recurrent.T
        return [into], parts

    return np.stack(outputs, axis=1) if settings["sequences"] else h, backward


def _embedding(_settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    rows = taken[0].astype(int)

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        matrix = np.zeros(own[0].shape)
        np.add.at(matrix, rows, gradient)
        return [np.zeros(rows.shape)], [matrix]

    return own[0][rows], backward


def _repeat(settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    repeated = np.stack([taken[0]] * settings["times"], axis=1)
    return repeated, lambda gradient: ([gradient.sum(axis=1)], [])


def _logistic(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    value = _sigmoid(taken[0])
    return value, lambda gradient: ([gradient * value * (1 - value)], [])


def _tanh(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    value = np.tanh(taken[0])
    return value, lambda gradient: ([gradient * (1 - value**2)], [])


def _softmax(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    powers = np.exp(taken[0] - taken[0].max(axis=-1, keepdims=True))
    shares = powers / powers.sum(axis=-1, keepdims=True)
    return shares, lambda gradient: ([shares * (gradient - (gradient * shares).sum(axis=-1, keepdims=True))], [])


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


SEQUENCES: dict[str, Callable[[Any, list[Array], list[Array]], tuple[Array, Backward]]] = {
    "lstm": _lstm,
    "gru": _gru,
    "embedding": _embedding,
    "repeat": _repeat,
    "sigmoid": _logistic,
    "tanh": _tanh,
    "softmax": _softmax,
}
