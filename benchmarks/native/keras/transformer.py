"""Layers of transformers for Keras 3 on every backend, and what TensorFlow's own Keras 2 has of them.

Importing it imports no Keras: `layers` is the module of layers to make them of.
"""

import functools
import inspect

from benchmarks.errors import Unsupported
from benchmarks.vocabulary.transformer import rotary_angles

GROUPED = "keras.ops.dot_product_attention"
PLAIN = "keras.layers.MultiHeadAttention"
OPERATORS = {
    "gelu": "keras.activations.gelu",
    "layer_norm": "keras.layers.LayerNormalization",
    "rms_norm": "keras.layers.RMSNormalization",
    "silu": "keras.activations.silu",
}


def operators(layers, generating=False):
    """Return the name of what computes each kind of layer, which of attentions may be two operators.

    A generator calls `GROUPED` for all of them, as Keras' own layer keeps no keys and values.
    """
    attentions = [layer for layer in layers if layer.kind == "attention"]
    names = sorted({PLAIN if _is_plain(layer) and not generating else GROUPED for layer in attentions})
    return dict(OPERATORS, attention=", ".join(names))


def _version(keras):
    """Return the version of Keras, which some releases of TensorFlow do not say of their own."""
    return getattr(keras, "__version__", "of this TensorFlow")


def _is_plain(layer):
    settings = layer.settings
    return settings["heads"] == settings["key_value_heads"] and not settings["rotary"]


def attention(keras, layer, **rule):
    """Return the layer of an attention, which is Keras' own where nothing turns queries and keys."""
    if _is_plain(layer):
        return _plain(keras, layer, rule)
    if not hasattr(keras, "ops") or not hasattr(keras.ops, "dot_product_attention"):
        message = "Keras %s lacks dot_product_attention, which takes rotary positions and grouped heads; 3.6 has it"
        raise Unsupported(message % _version(keras))
    return _grouped(keras, layer, rule)


def _plain(keras, layer, rule):
    if not hasattr(keras.layers, "MultiHeadAttention"):
        raise Unsupported("Keras %s lacks MultiHeadAttention; that of TensorFlow 2.4 has it" % _version(keras))
    settings = layer.settings
    return keras.layers.MultiHeadAttention(settings["heads"], settings["size"], use_bias=settings["bias"], **rule)


def called(native, layer, taken):
    """Return what a native layer yields. An attention of Keras' own takes its queries, and then keys and values."""
    if layer.kind != "attention" or not _is_plain(layer):
        return native(taken if len(taken) > 1 else taken[0])
    if not layer.settings["causal"]:
        return native(taken[0], taken[0])
    if "use_causal_mask" not in inspect.signature(native.call).parameters:
        raise Unsupported("this release of Keras lacks causal masks of MultiHeadAttention; TensorFlow 2.10 has them")
    return native(taken[0], taken[0], use_causal_mask=True)


def _repeated(ops, repeats, values):
    """Repeat the heads of keys or values where Keras' operator takes as many of them as of queries."""
    return ops.repeat(values, repeats, axis=2) if repeats > 1 else values


def _grouped(keras, layer, rule):
    settings, (time, features) = layer.settings, layer.input_shape
    heads, shared, size = settings["heads"], settings["key_value_heads"], settings["size"]
    ops, repeats = keras.ops, 1 if _knows_groups(keras, shared) else heads // shared

    class GroupedAttention(keras.layers.Layer):
        """A dense layer for each projection, around Keras' own operator."""

        def __init__(self):
            super().__init__(**rule)
            widths = (("query", features), ("key", shared * size), ("value", shared * size), ("output", features))
            self.projections = [keras.layers.Dense(width, use_bias=settings["bias"], **rule) for _, width in widths]

        def build(self, input_shape):
            """Make the weights of every projection."""
            for projection in self.projections:
                projection.build(tuple(input_shape[:-1]) + (features,))

        def split(self, number, inputs):
            """Map (batch, steps, features) to queries, keys or values (batch, steps, heads, size)."""
            count = (heads, shared, shared)[number]
            return ops.reshape(self.projections[number](inputs), (-1, inputs.shape[1], count, size))

        def joined(self, attended, inputs):
            """Map what heads yield (batch, steps, heads, size) to the shape of the inputs (batch, steps, features)."""
            # TensorFlow forgets the batch in an attention. It would look for it anew in every step.
            batch = -1 if inputs.shape[0] is None else inputs.shape[0]
            return self.projections[3](ops.reshape(attended, (batch, inputs.shape[1], features)))

        repeated = staticmethod(functools.partial(_repeated, ops, repeats))

        @staticmethod
        def tables():
            """Return the cosines and sines of every position (time, size / 2)."""
            return rotary_angles(time, size)

        def call(self, inputs):
            """Map (batch, time, features) to the same."""
            query, key, value = (self.split(number, inputs) for number in range(3))
            query, key = self._turned(query), self._turned(key)
            key, value = self.repeated(key), self.repeated(value)
            attended = ops.dot_product_attention(query, key, value, is_causal=settings["causal"])
            return self.joined(attended, inputs)

        @staticmethod
        def _turned(values):
            if not settings["rotary"]:
                return values
            tables = (ops.cast(ops.convert_to_tensor(each), values.dtype) for each in rotary_angles(time, size))
            return turn(ops, values, *tables)

    return GroupedAttention()


def turn(ops, values, cosines, sines):
    """Turn the pairs of (batch, steps, heads, size) by the angles of their positions (steps, size / 2)."""
    cosines, sines = cosines[:, None], sines[:, None]
    first, second = ops.split(values, 2, axis=-1)
    return ops.concatenate([first * cosines - second * sines, second * cosines + first * sines], axis=-1)


class _OfKeras:
    """The projections of an attention of Keras' own, which Keras keeps to itself, and its own decoders use."""

    def __init__(self, native):
        self._projections = (native._query_dense, native._key_dense, native._value_dense)
        self._output = native._output_dense

    def split(self, number, inputs):
        """Map (batch, steps, features) to queries, keys or values (batch, steps, heads, size)."""
        return self._projections[number](inputs)

    @staticmethod
    def repeated(values):
        """Return keys or values as they are, which have as many heads as queries."""
        return values

    def joined(self, attended, _inputs):
        """Map what heads yield (batch, steps, heads, size) to the shape of the inputs (batch, steps, features)."""
        return self._output(attended)


def projections(native, layer):
    """Return what makes the queries, keys and values of an attention, and joins what its heads yield."""
    return _OfKeras(native) if _is_plain(layer) else native


def _knows_groups(keras, shared):
    """Return whether Keras' operator takes fewer heads of keys than of queries, as JAX's does and others from 3.15 on.

    A single head is no group to the others.
    """
    release = tuple(int(part) for part in keras.__version__.split(".")[:2])
    return keras.config.backend() == "jax" or (release >= (3, 15) and shared > 1)


def positions(keras, **rule):
    """Return the layer of a learned vector for each position."""

    class Positions(keras.layers.Layer):
        """Added to each step."""

        def build(self, input_shape):
            """Make the vectors."""
            self.vectors = self.add_weight(shape=tuple(input_shape[1:]), initializer="zeros", name="vectors")

        def call(self, inputs):
            """Map (batch, time, features) to the same."""
            return inputs + self.vectors

    return Positions(**rule)


def first_step(keras, **rule):
    """Return the layer that takes the first step alone."""

    class FirstStep(keras.layers.Layer):
        """One step of (batch, time, features)."""

        def call(self, inputs):
            """Map (batch, time, features) to (batch, features)."""
            return inputs[:, 0]

    return FirstStep(**rule)


def rms_norm(keras, layer, **rule):
    """Return the layer of an RMS norm."""
    if not hasattr(keras.layers, "RMSNormalization"):
        raise Unsupported("Keras %s lacks RMSNormalization; 3.9 has it" % _version(keras))
    return keras.layers.RMSNormalization(epsilon=layer.settings["epsilon"], **rule)


def gelu(keras):
    """Return the exact GELU, which is not what its name alone stands for in every release."""
    if not hasattr(keras.activations, "gelu"):
        raise Unsupported("Keras %s lacks gelu; that of TensorFlow 2.4 has it" % _version(keras))

    def exact(values):
        return keras.activations.gelu(values, approximate=False)

    return exact
