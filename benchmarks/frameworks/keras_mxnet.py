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

from benchmarks.errors import Unsupported
from benchmarks.inputs import feeds
from benchmarks.loaders.keras_mxnet import ArraySlices
from benchmarks.native import LAYOUTS, one_of
from benchmarks.native import keras_mxnet as native_layers
from benchmarks.vocabulary import features
from benchmarks.vocabulary.weights import channel_first_rows, channels_last_rows

FEEDS = ("fed", "loader")
OPTIONS = {"layout": "auto"}
OFFERS = features.ALL - {
    "layer concatenate",
    "layer gru",
    "layer repeat",
    "layer separable_conv2d",
    "padded pools",
}
"""Keras-MXNet does not infer what an LSTM yields, as joining and repeating need. MXNet updates a GRU's second bias
whatever Keras' constraint says. A separable convolution is one convolution for each channel, and pools pad
otherwise."""


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
        network.compile(optimizer=_optimizer(workload.optimizer), loss=_loss(workload.loss), context=[self._context])
        self.parameters = _count(network)
        if workload.training:
            self.batches = feeds.batches(workload, self._pair, ArraySlices(_columns, self._laid))
            self.step = lambda batch: network.train_on_batch(*batch)
        else:
            place = self._inputs_alone
            self.batches = feeds.batches(workload, place, ArraySlices(lambda inputs, _labels: inputs, self._laid))
            self.step = network.predict_on_batch

    def _pair(self, inputs, labels):
        return _columns(self._laid(inputs), labels)

    def _inputs_alone(self, inputs, _labels):
        return self._laid(inputs)

    def _laid(self, inputs):
        """Return a batch of canonical images in the layout that runs here, and any other batch as it is.

        Of several inputs it is a list.
        """
        if isinstance(inputs, tuple):
            return [self._laid(each) for each in inputs]
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


def _columns(inputs, labels):
    """Return a batch with its classes in a column, as Keras takes them; targets are a row for each sample already."""
    return inputs, labels.reshape(len(labels), -1)


def _network(workload, channels_last):
    inputs = [_input(tuple(each.shape), channels_last) for each in workload.inputs]
    values = {-number: each for number, each in enumerate(inputs)}
    natives = []
    for position, layer in enumerate(workload.layers, 1):
        taken = [values[position] for position in layer.inputs]
        if layer.kind == "conv2d" and not native_layers.pads_itself(layer):
            top, bottom, left, right = layer.settings["pads"]
            taken = [keras.layers.ZeroPadding2D(((top, bottom), (left, right)))(taken[0])]
        if layer.settings.get("rate") == 0:
            # Keras-MXNet evaluates a layer that hands on what it takes, which fails.
            natives.append(None)
            values[position] = taken[0]
            continue
        natives.append(native_layers.make(layer))
        if layer.kind == "time_distributed" and len(layer.input_shape) == 3 and not channels_last:
            taken = [keras.layers.Permute((2, 3, 1))(taken[0])]
        values[position] = natives[-1](taken if len(taken) > 1 else taken[0])
    network = keras.models.Model(inputs if len(inputs) > 1 else inputs[0], values[len(workload.layers)])
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


def _input(shape, channels_last):
    return keras.layers.Input(shape[1:] + shape[:1] if channels_last and len(shape) == 3 else shape)


def _turned(array, axes):
    """Turn a weight into Keras-MXNet's layout or back, which moves the axes of convolutions alone."""
    return array.transpose(axes) if array.ndim == 4 else array


def _count(layers):
    """Count the trainable parameters of a layer or a network, as Keras does."""
    return int(sum(backend.count_params(weights) for weights in layers.trainable_weights))


def _loss(name):
    return keras.losses.mean_squared_error if name == "mean_squared_error" else _cross_entropy


def _cross_entropy(labels, logits):
    return backend.sparse_categorical_crossentropy(labels, logits, from_logits=True)


def _optimizer(settings):
    rate, decay = settings["learning_rate"], settings.get("decay", 0.0)
    if settings["name"] == "adadelta":
        if rate != 1 or decay:
            raise Unsupported("MXNet's Adadelta has no learning rate; a model with one of 1 and no decay runs")
        return keras.optimizers.Adadelta(lr=rate, rho=settings["rho"], epsilon=settings["epsilon"])
    if decay:
        return _decaying(settings, decay)
    return _constant(settings, rate)


def _decaying(settings, decay):
    """Return an optimizer whose rate decays by Keras' rule.

    Keras-MXNet divides by 1 + decay * t with the number t of this step and not of those before it. Another rate and
    decay of the same curve, one step earlier, make up for that.
    """
    if decay >= 1:
        raise Unsupported("Keras-MXNet begins to decay one step early, which a decay below 1 can make up for")
    return _constant(settings, settings["learning_rate"] / (1 - decay), decay=decay / (1 - decay))


def _constant(settings, rate, **decay):
    if settings["name"] == "adam":
        betas = {"beta_1": settings["beta_1"], "beta_2": settings["beta_2"]}
        return keras.optimizers.Adam(lr=rate, epsilon=settings["epsilon"], **betas, **decay)
    if settings["name"] == "rmsprop":
        # Keras adds epsilon outside the root; on MXNet it hands it to MXNet's own kernel, which adds it inside.
        return keras.optimizers.RMSprop(lr=rate, rho=settings["rho"], epsilon=settings["epsilon"] ** 2, **decay)
    return keras.optimizers.SGD(lr=rate, momentum=settings["momentum"], **decay)
