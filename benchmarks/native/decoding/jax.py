"""Generation by flax's modules, with keys and values in arrays of a fixed size, which each step is given to write to.

XLA compiles one program for prompts and one for single steps. What lies behind a step in the arrays is masked.
"""

import functools

import jax
from jax import lax, nn
from jax import numpy as jnp

from benchmarks.vocabulary.transformer import rotary_angles


def caches(layers, batch_size, capacity, dtype):
    """Return the empty keys and values of every attention, by the name of its layer."""
    shapes = {
        layer.name: (batch_size, capacity, layer.settings["key_value_heads"], layer.settings["size"])
        for layer in layers
        if layer.kind == "attention"
    }
    return {name: (jnp.zeros(shape, dtype), jnp.zeros(shape, dtype)) for name, shape in shapes.items()}


def programs(layers, merged):
    """Return the compiled steps of a prompt and of single tokens. Both give up the caches that they take.

    `merged(weights, variables)` makes the network of arrays. A step returns its tokens, their logits, the caches, and
    the position of the next step.
    """

    @functools.partial(jax.jit, donate_argnums=(2,))
    def prefill(weights, variables, held, prompt):
        logits, held = _logits(layers, merged(weights, variables), held, prompt, None)
        return _chosen(logits), logits, held, jnp.int32(prompt.shape[1])

    @functools.partial(jax.jit, donate_argnums=(2,))
    def decode(weights, variables, held, tokens, position):
        logits, held = _logits(layers, merged(weights, variables), held, tokens[:, None], position)
        return _chosen(logits), logits, held, position + 1

    return prefill, decode


def _chosen(logits):
    return jnp.argmax(logits, axis=-1).astype(jnp.int32)


def _logits(layers, network, held, tokens, position):
    """Return the logits of the last step in float32, and the caches. A prompt has no position, and begins at 0."""
    held, values = dict(held), {0: tokens}
    for number, (layer, (name, function, taken)) in enumerate(zip(layers, network.walk), 1):
        inputs = [values[each] for each in taken]
        module = function or getattr(network, name)
        if layer.kind == "attention":
            values[number], held[name] = _attended(module, held[name], inputs[0], position)
        elif layer.kind == "positions":
            begin = 0 if position is None else position
            own = lax.dynamic_slice_in_dim(module.weight.get_value(), begin, inputs[0].shape[1])
            values[number] = inputs[0] + own.astype(inputs[0].dtype)
        elif number == len(layers):  # the score of a token is asked of the last step alone
            return module(inputs[0][:, -1]).astype(jnp.float32), held
        else:
            values[number] = module(*inputs)
    raise ValueError("a model ends in a layer that scores tokens")


def _attended(module, held, inputs, position):
    """Map (batch, steps, features) to the same, and return it with the keys and values that hold these steps too."""
    begin = 0 if position is None else position
    query = _turned(module, module.split(module.query(inputs), module.heads), begin)
    key = _turned(module, module.split(module.key(inputs), module.shared), begin)
    value = module.split(module.value(inputs), module.shared)
    held = tuple(lax.dynamic_update_slice_in_dim(each, new, begin, axis=1) for each, new in zip(held, (key, value)))
    if position is None:
        attended = nn.dot_product_attention(query, key, value, is_causal=True)
    else:
        seen = jnp.full((inputs.shape[0],), position + 1, jnp.int32)
        attended = nn.dot_product_attention(query, *held, key_value_seq_lengths=seen)
    return module.output(attended.reshape(inputs.shape)), held


def _turned(module, values, begin):
    if not module.rotary:
        return values
    tables = (jnp.asarray(each, values.dtype) for each in rotary_angles(module.time, module.size))
    return module.turn(values, *[lax.dynamic_slice_in_dim(each, begin, values.shape[1]) for each in tables])
