"""Keras layers on TensorFlow for the vocabulary, and the places of their weights."""

import tensorflow as tf

from benchmarks.native.keras import transformer
from benchmarks.vocabulary.weights import (
    canonical_gates,
    channel_first_rows,
    channels_last_rows,
    gru_of,
    keras_gates,
    spare_bias,
)

LAYERS = tf.keras.layers


def operators(layers, generating=False):
    """Return the name of what computes each kind of layer, which is Keras' but for SiLU."""
    return dict(transformer.operators(layers, generating), silu="tensorflow.nn." + _silu())


def _silu():
    """Return the name of SiLU in this release. It is looked up late, as a release that is too old may have no `nn`."""
    return "silu" if hasattr(tf.nn, "silu") else "swish"


def computed_on(device):
    """Return the device of a tensor that is to be computed on a device. That is the CPU if there is no such GPU."""
    with tf.device(device):
        computed = tf.zeros(1) + 1.0
    return "/" + computed.device.rpartition("device:")[2]


def first_bias(biases):
    """Constrain a GRU's two biases: the second stays at zero."""
    return biases * tf.constant([[1.0], [0.0]], biases.dtype)


class SparseDense(LAYERS.Dense):
    """A dense layer that multiplies sparse rows by TensorFlow's kernel for them.

    Keras' own looks up a row of its weight for each entry, and in TensorFlow 2.1 it takes no sparse rows.
    """

    def __init__(self, features, units, **settings):
        super().__init__(units, **settings)
        self._features = features

    def build(self, _input_shape):
        """Make the weights for the features, whose number is unknown of a sparse tensor."""
        super().build((None, self._features))

    def call(self, inputs):
        """Map (batch, features) to (batch, units)."""
        return tf.sparse.sparse_dense_matmul(inputs, self.kernel) + self.bias


class Builder:
    """A maker of the layers of one model, in one data format, under one precision policy, for XLA or not."""

    def __init__(self, channels_last, policy, xla):
        self.channels_last = channels_last
        self._format = {"data_format": "channels_last" if channels_last else "channels_first"}
        self._policy = {"dtype": _policy(policy)}
        self._xla = xla

    def network(self, layers, inputs, input_dtype):
        """Return the Keras model of recorded layers, and its native layers in their order."""
        kinds = {"float": input_dtype, "integer": "int64", "sparse": "float32"}
        taken = [
            tf.keras.Input(self.native_shape(each.shape), dtype=kinds[each.kind], sparse=each.kind == "sparse")
            for each in inputs
        ]
        values, made = {-number: each for number, each in enumerate(taken)}, []
        for position, layer in enumerate(layers, 1):
            made.append(self._made(layer))
            values[position] = transformer.called(made[-1], layer, [values[each] for each in layer.inputs])
        return tf.keras.Model(taken if len(taken) > 1 else taken[0], values[len(layers)]), made

    def _made(self, layer):
        if "entries" in layer.settings:
            return self._sparse_dense(layer)
        if layer.kind in ("attention", "rms_norm"):
            return getattr(transformer, layer.kind)(tf.keras, layer, **self._policy)
        return getattr(self, "_" + layer.kind)(layer.settings)

    def native_shape(self, shape):
        """Return an image's shape as it runs here, without the batch, and any other shape as it is."""
        return tuple(shape[1:]) + tuple(shape[:1]) if self.channels_last and len(shape) == 3 else tuple(shape)

    def canonical_shape(self, shape):
        """Return the canonical shape of a native one."""
        return tuple(shape[-1:]) + tuple(shape[:-1]) if self.channels_last and len(shape) == 3 else tuple(shape)

    def native_inputs(self, inputs):
        """Return a NumPy batch of canonical images in the layout that runs here, and any other batch as it is."""
        return inputs.transpose(0, 2, 3, 1) if self.channels_last and inputs.ndim == 4 else inputs

    def _conv2d(self, settings):
        return self._windowed(LAYERS.Conv2D, settings, **_l2(settings))

    def _separable_conv2d(self, settings):
        return self._windowed(LAYERS.SeparableConv2D, settings)

    def _windowed(self, kind, settings, **regularizer):
        # TensorFlow's own `same` is that of the vocabulary, also if strides make it asymmetric.
        explicit = settings.get("explicit")
        convolution = kind(
            settings["filters"], settings["kernel"], strides=settings["stride"], use_bias=settings["bias"],
            padding="same" if any(settings["pads"]) and not explicit else "valid",
            **regularizer, **self._format, **self._policy
        )  # fmt: skip
        if not explicit:
            return convolution
        top, bottom, left, right = settings["pads"]
        padding = LAYERS.ZeroPadding2D(((top, bottom), (left, right)), **self._format, **self._policy)
        return tf.keras.Sequential([padding, convolution])

    def _dense(self, settings):
        return LAYERS.Dense(settings["units"], use_bias=settings["bias"], **_l2(settings), **self._policy)

    def _sparse_dense(self, layer):
        return SparseDense(layer.input_shape[0], layer.settings["units"], **_l2(layer.settings), **self._policy)

    def _embedding(self, settings):
        return LAYERS.Embedding(settings["vocabulary"], settings["units"], **self._policy)

    def _concatenate(self, settings):
        return LAYERS.Concatenate(axis=1 if settings["image"] and not self.channels_last else -1, **self._policy)

    def _repeat(self, settings):
        return LAYERS.RepeatVector(settings["times"], **self._policy)

    def _time_distributed(self, settings):
        inner = settings["layer"]
        distributed = LAYERS.TimeDistributed(getattr(self, "_" + inner.kind)(inner.settings), **self._policy)
        if inner.kind == "dense" or self.channels_last:
            return distributed
        return tf.keras.Sequential([LAYERS.Permute((2, 3, 1), **self._policy), distributed])

    def _max_pool(self, settings):
        # TensorFlow's own `same` takes what it pads for the least of all values.
        return LAYERS.MaxPooling2D(
            settings["size"], strides=settings["stride"], padding="same" if any(settings["pads"]) else "valid",
            **self._format, **self._policy
        )  # fmt: skip

    def _average_pool(self, settings):
        return LAYERS.AveragePooling2D(settings["size"], **self._format, **self._policy)

    def _global_average_pool(self, _settings):
        return LAYERS.GlobalAveragePooling2D(**self._format, **self._policy)

    def _batch_norm(self, settings):
        rule = {"momentum": settings["momentum"], "epsilon": settings["epsilon"]}
        return LAYERS.BatchNormalization(axis=-1 if self.channels_last else 1, **rule, **self._policy)

    def _add(self, _settings):
        return LAYERS.Add(**self._policy)

    def _lstm(self, settings):
        return self._recurrent(LAYERS.LSTM, LAYERS.LSTMCell, settings)

    def _gru(self, settings):
        rule = {"bias_constraint": first_bias} if settings["reset_after"] else {}
        return self._recurrent(
            LAYERS.GRU, LAYERS.GRUCell, settings, reset_after=settings["reset_after"], **rule
        )  # fmt: skip

    def _recurrent(self, layer, cell, settings, **rule):
        # The default, an orthogonal matrix, cannot be drawn in bfloat16, and the harness sets the weights anyway.
        rule["recurrent_initializer"] = "glorot_uniform"
        rule.update(self._policy)
        if self._xla:
            # The layer may call cuDNN's, which XLA cannot compile; the same cell in a plain loop is XLA's to fuse.
            cell_of_loop = cell(settings["units"], **rule)
            made = LAYERS.RNN(cell_of_loop, return_sequences=settings["sequences"], **self._policy)
        else:
            made = layer(settings["units"], return_sequences=settings["sequences"], **rule)
        return LAYERS.Bidirectional(made, **self._policy) if settings.get("bidirectional") else made

    def _flatten(self, _settings):
        # Values stay as they lie in either layout. With `channels_first` Keras would transpose them to channels last.
        return LAYERS.Flatten(data_format="channels_last", **self._policy)

    def _relu(self, _settings):
        return LAYERS.ReLU(**self._policy)

    def _sigmoid(self, _settings):
        return LAYERS.Activation("sigmoid", **self._policy)

    def _tanh(self, _settings):
        return LAYERS.Activation("tanh", **self._policy)

    def _softmax(self, _settings):
        return LAYERS.Softmax(**self._policy)

    def _dropout(self, settings):
        return LAYERS.Dropout(settings["rate"], **self._policy)

    def _gelu(self, _settings):
        return LAYERS.Activation(transformer.gelu(tf.keras), **self._policy)

    def _silu(self, _settings):
        return LAYERS.Activation(getattr(tf.nn, _silu()), **self._policy)

    def _multiply(self, _settings):
        return LAYERS.Multiply(**self._policy)

    def _layer_norm(self, settings):
        return LAYERS.LayerNormalization(epsilon=settings["epsilon"], **self._policy)

    def _positions(self, _settings):
        return transformer.positions(tf.keras, **self._policy)

    def _first_step(self, _settings):
        return transformer.first_step(tf.keras, **self._policy)

    def set_weights(self, layers, made, weights):
        """Set canonical arrays into the native layers. Running values of batch norm stay as Keras starts them."""
        for layer, native in zip(layers, made):
            if layer.parameters:
                arrays = [weights[parameter.name] for parameter in layer.parameters]
                arrays[0] = self._rows(layer, arrays[0], channels_last_rows)
                arrays = keras_gates(arrays, gru_of(layer))
                held = native.get_weights()
                # An attention of Keras' own has axes of heads and of their sizes.
                arrays = [array.reshape(each.shape) for array, each in zip(arrays, held)] + held[len(arrays) :]
                native.set_weights(arrays)

    def weights(self, layers, made):
        """Return the weights of the native layers as canonical float32 arrays, by parameter name."""
        weights = {}
        for layer, native in zip(layers, made):
            if layer.parameters:
                arrays = [array.astype("float32") for array in native.get_weights()]
                arrays[0] = self._rows(layer, arrays[0], channel_first_rows)
                arrays = canonical_gates(arrays, gru_of(layer))
                pairs = zip(layer.parameters, arrays)
                weights.update((parameter.name, array.reshape(parameter.shape)) for parameter, array in pairs)
        return weights

    def _rows(self, layer, array, permute):
        flattened = layer.settings.get("flattened") if self.channels_last else None
        return permute(array, flattened)


def count(layer, native):
    """Count the logical weights that the native layer of a layer trains. The second bias of a GRU is none."""
    return sum(int(tf.size(weight)) for weight in native.trainable_weights) - spare_bias(layer)


def _l2(settings):
    return {"kernel_regularizer": tf.keras.regularizers.l2(settings["l2"])} if settings["l2"] else {}


def _policy(name):
    """Return a policy of precision, which was experimental before TensorFlow 2.4."""
    policies = tf.keras.mixed_precision
    return (policies.Policy if hasattr(policies, "Policy") else policies.experimental.Policy)(name)
