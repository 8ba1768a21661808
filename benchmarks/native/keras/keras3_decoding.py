"""Generation by Keras 3 on every backend, with keys and values in tensors that each step takes and yields anew.

Keras' own decoders do the same: `ops.slice_update` writes to the tensors, and attention masks what lies behind a step.
Importing it imports Keras, which chooses its backend by the variable `KERAS_BACKEND`.
"""

import keras
from keras import ops

from benchmarks.errors import Unsupported
from benchmarks.native.keras import transformer


def functions(network, layers, made, lengths, batch_size):
    """Return the steps of a prompt and of single tokens, compiled as the backend compiles a step of inference.

    A step of a prompt takes it, and one of tokens takes them, their position, and the keys and values before it. Both
    return the tokens that they choose, their logits, and the keys and values.
    """
    if not hasattr(ops, "dot_product_attention"):
        raise Unsupported("generation needs Keras 3.6 or newer; here is Keras %s" % keras.__version__)
    decoder = _Decoder(layers, made, sum(lengths) - 1, batch_size)  # the last token has no step after it
    compiled = {"jax": _by_jax, "tensorflow": _by_tensorflow, "torch": _by_torch}[keras.backend.backend()]
    return compiled(network, decoder.after_prompt), compiled(network, decoder.after_step)


def _by_jax(network, function):
    import jax

    variables = network.variables

    @jax.jit
    def stateless(values, *given):
        with keras.StatelessScope(state_mapping=list(zip(variables, values))):
            return function(*given)

    # Anew each time, as a prediction gives up the arrays that it is given.
    return lambda *given: stateless([variable.value for variable in variables], *given)


def _by_tensorflow(network, function):
    import tensorflow as tf

    if network.run_eagerly:
        return function
    return tf.function(function, jit_compile=bool(network.jit_compile))


def _by_torch(_network, function):
    import torch

    return torch.no_grad()(function)


class _Decoder:
    """The layers of a recorded model as functions from the next steps to the tokens that follow them."""

    def __init__(self, layers, made, capacity, batch_size):
        self._layers, self._made = layers, made
        self._capacity, self._batch_size = capacity, batch_size

    def after_prompt(self, prompt):
        """Map a prompt (batch, steps) to the tokens after it."""
        empty = {
            layer.name: tuple(self._empty(layer, native) for _ in range(2))
            for layer, native in zip(self._layers, self._made)
            if layer.kind == "attention"
        }
        return self._chosen(prompt, None, empty)

    def after_step(self, tokens, position, held):
        """Map the tokens (batch,) at a position to those after them."""
        return self._chosen(tokens[:, None], position, held)

    def _empty(self, layer, native):
        settings = layer.settings
        shape = (self._batch_size, self._capacity, settings["key_value_heads"], settings["size"])
        return ops.zeros(shape, native.compute_dtype)

    def _chosen(self, tokens, position, held):
        logits, held = self._logits(tokens, position, dict(held))
        return ops.argmax(logits, axis=-1), logits, held

    def _logits(self, tokens, position, held):
        values = {0: tokens}
        for number, (layer, native) in enumerate(zip(self._layers, self._made), 1):
            taken = [values[each] for each in layer.inputs]
            if layer.kind == "attention":
                values[number], held[layer.name] = self._attended(layer, native, taken[0], position, held[layer.name])
            elif layer.kind == "positions":
                own = _steps_of(ops.convert_to_tensor(native.vectors), position, taken[0].shape[1])
                values[number] = taken[0] + ops.cast(own, taken[0].dtype)
            elif number == len(self._layers):  # the score of a token is asked of the last step alone
                return ops.cast(native(taken[0][:, -1]), "float32"), held
            else:
                values[number] = transformer.called(native, layer, taken)
        raise ValueError("a model ends in a layer that scores tokens")

    def _attended(self, layer, native, inputs, position, held):
        """Map (batch, steps, features) to the same, and return it with the keys and values of these steps too."""
        steps, own = inputs.shape[1], transformer.projections(native, layer)
        query, key, value = (own.split(number, inputs) for number in range(3))
        if layer.settings["rotary"]:
            tables = [_steps_of(ops.convert_to_tensor(each, query.dtype), position, steps) for each in own.tables()]
            query, key = (transformer.turn(ops, each, *tables) for each in (query, key))
        start = (0, 0 if position is None else position, 0, 0)
        held = tuple(ops.slice_update(each, start, new) for each, new in zip(held, (key, value)))
        if position is None:
            key, value = own.repeated(key), own.repeated(value)
            attended = ops.dot_product_attention(query, key, value, is_causal=True)
        else:
            seen = ops.reshape(ops.arange(self._capacity) <= position, (1, 1, 1, self._capacity))
            attended = ops.dot_product_attention(query, *[own.repeated(each) for each in held], mask=seen)
        return own.joined(attended, inputs), held


def _steps_of(table, position, steps):
    """Return the rows of a table that belong to some steps, the first of which is at a position, or at 0."""
    return table[:steps] if position is None else ops.slice(table, (position, 0), (1, table.shape[1]))
