"""Layers of Keras 3 for the vocabulary, on every backend, and a session that trains them.

Importing it imports Keras, which chooses its backend by the variable `KERAS_BACKEND`.
"""

import keras
import numpy

from benchmarks.native.keras import keras2, keras2_session, keras3_on, keras3_steps, transformer


class Keras3Session(keras2_session.Keras2Session):
    """One compiled model with its batches. Keras takes NumPy batches, and in inference it fetches the logits.

    A training step is one of `fit` (`keras3_steps`).
    """

    _steps = None

    def __init__(self, workload, builder):
        super().__init__(workload, builder)
        self._gpu = workload.one_device()

    def _step(self, network):
        self._steps = keras3_steps.of(network, keras.backend.backend())
        return self._steps

    def synchronise(self, _handle):
        """Wait for the last training step, and end the epoch that it belongs to. An inference step has ended."""
        if self._steps:
            self._steps.end()
            keras3_on.synchronise(keras.backend.backend(), self._network.trainable_variables, self._gpu)

    @staticmethod
    def loss(handle):
        """Return the mean over the batch."""
        return keras3_steps.loss(handle)


class Keras3Builder(keras2.Keras2Builder):
    """A maker of the layers of one model, in one data format, of which the whole process has one."""

    epsilon_inside = True
    pools_alike = True

    def __init__(self, channels_last):
        self.channels_last = channels_last
        keras.config.set_image_data_format("channels_last" if channels_last else "channels_first")

    @staticmethod
    def loss(name):
        """Return the loss of a batch."""
        if name == "mean_squared_error":
            return keras.losses.MeanSquaredError()
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @staticmethod
    def rate(learning_rate, decay):
        """Return the learning rate as arguments of an optimizer."""
        schedule = keras.optimizers.schedules.InverseTimeDecay
        return {"learning_rate": schedule(learning_rate, 1, decay) if decay else learning_rate}

    @staticmethod
    def assign(values):
        """Assign arrays to variables, given as pairs."""
        for variable, array in values:
            variable.assign(array)

    @staticmethod
    def values(variables):
        """Copy the arrays of variables to the host."""
        return [keras.ops.convert_to_numpy(variable) for variable in variables]

    @staticmethod
    def count(holder):
        """Count the weights that a layer or a network trains."""
        return int(sum(numpy.prod(weight.shape) for weight in holder.trainable_weights))

    @staticmethod
    def first_bias(biases):
        """Constrain a GRU's two biases: the second stays at zero."""
        return biases * keras.ops.array([[1.0], [0.0]], biases.dtype)

    @staticmethod
    def output_shape(native):
        """Return the shape that a layer yields, without the batch."""
        return tuple(native.output.shape)[1:]

    @staticmethod
    def _optimizer(kind):
        return _summing(kind) if keras.backend.backend() == "tensorflow" else kind

    def _attention(self, layer):
        return transformer.attention(keras, layer)

    def _first_step(self, _layer):
        return transformer.first_step(keras)

    def _gelu(self, _layer):
        return keras.layers.Activation(transformer.gelu(keras))

    def _layer_norm(self, layer):
        return keras.layers.LayerNormalization(epsilon=layer.settings["epsilon"])

    def _multiply(self, _layer):
        return keras.layers.Multiply()

    def _positions(self, _layer):
        return transformer.positions(keras)

    def _rms_norm(self, layer):
        return transformer.rms_norm(keras, layer)

    def _silu(self, _layer):
        return keras.layers.Activation(keras.activations.silu)


def _summing(kind):
    """Return an optimizer that adds up the entries of an embedding's gradient, one for each occurrence of a word.

    Keras squares the entries on TensorFlow and not their sum, so that Adam and RMSprop take other steps for words that
    occur more than once.
    """

    from tensorflow import convert_to_tensor

    class Summing(kind):
        def apply(self, grads, trainable_variables=None):
            """Update weights by dense gradients."""
            return super().apply([convert_to_tensor(each) for each in grads], trainable_variables)

    return Summing
