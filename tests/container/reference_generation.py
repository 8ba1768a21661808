"""Greedy generation in float64, which computes the whole sequence anew for every token."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import reference
from reference_sequences import Array


def greedy(layers: Sequence[Any], weights: Mapping[str, Any], prompts: Any, output: int) -> tuple[Any, Array, Array]:
    """Return so many tokens after each prompt, how far each leads, and the logits after the prompts.

    A learned vector of a position counts as far as the sequence goes.
    """
    sequences, tokens, leads, first = np.asarray(prompts), [], [], None
    for _ in range(output):
        logits = reference.logits(layers, _so_far(layers, weights, sequences.shape[1]), sequences)[:, -1]
        first = logits if first is None else first
        ordered = np.sort(logits, axis=1)
        chosen = logits.argmax(axis=1)
        tokens.append(chosen)
        leads.append((ordered[:, -1] - ordered[:, -2]) / np.sqrt((logits**2).mean(axis=1)))
        sequences = np.concatenate([sequences, chosen[:, None]], axis=1)
    return np.stack(tokens, axis=1), np.stack(leads, axis=1), first


def _so_far(layers: Sequence[Any], weights: Mapping[str, Any], steps: int) -> dict[str, Any]:
    learned = {parameter.name for layer in layers if layer.kind == "positions" for parameter in layer.parameters}
    return {name: value[:steps] if name in learned else value for name, value in weights.items()}
