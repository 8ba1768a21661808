"""Layers of Keras 2 for the vocabulary, on every backend, and the places of their weights.

Importing it imports Keras, which chooses its backend by the variable `KERAS_BACKEND`.
"""

import inspect

import keras
import numpy
from keras import backend

from benchmarks.errors import Unsupported
from benchmarks.inputs import sparse
from benchmarks.native.keras import transformer
from benchmarks.vocabulary import weights as canonical
from benchmarks.vocabulary import windows

LAYERS = keras.layers
_HAS_RESET_AFTER = "reset_after" in inspect.signature(LAYERS.GRU.__init__).parameters
_FIRST = numpy.array([[1.0], [0.0]], numpy.float32)


class Keras2Builder:
    """A maker of the layers of one model, in one data format, of which the whole process has one."""

    unroll = False
    """True if a recurrent layer is to be written out, step by step, because the backend has no fast loop."""

    epsilon_inside = False
    """True if the backend adds RMSprop's epsilon inside the root, as MXNet's own kernel does, and not outside as Keras.

    `optimizers` says why it is squared inside alone.
    """

    pools_alike = False
    """True if the backend pads a `same` pool as the vocabulary does, also unevenly."""

    def __init__(self, channels_last):
        self.channels_last = channels_last
        backend.set_image_data_format("channels_last" if channels_last else "channels_first")

    def network(self, layers, shapes):
        """Return the Keras model of recorded layers, and its native layers in their order.

        A layer that hands on what it takes has no native one.
        """
        inputs = [LAYERS.Input(self.native_shape(each.shape), sparse=each.kind == "sparse") for each in shapes]
        values, made = {-number: each for number, each in enumerate(inputs)}, []
        for number, layer in enumerate(layers, 1):
            taken = [values[position] for position in layer.inputs]
            if not self._pads_itself(layer):
                taken = [self._padded(layer, taken[0])]
            if layer.settings.get("rate") == 0:
                # Keras calls a layer that yields the very tensor it takes, which some backends cannot evaluate.
                made.append(None)
                values[number] = taken[0]
                continue
            made.append(getattr(self, "_" + layer.kind)(layer))
            if layer.kind == "time_distributed" and len(layer.input_shape) == 3 and not self.channels_last:
                taken = [LAYERS.Permute((2, 3, 1))(taken[0])]
            values[number] = _called(made[-1], layer, taken)
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

    def parameters(self, layer, native):
        """Count the logical weights that a native layer trains. The second bias of a GRU is none."""
        return self.count(native) - canonical.spare_bias(layer)

    @staticmethod
    def output_shape(native):
        """Return the shape that a layer yields, without the batch."""
        return native.output_shape[1:]

    @staticmethod
    def first_bias(biases):
        """Constrain a GRU's two biases: the second stays at zero."""
        return biases * backend.constant(_FIRST, shape=_FIRST.shape)

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

        Of several inputs it is a list. Sparse rows are a matrix of SciPy, which Keras takes.
        """
        if isinstance(inputs, tuple):
            return [self.native_inputs(each) for each in inputs]
        if isinstance(inputs, sparse.Rows):
            # Keras 2 needs SciPy, and Keras 3, which has these layers too, does not.
            import scipy.sparse

            return scipy.sparse.csr_matrix(inputs.csr(), inputs.shape)
        if not self.channels_last or inputs.ndim != 4:
            return inputs
        return numpy.ascontiguousarray(inputs.transpose(0, 2, 3, 1))

    def native_layers(self, layers, made):
        """Return the name, the shape that Keras has inferred, and the trained weights of every native layer."""
        return [
            (layer.name, self.canonical_shape(self.output_shape(native)), self.parameters(layer, native))
            for layer, native in zip(layers, made)
            if native is not None
        ]

    def set_weights(self, layers, made, weights):
        """Set canonical arrays into the native layers. Running values of batch norm stay as Keras starts them.

        All are set at once, because TensorFlow 1 compiles its whole graph again for every call.
        """
        values = []
        for layer, native in zip(layers, made):
            if layer.parameters:
                arrays = [weights[parameter.name] for parameter in layer.parameters]
                if self.channels_last:
                    arrays[0] = canonical.channels_last_rows(arrays[0], layer.settings.get("flattened"))
                arrays = canonical.keras_gates(
                    [self._native(layer.kind, each) for each in arrays], canonical.gru_of(layer)
                )
                if layer.kind == "attention":  # whose own layer has axes of heads and of their sizes
                    arrays = [array.reshape(each.shape) for array, each in zip(arrays, native.weights)]
                values.extend(zip(native.weights, arrays))
        self.assign(values)

    def weights(self, layers, made):
        """Copy the trained weights to the host. In Keras, running values of batch norm come after them."""
        trained = [(layer, native.weights) for layer, native in zip(layers, made) if layer.parameters]
        values = iter(self.values([variable for _, variables in trained for variable in variables]))
        weights = {}
        for layer, variables in trained:
            arrays = canonical.canonical_gates([next(values) for _ in variables], canonical.gru_of(layer))
            if self.channels_last:
                arrays[0] = canonical.channel_first_rows(arrays[0], layer.settings.get("flattened"))
            for parameter, value in zip(layer.parameters, arrays):
                weights[parameter.name] = self._canonical(layer.kind, value).reshape(parameter.shape)
        return weights

    @staticmethod
    def assign(values):
        """Assign arrays to variables, given as pairs."""
        backend.batch_set_value(values)

    @staticmethod
    def values(variables):
        """Copy the arrays of variables to the host."""
        return backend.batch_get_value(variables)

    def _native(self, _kind, array):
        """Turn a canonical weight of a kind of layer as the backend has it, which for most is the same."""
        return array

    def _canonical(self, _kind, array):
        return array

    def _pads_itself(self, layer):
        """Return whether a layer has no pads, or Keras' own padding is that of the vocabulary.

        With strides, or with more padding on one side, backends pad convolutions in other ways, and some of them pools.
        """
        if not any(layer.settings.get("pads", ())):
            return True
        if layer.kind == "max_pool":
            return self.pools_alike or windows.is_centred(layer)
        return layer.settings["stride"] == 1 and windows.is_centred(layer)

    def _padded(self, layer, value):
        """Pad what a layer takes, by zeros or for a max pool by the least of all values."""
        top, bottom, left, right = layer.settings["pads"]
        value = LAYERS.ZeroPadding2D(((top, bottom), (left, right)))(value)
        if layer.kind != "max_pool":
            return value
        least = windows.padded_by_the_least(layer)
        least = least[:, :, None] if self.channels_last else least[None]
        return LAYERS.Lambda(lambda padded: padded + backend.constant(least, shape=least.shape))(value)

    def _conv2d(self, layer):
        return self._windowed(LAYERS.Conv2D, layer, kernel_regularizer=_l2(layer.settings))

    def _separable_conv2d(self, layer):
        return self._windowed(LAYERS.SeparableConv2D, layer)

    def _windowed(self, kind, layer, **rule):
        settings = layer.settings
        padding = "same" if any(settings["pads"]) and self._pads_itself(layer) else "valid"
        rule.update(strides=settings["stride"], padding=padding, use_bias=settings["bias"])
        return kind(settings["filters"], settings["kernel"], **rule)

    def _dense(self, layer):
        settings = layer.settings
        return LAYERS.Dense(settings["units"], use_bias=settings["bias"], kernel_regularizer=_l2(settings))

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
        lstm = LAYERS.LSTM(
            layer.settings["units"],
            recurrent_activation="sigmoid",
            return_sequences=layer.settings["sequences"],
            unroll=self.unroll,
        )
        return LAYERS.Bidirectional(lstm) if layer.settings["bidirectional"] else lstm

    def _gru(self, layer):
        rule = {"recurrent_activation": "sigmoid", "return_sequences": layer.settings["sequences"]}
        if _HAS_RESET_AFTER:
            rule["reset_after"] = layer.settings["reset_after"]
        elif layer.settings["reset_after"]:
            message = "Keras %s lacks a GRU that resets after the product; one with reset_after=False runs"
            raise Unsupported(message % keras.__version__)
        if layer.settings["reset_after"]:
            rule["bias_constraint"] = self.first_bias
        return LAYERS.GRU(layer.settings["units"], unroll=self.unroll, **rule)

    def _batch_norm(self, layer):
        axis = -1 if self.channels_last or len(layer.input_shape) == 1 else 1
        rule = {"epsilon": layer.settings["epsilon"], "momentum": layer.settings["momentum"]}
        return LAYERS.BatchNormalization(axis=axis, **rule)

    def _max_pool(self, layer):
        padding = "same" if any(layer.settings["pads"]) and self._pads_itself(layer) else "valid"
        return LAYERS.MaxPooling2D(layer.settings["size"], layer.settings["stride"], padding=padding)

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


def _called(native, layer, taken):
    """Return what a native layer yields. Raises `Unsupported` for a layer that the backend does not implement."""
    try:
        return transformer.called(native, layer, taken)
    except NotImplementedError:
        message = "Keras %s on %s lacks layer %s"
        raise Unsupported(message % (keras.__version__, backend.backend(), layer.kind)) from None


def _cross_entropy(labels, logits):
    """Return the softmax cross-entropy of each sample."""
    return backend.sparse_categorical_crossentropy(labels, logits, from_logits=True)
