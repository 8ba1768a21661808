"""Layers of Keras 2 on MXNet for the vocabulary.

The module is imported after its builder has named the backend.
"""

import keras
import mxnet as mx
from keras import backend
from keras.backend.mxnet_backend import KerasSymbol, keras_mxnet_symbol

from benchmarks.errors import Unsupported


def make(layer):
    """Make the Keras layer of a recorded one."""
    return _LAYERS[layer.kind](layer)


def pads_itself(layer):
    """Return whether Keras' own padding is that of the convolution.

    With strides, or with more padding on one side, Keras pads in another way.
    """
    pads, kernel = layer.settings["pads"], layer.settings["kernel"]
    return not any(pads) or (layer.settings["stride"] == 1 and pads == (kernel // 2,) * 4)


class _BatchNorm(keras.layers.BatchNormalization):
    def call(self, inputs):
        """Learn the scale too, which Keras-MXNet's own call fixes at one (`fix_gamma`) whatever its setting."""
        taken = (inputs, self.gamma, self.beta, self.moving_mean, self.moving_variance)
        return _batch_norm(*taken, axis=self.axis, eps=self.epsilon, momentum=self.momentum, fix_gamma=False)


@keras_mxnet_symbol
def _batch_norm(*taken, **settings):
    return KerasSymbol(mx.sym.BatchNorm(*[each.symbol for each in taken], **settings))


class _Lstm(keras.layers.LSTM):
    def get_initial_state(self, inputs):
        """Return zeros of shape (batch, units).

        Keras' own method fails on MXNet if another layer yields the inputs.
        """
        zeros = backend.sum(backend.sum(backend.zeros_like(inputs), axis=1), axis=1, keepdims=True)
        return [backend.tile(zeros, [1, size]) for size in self.cell.state_size]


def _normalising(layer):
    if len(layer.input_shape) == 1:
        raise Unsupported("Keras-MXNet cannot infer the shapes of batch norm after a dense layer")
    axis = -1 if backend.image_data_format() == "channels_last" else 1
    return _BatchNorm(axis=axis, epsilon=layer.settings["epsilon"], momentum=layer.settings["momentum"])


def _conv2d(layer):
    settings = layer.settings
    return keras.layers.Conv2D(
        settings["filters"],
        settings["kernel"],
        strides=settings["stride"],
        padding="same" if any(settings["pads"]) and pads_itself(layer) else "valid",
        use_bias=settings["bias"],
        kernel_regularizer=_l2(settings),
    )


def _l2(settings):
    return keras.regularizers.l2(settings["l2"]) if settings["l2"] else None


def _concatenate(layer):
    channels_first = layer.settings["image"] and backend.image_data_format() == "channels_first"
    return keras.layers.Concatenate(axis=1 if channels_first else -1)


def _time_distributed(layer):
    return keras.layers.TimeDistributed(make(layer.settings["layer"]))


_LAYERS = {
    "conv2d": _conv2d,
    "dense": lambda layer: keras.layers.Dense(layer.settings["units"], kernel_regularizer=_l2(layer.settings)),
    "embedding": lambda layer: keras.layers.Embedding(layer.settings["vocabulary"], layer.settings["units"]),
    "concatenate": _concatenate,
    "repeat": lambda layer: keras.layers.RepeatVector(layer.settings["times"]),
    "time_distributed": _time_distributed,
    "sigmoid": lambda _layer: keras.layers.Activation("sigmoid"),
    "tanh": lambda _layer: keras.layers.Activation("tanh"),
    "softmax": lambda _layer: keras.layers.Activation("softmax"),
    # The default for the gates is `hard_sigmoid` in Keras 2.2.
    "lstm": lambda layer: _Lstm(
        layer.settings["units"],
        recurrent_activation="sigmoid",
        return_sequences=layer.settings["sequences"],
        unroll=True,
    ),
    "batch_norm": _normalising,
    "max_pool": lambda layer: keras.layers.MaxPooling2D(layer.settings["size"], layer.settings["stride"]),
    "average_pool": lambda layer: keras.layers.AveragePooling2D(layer.settings["size"]),
    "global_average_pool": lambda _layer: keras.layers.GlobalAveragePooling2D(),
    "add": lambda _layer: keras.layers.Add(),
    # With `channels_last`, Flatten leaves the values as they lie, in either layout.
    "flatten": lambda _layer: keras.layers.Flatten(data_format="channels_last"),
    "relu": lambda _layer: keras.layers.Activation("relu"),
    "dropout": lambda layer: keras.layers.Dropout(layer.settings["rate"]),
}
