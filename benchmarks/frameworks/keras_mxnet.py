"""Keras 2 on MXNet (the keras-mxnet distribution), through `train_on_batch` and `predict_on_batch`.

Images are channels first unless the option `layout` says otherwise. MXNet's kernels are channels first, too. With
channels last, Keras-MXNet transposes before and after each one of them, and the weights of each convolution.

Keras-MXNet takes NumPy batches. It checks and copies each one at every step, and it fetches the loss (or the logits) at
every step. All of that is its own work, and part of what is measured.
"""

import os

os.environ["KERAS_BACKEND"] = "mxnet"

import keras
import mxnet as mx
import numpy
from keras import backend
from keras.backend.mxnet_backend import KerasSymbol, keras_mxnet_symbol

from benchmarks.errors import Unsupported
from benchmarks.native import LAYOUTS, one_of
from benchmarks.vocabulary.weights import channel_first_rows, channels_last_rows

OPTIONS = {"layout": "auto"}


def start(workload):
    """Build and compile the model, and lay out its batches."""
    return _Session(workload)


class _Session:
    short_blocks = False

    def __init__(self, workload):
        mx.random.seed(workload.seed)
        self._context = "gpu(0)" if workload.one_device() else "cpu"
        self._last = one_of(workload.options, "layout", LAYOUTS) == "channels_last"
        backend.set_image_data_format("channels_last" if self._last else "channels_first")
        self._layers = workload.layers
        network, self._native = _network(workload, self._last)
        self._network = network
        network.compile(optimizer=_optimizer(workload.optimizer), loss=_loss, context=[self._context])
        self.parameters = _count(network)
        if workload.training:
            self.batches = [(self._laid(inputs), labels.reshape(-1, 1)) for inputs, labels in workload.batches()]
            self.step = lambda batch: network.train_on_batch(*batch)
        else:
            self.batches = [self._laid(inputs) for inputs, _ in workload.batches()]
            self.step = network.predict_on_batch

    def _laid(self, inputs):
        """Return a batch of canonical images in the layout that runs here, and any other batch as it is."""
        if not self._last or inputs.ndim != 4:
            return inputs
        return numpy.ascontiguousarray(inputs.transpose(0, 2, 3, 1))

    @staticmethod
    def synchronise(_handle):
        """Wait until MXNet's engine is idle, because the update may still run when the loss is back."""
        mx.nd.waitall()

    @staticmethod
    def fetch(handle):
        """Return the logits, which `predict_on_batch` has fetched already."""
        return handle

    @staticmethod
    def loss(handle):
        """Return the mean over the batch."""
        return float(handle)

    def weights(self):
        """Copy the trained weights to the host. In Keras, running values of batch norm come after them."""
        weights = {}
        for layer, native in zip(self._layers, self._native):
            if layer.parameters:
                arrays = native.get_weights()
                if self._last:
                    arrays[0] = channel_first_rows(arrays[0], layer.settings.get("flattened"))
                for parameter, value in zip(layer.parameters, arrays):
                    weights[parameter.name] = value if self._last else _turned(value, (2, 3, 1, 0))
        return weights

    def native_layers(self):
        """Return every native layer, with the shape that Keras has inferred."""
        return [
            (layer.name, self._canonical(native.output_shape[1:]), _count(native))
            for layer, native in zip(self._layers, self._native)
            if native is not None
        ]

    def _canonical(self, shape):
        return tuple(shape[-1:]) + tuple(shape[:-1]) if self._last and len(shape) == 3 else shape

    def predict(self, inputs):
        """Return logits from MXNet's executor for prediction, which shares its weights with that for training."""
        return self._network.predict_on_batch(self._laid(inputs))

    def facts(self):
        """Return facts, with the threads that OpenMP reports in the library that MXNet itself is linked to."""
        return {
            "framework_version": "%s on MXNet %s" % (keras.__version__, mx.__version__),
            "layout": backend.image_data_format(),
            "precision": backend.floatx(),
            "threads": int(mx.base._LIB.omp_get_max_threads()),
            "device": self._context,
            "execution": "train_on_batch",
        }

    @staticmethod
    def peak_device_bytes():
        """Return None, because MXNet records no highest use."""


def _network(workload, channels_last):
    shape = tuple(workload.input_shape)
    inputs = keras.layers.Input(shape[1:] + shape[:1] if channels_last and len(shape) == 3 else shape)
    values = [inputs]
    natives = []
    for layer in workload.layers:
        taken = [values[position] for position in layer.inputs]
        if layer.kind == "conv2d" and not _pads_itself(layer):
            top, bottom, left, right = layer.settings["pads"]
            taken = [keras.layers.ZeroPadding2D(((top, bottom), (left, right)))(taken[0])]
        if layer.settings.get("rate") == 0:
            # Keras-MXNet evaluates a layer that hands on what it takes, which fails.
            natives.append(None)
            values.append(taken[0])
            continue
        natives.append(_LAYERS[layer.kind](layer))
        values.append(natives[-1](taken if len(taken) > 1 else taken[0]))
    network = keras.models.Model(inputs, values[-1])
    weights = workload.weights()
    for layer, native in zip(workload.layers, natives):
        if layer.parameters:
            drawn = [weights[parameter.name] for parameter in layer.parameters]
            if channels_last:
                drawn[0] = channels_last_rows(drawn[0], layer.settings.get("flattened"))
            else:
                drawn = [_turned(each, (3, 2, 0, 1)) for each in drawn]
            native.set_weights(drawn + native.get_weights()[len(drawn) :])
    return network, natives


def _pads_itself(layer):
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
        padding="same" if any(settings["pads"]) and _pads_itself(layer) else "valid",
        use_bias=settings["bias"],
    )


_LAYERS = {
    "conv2d": _conv2d,
    "dense": lambda layer: keras.layers.Dense(layer.settings["units"]),
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


def _turned(array, axes):
    """Turn a weight into Keras-MXNet's layout or back, which moves the axes of convolutions alone."""
    return array.transpose(axes) if array.ndim == 4 else array


def _count(layers):
    """Count the trainable parameters of a layer or a network, as Keras does."""
    return int(sum(backend.count_params(weights) for weights in layers.trainable_weights))


def _loss(labels, logits):
    return backend.sparse_categorical_crossentropy(labels, logits, from_logits=True)


def _optimizer(settings):
    rate = settings["learning_rate"]
    if settings["name"] == "adam":
        betas = {"beta_1": settings["beta_1"], "beta_2": settings["beta_2"]}
        return keras.optimizers.Adam(lr=rate, epsilon=settings["epsilon"], **betas)
    if settings["name"] == "rmsprop":
        # Keras adds epsilon outside the root; on MXNet it hands it to MXNet's own kernel, which adds it inside.
        return keras.optimizers.RMSprop(lr=rate, rho=settings["rho"], epsilon=settings["epsilon"] ** 2)
    return keras.optimizers.SGD(lr=rate, momentum=settings["momentum"])
