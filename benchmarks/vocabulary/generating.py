"""The models that can generate, whose every layer yields a step from that step and the keys and values before it."""

KINDS = frozenset(
    ["add", "attention", "dense", "embedding", "gelu", "layer_norm", "multiply", "positions", "relu", "rms_norm"]
    + ["sigmoid", "silu", "tanh"]
)
"""Layers that work on each step by itself, and attention."""


def unfit(inputs, layers):
    """Return the reason that a model of these inputs and layers cannot generate, or None if it can."""
    if len(inputs) != 1 or inputs[0].kind != "integer":
        return "it takes no tokens, which one input of whole numbers would"
    for layer in layers:
        if layer.kind == "attention" and not layer.settings["causal"]:
            return "%s sees what comes after a step" % layer.name
        if layer.kind not in KINDS or len(layer.output_shape) != 2:
            return "%s does not work step by step" % layer.name
    last = layers[-1]
    if last.kind != "dense" or last.output_shape[-1] != inputs[0].vocabulary:
        return "%s yields no score of each token" % last.name
    return None


def too_long(inputs, prompt, output):
    """Return the reason that a model has too few steps for a prompt and the tokens after it, or None."""
    (steps,) = inputs[0].shape
    if prompt + output <= steps:
        return None
    return "a prompt of %d tokens and %d tokens after it are more than the %d steps of the model" % (
        prompt, output, steps,
    )  # fmt: skip
