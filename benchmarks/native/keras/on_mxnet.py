"""MXNet under Keras 2 (the keras-mxnet distribution).

The module is imported after its builder has named the backend.
"""

import keras
import mxnet as mx
from keras import backend
from keras.backend.mxnet_backend import KerasSymbol, keras_mxnet_symbol

from benchmarks.errors import Unsupported
from benchmarks.native.keras import keras2


class MxnetBuilder(keras2.Keras2Builder):
    """A maker of layers that Keras-MXNet can evaluate, with MXNet's own layout of weights."""

    epsilon_inside = True

    def __init__(self, channels_last, devices):
        super().__init__(channels_last)
        self._devices = devices

    def optimizer(self, settings):
        """Return the Keras optimizer of a model's settings. Raises `Unsupported` for a rate of Adadelta."""
        if settings["name"] == "adadelta" and (settings["learning_rate"] != 1 or settings.get("decay")):
            raise Unsupported("MXNet's Adadelta has no learning rate; a model with one of 1 and no decay runs")
        optimizer = super().optimizer(settings)
        # By default MXNet leaves a weight as it is where a batch of sparse rows has no entry, with all its momentum.
        optimizer.lazy_update = False
        if self._devices > 1:  # each has the mean over its part of a batch, and Keras-MXNet adds up their gradients
            optimizer.rescale_grad = 1.0 / self._devices
        return optimizer

    @staticmethod
    def rate(learning_rate, decay):
        """Return a learning rate that decays by Keras' rule.

        Keras-MXNet divides by 1 + decay * t with the number t of this step and not of those before it. Another rate
        and decay of the same curve, one step earlier, make up for that.
        """
        if decay >= 1:
            raise Unsupported("Keras-MXNet begins to decay one step early, which a decay below 1 can make up for")
        return {"lr": learning_rate / (1 - decay), "decay": decay / (1 - decay)}

    def _native(self, _kind, array):
        return array if self.channels_last else _turned(array, (3, 2, 0, 1))

    def _canonical(self, _kind, array):
        return array if self.channels_last else _turned(array, (2, 3, 1, 0))

    def _batch_norm(self, layer):
        if len(layer.input_shape) == 1:
            raise Unsupported("Keras-MXNet cannot infer the shapes of batch norm after a dense layer")
        axis = -1 if self.channels_last else 1
        return _BatchNorm(axis=axis, epsilon=layer.settings["epsilon"], momentum=layer.settings["momentum"])

    def _lstm(self, layer):
        # The default for the gates is `hard_sigmoid` in Keras 2.
        return _Lstm(
            layer.settings["units"],
            recurrent_activation="sigmoid",
            return_sequences=layer.settings["sequences"],
            unroll=True,
        )


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


def _turned(array, axes):
    """Turn a weight into Keras-MXNet's layout or back, which moves the axes of convolutions alone."""
    return array.transpose(axes) if array.ndim == 4 else array
