"""Layers of transformers, forward and backward in float64: a part of the `reference`."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from reference_sequences import Array, Backward


def _layer_norm(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    (x,), (scale, shift) = taken, own
    deviation = np.sqrt(x.var(axis=-1, keepdims=True) + settings["epsilon"])
    normal = (x - x.mean(axis=-1, keepdims=True)) / deviation
    others = tuple(range(x.ndim - 1))

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        inner = gradient * scale
        mean, along = inner.mean(axis=-1, keepdims=True), (inner * normal).mean(axis=-1, keepdims=True)
        parts = [(gradient * normal).sum(axis=others), gradient.sum(axis=others)]
        return [(inner - mean - normal * along) / deviation], parts

    return normal * scale + shift, backward


def _rms_norm(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    (x,), (scale,) = taken, own
    root = np.sqrt((x**2).mean(axis=-1, keepdims=True) + settings["epsilon"])
    normal = x / root

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        inner = gradient * scale
        along = (inner * normal).mean(axis=-1, keepdims=True)
        return [(inner - normal * along) / root], [(gradient * normal).sum(axis=tuple(range(x.ndim - 1)))]

    return normal * scale, backward


def _gelu(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    (x,) = taken
    below = (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return x * below, lambda gradient: ([gradient * (below + x * density)], [])


def _silu(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    (x,) = taken
    share = 1 / (1 + np.exp(-x))
    return x * share, lambda gradient: ([gradient * share * (1 + x * (1 - share))], [])


def _multiply(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    a, b = taken
    return a * b, lambda gradient: ([gradient * b, gradient * a], [])


def _positions(_settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    return taken[0] + own[0], lambda gradient: ([gradient], [gradient.sum(axis=0)])


def _first_step(_settings: Any, taken: list[Array], _own: list[Array]) -> tuple[Array, Backward]:
    (x,) = taken

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        into = np.zeros(x.shape)
        into[:, 0] = gradient
        return [into], []

    return x[:, 0], backward


def _rotation(time: int, size: int) -> Array:
    """A matrix of each position, which turns the pairs of a head: (time, size, size)."""
    turned = np.zeros((time, size, size))
    half = size // 2
    for position in range(time):
        for pair in range(half):
            angle = position / 10000 ** (2 * pair / size)
            turned[position, pair, pair] = turned[position, half + pair, half + pair] = math.cos(angle)
            turned[position, pair, half + pair] = math.sin(angle)
            turned[position, half + pair, pair] = -math.sin(angle)
    return turned


def _attention(settings: Any, taken: list[Array], own: list[Array]) -> tuple[Array, Backward]:
    """Head by head, with the matrices of every projection, and rotations as matrices."""
    (x,), size = taken, settings["size"]
    matrices, biases = (own[::2], own[1::2]) if settings["bias"] else (own, [np.zeros(w.shape[1]) for w in own])
    query, key, value = (x @ matrices[each] + biases[each] for each in range(3))
    time, group = x.shape[1], settings["heads"] // settings["key_value_heads"]
    rotation = _rotation(time, size) if settings["rotary"] else np.broadcast_to(np.eye(size), (time, size, size))
    hidden = np.triu(np.ones((time, time), bool), 1) if settings["causal"] else np.zeros((time, time), bool)
    joined, kept = np.zeros_like(query), []
    for head in range(settings["heads"]):
        own_place = np.s_[:, :, head * size : (head + 1) * size]
        shared_place = np.s_[:, :, head // group * size : (head // group + 1) * size]
        q, k = (np.einsum("bts,tsr->btr", each, rotation) for each in (query[own_place], key[shared_place]))
        scores = np.where(hidden, -np.inf, np.einsum("bqs,bks->bqk", q, k) / math.sqrt(size))
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = powers / powers.sum(axis=-1, keepdims=True)
        joined[own_place] = np.einsum("bqk,bks->bqs", shares, value[shared_place])
        kept.append((own_place, shared_place, q, k, shares))
    outputs = joined @ matrices[3] + biases[3]

    def backward(gradient: Array) -> tuple[list[Array], list[Array]]:
        to_joined = gradient @ matrices[3].T
        to_query, to_key, to_value = (np.zeros_like(each) for each in (query, key, value))
        for own_place, shared_place, q, k, shares in kept:
            to_head = to_joined[own_place]
            to_value[shared_place] += np.einsum("bqk,bqs->bks", shares, to_head)
            to_shares = np.einsum("bqs,bks->bqk", to_head, value[shared_place])
            to_scores = shares * (to_shares - (to_shares * shares).sum(axis=-1, keepdims=True)) / math.sqrt(size)
            to_q, to_k = np.einsum("bqk,bks->bqs", to_scores, k), np.einsum("bqk,bqs->bks", to_scores, q)
            to_query[own_place] += np.einsum("btr,tsr->bts", to_q, rotation)
            to_key[shared_place] += np.einsum("btr,tsr->bts", to_k, rotation)
        into, parts = np.zeros(x.shape), []
        for each, (source, error) in enumerate(((x, to_query), (x, to_key), (x, to_value), (joined, gradient))):
            parts.append(np.einsum("bti,bto->io", source, error))
            parts += [error.sum(axis=(0, 1))] * settings["bias"]
            into = into + (error @ matrices[each].T if each < 3 else 0)
        return [into], parts

    return outputs, backward


TRANSFORMERS: dict[str, Callable[[Any, list[Array], list[Array]], tuple[Array, Backward]]] = {
    "attention": _attention,
    "first_step": _first_step,
    "gelu": _gelu,
    "layer_norm": _layer_norm,
    "multiply": _multiply,
    "positions": _positions,
    "rms_norm": _rms_norm,
    "silu": _silu,
}
