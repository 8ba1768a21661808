"""Generation by Keras layers on TensorFlow, with keys and values in variables of a fixed size.

A step writes its keys and values to their places, and attention masks what lies behind it.
"""

import tensorflow as tf

from benchmarks.errors import Unsupported
from benchmarks.native.keras import transformer


class TensorFlowDecoder:
    """The layers of a recorded model as functions from the next steps to the logits of the last one."""

    def __init__(self, layers, made, lengths, batch_size):
        ops = getattr(tf.keras, "ops", None)
        if ops is None or not hasattr(ops, "dot_product_attention"):
            raise Unsupported("generation needs Keras 3.7 or newer; here is Keras %s" % tf.keras.__version__)
        self._ops, self._layers, self._made = ops, layers, made
        self._capacity, self._batch_size = sum(lengths) - 1, batch_size  # the last token has no step after it
        self._held = {layer.name: self._empty(layer, native) for layer, native in zip(layers, made) if _attends(layer)}

    def _empty(self, layer, native):
        settings, dtype = layer.settings, native.compute_dtype
        shape = (self._batch_size, self._capacity, settings["key_value_heads"], settings["size"])
        return tuple(tf.Variable(tf.zeros(shape, dtype), trainable=False) for _ in range(2))

    def after_prompt(self, prompt):
        """Map a prompt (batch, steps) to the logits (batch, tokens) after it."""
        return self._logits(prompt, None)

    def after_step(self, tokens, position):
        """Map the tokens (batch,) at a position to the logits (batch, tokens) after them."""
        return self._logits(tokens[:, None], position)

    def _logits(self, tokens, position):
        # Once for all layers, as each operation of a graph costs a step some microseconds.
        places = slice(0, tokens.shape[1]) if position is None else slice(position, position + 1)
        seen = None if position is None else (tf.range(self._capacity) <= position)[None, None, None, :]
        values = {0: tokens}
        for number, (layer, native) in enumerate(zip(self._layers, self._made), 1):
            taken = [values[each] for each in layer.inputs]
            if layer.kind == "attention":
                values[number] = self._attended(layer, native, taken[0], places, seen)
            elif layer.kind == "positions":
                own = tf.convert_to_tensor(native.vectors)[places]
                values[number] = taken[0] + tf.cast(own, taken[0].dtype)
            elif number == len(self._layers):  # the score of a token is asked of the last step alone
                return tf.cast(native(taken[0][:, -1]), tf.float32)
            else:
                values[number] = transformer.called(native, layer, taken)
        raise ValueError("a model ends in a layer that scores tokens")

    def _attended(self, layer, native, inputs, places, seen):
        """Map (batch, steps, features) to the same. A prompt has no mask of the steps that are seen."""
        own = transformer.projections(native, layer)
        query, key, value = (own.split(number, inputs) for number in range(3))
        if layer.settings["rotary"]:
            tables = [tf.cast(each, query.dtype)[places] for each in own.tables()]
            query, key = (transformer.turn(self._ops, each, *tables) for each in (query, key))
        for variable, new in zip(self._held[layer.name], (key, value)):
            variable[:, places].assign(new)
        if seen is None:
            key, value = own.repeated(key), own.repeated(value)
            attended = self._ops.dot_product_attention(query, key, value, is_causal=True)
        else:
            keys, values = (own.repeated(tf.convert_to_tensor(each)) for each in self._held[layer.name])
            attended = self._ops.dot_product_attention(query, keys, values, mask=seen)
        return own.joined(attended, inputs)


def _attends(layer):
    return layer.kind == "attention"
