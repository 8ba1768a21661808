"""Layers of Keras 2 for the vocabulary, on every backend, and the places of their weights.

Importing it imports Keras, which chooses its backend by the variable `KERAS_BACKEND`.
"""

import keras
import numpy
from keras import backend

from benchmarks.vocabulary.weights import channel_first_rows, channels_last_rows

LAYERS = keras.layers


class Keras2Builder:
    """A maker of the layers of one model, in one data format, of which the whole process has one."""

    unroll = False
    """True if a recurrent layer is to be written out, step by step, because the backend has no fast loop."""

    epsilon_inside = False
    """True if the backend adds RMSprop's epsilon inside the root, as MXNet's own kernel does, and not outside as Keras.

    `optimizers` says why it is squared inside alone.
    """

    def __init__(self, channels_last):
        self.channels_last = channels_last
        backend.set_image_data_format("channels_last" if channels_last else "channels_first")

    def network(self, layers, shapes):
        """Return the Keras model of recorded layers, and its native layers in their order.

        A layer that hands on what it takes has no native one.
        """
        inputs = [LAYERS.Input(self.native_shape(each.shape)) for each in shapes]
        values, made = {-number: each for number, each in enumerate(inputs)}, []
        for number, layer in enumerate(layers, 1):
            taken = [values[position] for position in layer.inputs]
            if layer.kind == "conv2d" and not _pads_itself(layer):
                top, bottom, left, right = layer.settings["pads"]
                taken = [LAYERS.ZeroPadding2D(((top, bottom), (left, right)))(taken[0])]
            if layer.settings.get("rate") == 0:
                # Keras calls a layer that yields the very tensor it takes, which some backends cannot evaluate.
                made.append(None)
                values[number] = taken[0]
                continue
            made.append(getattr(self, "_" + layer.kind)(layer))
            if layer.kind == "time_distributed" and len(layer.input_shape) == 3 and not self.channels_last:
                taken = [LAYERS.Permute((2, 3, 1))(taken[0])]
            values[number] = made[-1](taken if len(taken) > 1 else taken[0])
        return keras.models.Model(inputs if len(inputs) > 1 else inputs[0], values[len(layers)]), made

    @staticmethod
    def rate(learning_rate, decay):
        """Return the learning rate as arguments of an optimizer."""
        return {"lr": learning_rate, "decay": decay}

    def optimizer(self, settings):
        """Return the Keras optimizer of a model's settings."""
        rate = self.rate(settings["learning_rate"], settings.get("decay", 0.0))
        if settings["name"] == "adadelta":
            rule = {"rho": settings["rho"], "epsilon": settings["epsilon"]}
            return self._optimizer(keras.optimizers.Adadelta)(**rule, **rate)
        if settings["name"] == "adam":
            betas = {"beta_1": settings["beta_1"], "beta_2": settings["beta_2"]}
            return self._optimizer(keras.optimizers.Adam)(epsilon=settings["epsilon"], **rate, **betas)
        if settings["name"] == "rmsprop":
            epsilon = settings["epsilon"] ** 2 if self.epsilon_inside else settings["epsilon"]
            return self._optimizer(keras.optimizers.RMSprop)(rho=settings["rho"], epsilon=epsilon, **rate)
        return self._optimizer(keras.optimizers.SGD)(momentum=settings["momentum"], **rate)

    @staticmethod
    def loss(name):
        """Return a function of labels and outputs that makes the loss of each sample."""
        return keras.losses.mean_squared_error if name == "mean_squared_error" else _cross_entropy

    @staticmethod
    def count(holder):
        """Count the weights that a layer or a network trains, as Keras does."""
        return int(sum(backend.count_params(weights) for weights in holder.trainable_weights))

    @staticmethod
    def output_shape(native):
        """Return the shape that a layer yields, without the batch."""
        return native.output_shape[1:]

    @staticmethod
    def _optimizer(kind):
        """Return a class of Keras' optimizers as the backend needs it, which for most is the class itself."""
        return kind

    def native_shape(self, shape):
        """Return an image's shape as it runs here, without the batch, and any other shape as it is."""
        return tuple(shape[1:]) + tuple(shape[:1]) if self.channels_last and len(shape) == 3 else tuple(shape)

    def canonical_shape(self, shape):
        """Return the canonical shape of a native one."""
        return tuple(shape[-1:]) + tuple(shape[:-1]) if self.channels_last and len(shape) == 3 else tuple(shape)

    def native_inputs(self, inputs):
        """Return a batch of canonical images in the layout that runs here, and any other batch as it is.

        Of several inputs it is a list.
        """
        if isinstance(inputs, tuple):
            return [self.native_inputs(each) for each in inputs]
        if not self.channels_last or inputs.ndim != 4:
            return inputs
        return numpy.ascontiguousarray(inputs.transpose(0, 2, 3, 1))

    def native_layers(self, layers, made):
        """Return the name, the shape that Keras has inferred, and the trained weights of every native layer."""
        return [
            (layer.name, self.canonical_shape(self.output_shape(native)), self.count(native))
            for layer, native in zip(layers, made)
            if native is not None
        ]

    def set_weights(self, layers, made, weights):
        """Set canonical arrays into the native layers. Running values of batch norm stay as Keras starts them."""
        for layer, native in zip(layers, made):
            if layer.parameters:
                arrays = [weights[parameter.name] for parameter in layer.parameters]
                if self.channels_last:
                    arrays[0] = channels_last_rows(arrays[0], layer.settings.get("flattened"))
                arrays = [self._native(layer.kind, each) for each in arrays]
                native.set_weights(arrays + native.get_weights()[len(arrays) :])

    def weights(self, layers, made):
        """Copy the trained weights to the host. In Keras, running values of batch norm come after them."""
        weights = {}
        for layer, native in zip(layers, made):
            if layer.parameters:
                arrays = native.get_weights()
                if self.channels_last:
                    arrays[0] = channel_first_rows(arrays[0], layer.settings.get("flattened"))
                for parameter, value in zip(layer.parameters, arrays):
                    weights[parameter.name] = self._canonical(layer.kind, value)
        return weights

    def _native(self, _kind, array):
        """Turn a canonical weight of a kind of layer as the backend has it, which for most is the same."""
        return array

    def _canonical(self, _kind, array):
        return array

    def _conv2d(self, layer):
        settings = layer.settings
        return LAYERS.Conv2D(
            settings["filters"],
            settings["kernel"],
            strides=settings["stride"],
            padding="same" if any(settings["pads"]) and _pads_itself(layer) else "valid",
            use_bias=settings["bias"],
            kernel_regularizer=_l2(settings),
        )

    def _dense(self, layer):
        return LAYERS.Dense(layer.settings["units"], kernel_regularizer=_l2(layer.settings))

    def _embedding(self, layer):
        return LAYERS.Embedding(layer.settings["vocabulary"], layer.settings["units"])

    def _concatenate(self, layer):
        return LAYERS.Concatenate(axis=1 if layer.settings["image"] and not self.channels_last else -1)

    def _repeat(self, layer):
        return LAYERS.RepeatVector(layer.settings["times"])

    def _time_distributed(self, layer):
        inner = layer.settings["layer"]
        return LAYERS.TimeDistributed(getattr(self, "_" + inner.kind)(inner))

    def _sigmoid(self, _layer):
        return LAYERS.Activation("sigmoid")

    def _tanh(self, _layer):
        return LAYERS.Activation("tanh")

    def _softmax(self, _layer):
        return LAYERS.Activation("softmax")

    def _lstm(self, layer):
        # The default for the gates is `hard_sigmoid` in Keras 2.
        return LAYERS.LSTM(
            layer.settings["units"],
            recurrent_activation="sigmoid",
            return_sequences=layer.settings["sequences"],
            unroll=self.unroll,
        )

    def _batch_norm(self, layer):
        axis = -1 if self.channels_last or len(layer.input_shape) == 1 else 1
        rule = {"epsilon": layer.settings["epsilon"], "momentum": layer.settings["momentum"]}
        return LAYERS.BatchNormalization(axis=axis, **rule)

    def _max_pool(self, layer):
        return LAYERS.MaxPooling2D(layer.settings["size"], layer.settings["stride"])

    def _average_pool(self, layer):
        return LAYERS.AveragePooling2D(layer.settings["size"])

    def _global_average_pool(self, _layer):
        return LAYERS.GlobalAveragePooling2D()

    def _add(self, _layer):
        return LAYERS.Add()

    def _flatten(self, _layer):
        # Values stay as they lie in either layout. Since Keras 2.2, `channels_first` would transpose them.
        try:
            return LAYERS.Flatten(data_format="channels_last")
        except TypeError:
            return LAYERS.Flatten()

    def _relu(self, _layer):
        return LAYERS.Activation("relu")

    def _dropout(self, layer):
        return LAYERS.Dropout(layer.settings["rate"])


def _l2(settings):
    return keras.regularizers.l2(settings["l2"]) if settings.get("l2") else None


def _pads_itself(layer):
    """Return whether Keras' own padding is that of the convolution.

    With strides, or with more padding on one side, backends pad in other ways.
    """
    pads, kernel = layer.settings["pads"], layer.settings["kernel"]
    return not any(pads) or (layer.settings["stride"] == 1 and pads == (kernel // 2,) * 4)


def _cross_entropy(labels, logits):
    """Return the softmax cross-entropy of each sample."""
    return backend.sparse_categorical_crossentropy(labels, logits, from_logits=True)
