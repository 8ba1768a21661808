"""Keras 2 on MXNet (the keras-mxnet distribution): `train_on_batch` and `predict_on_batch`, channels first.

Keras-MXNet takes NumPy batches, checks and copies each one at every step, and it fetches the loss (or the logits)
at every step too: all of it is its own doing, and part of what is measured.
"""

import os

os.environ["KERAS_BACKEND"] = "mxnet"

import keras
import mxnet as mx
from keras import backend

OPTIONS = {}


def start(workload):
    """Build and compile the model, and lay out its batches."""
    return _Session(workload)


class _Session:
    short_blocks = False

    def __init__(self, workload):
        mx.random.seed(workload.seed)
        self._context = "gpu(0)" if workload.one_device() else "cpu"
        backend.set_image_data_format("channels_first")
        network = _network(workload)
        network.compile(optimizer=_optimizer(workload.optimizer), loss=_loss, context=[self._context])
        self.parameters = network.count_params()
        if workload.training:
            self.batches = [(inputs, labels.reshape(-1, 1)) for inputs, labels in workload.batches()]
            self.step = lambda batch: network.train_on_batch(*batch)
        else:
            self.batches = [inputs for inputs, _ in workload.batches()]
            self.step = network.predict_on_batch

    @staticmethod
    def synchronise(_handle):
        """Wait until MXNet's engine has nothing left to do: the update may still run when the loss is back."""
        mx.nd.waitall()

    @staticmethod
    def fetch(handle):
        """`predict_on_batch` has fetched the logits already."""
        return handle

    @staticmethod
    def loss(handle):
        """Mean over the batch."""
        return float(handle)

    def facts(self):
        """Threads are OpenMP's, as the library that MXNet itself is linked to tells them."""
        return {
            "framework_version": "%s on MXNet %s" % (keras.__version__, mx.__version__),
            "layout": "channels_first",
            "precision": "float32",
            "threads": int(mx.base._LIB.omp_get_max_threads()),
            "device": self._context,
            "execution": "train_on_batch",
        }

    @staticmethod
    def peak_device_bytes():
        """MXNet keeps no highest use."""


def _network(workload):
    inputs = keras.layers.Input(workload.input_shape)
    outputs = inputs
    made = []
    for layer in workload.layers:
        made.append(_LAYERS[layer.kind](layer))
        outputs = made[-1](outputs)
    network = keras.models.Model(inputs, outputs)
    weights = workload.weights()
    for layer, native in zip(workload.layers, made):
        if layer.parameters:
            weight, bias = (weights[parameter.name] for parameter in layer.parameters)
            native.set_weights([weight.transpose(3, 2, 0, 1) if weight.ndim == 4 else weight, bias])
    return network


_LAYERS = {
    "conv2d": lambda layer: keras.layers.Conv2D(layer.settings["filters"], layer.settings["kernel"]),
    "dense": lambda layer: keras.layers.Dense(layer.settings["units"]),
    "average_pool": lambda layer: keras.layers.AveragePooling2D(layer.settings["size"]),
    # Told that its input is channels last, Flatten leaves the order alone, which is channel first here.
    "flatten": lambda _layer: keras.layers.Flatten(data_format="channels_last"),
    "relu": lambda _layer: keras.layers.Activation("relu"),
    "dropout": lambda layer: keras.layers.Dropout(layer.settings["rate"]),
}


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
