"""The models that can generate, whose every layer yields a step from that step and the keys and values before it."""

KINDS = frozenset(
    ["add", "attention", "dense", "embedding", "gelu", "layer_norm", "multiply", "positions", "relu", "rms_norm"]
    + ["sigmoid", "silu", "tanh"]
)
"""Layers that work on each step by itself, and attention."""


def unfit(layers):
    """Return the reason that a model of these layers cannot generate, or None if it can."""
    tokens = _embedding(layers)
    if tokens is None:
        return "it does not take tokens, through one embedding of one input"
    for layer in layers:
        if layer.kind == "attention" and not layer.settings["causal"]:
            return "%s sees what comes after a step" % layer.name
        if layer.kind not in KINDS or len(layer.output_shape) != 2:
            return "%s does not work step by step" % layer.name
    if layers[-1].kind != "dense" or layers[-1].output_shape[-1] != tokens.settings["vocabulary"]:
        return "%s yields no score of each token" % layers[-1].name
    return None


def too_long(layers, prompt, output):
    """Return the reason that a model that can generate has too few steps for a generation, or None."""
    (steps,) = _embedding(layers).input_shape
    if prompt + output <= steps:
        return None
    return "a prompt of %d tokens and %d tokens after it are more than the %d steps of the model" % (
        prompt, output, steps,
    )  # fmt: skip


def _embedding(layers):
    """Return the one layer that takes the one input of tokens, or None."""
    taking = [layer for layer in layers if min(layer.inputs) <= 0]
    return taking[0] if len(taking) == 1 and taking[0].kind == "embedding" else None
