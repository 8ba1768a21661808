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
from keras import backend

from benchmarks.native import LAYOUTS, mxnet, one_of
from benchmarks.native.keras import keras2_session
from benchmarks.native.keras.on_mxnet import MxnetBuilder
from benchmarks.vocabulary import features

FEEDS = keras2_session.FEEDS
OPTIONS = {"layout": "auto"}
OFFERS = features.ALL - {
    "GRU without reset_after",
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


class _Session(keras2_session.Keras2Session):
    def __init__(self, workload):
        mx.random.seed(workload.seed)
        self._context = "gpu(0)" if workload.one_device() else "cpu"
        self._in_use = self._context if self._context == "cpu" else mxnet.computed_on(mx.gpu(0))
        last = one_of(workload.options, "layout", LAYOUTS) == "channels_last"
        super().__init__(workload, MxnetBuilder(last), context=[self._context])

    @staticmethod
    def synchronise(_handle):
        """Wait until MXNet's engine is idle, because the update may still run when the loss is back."""
        mx.nd.waitall()

    def device_in_use(self):
        """Return the context of an array that is computed where the steps are computed."""
        return self._in_use

    def facts(self):
        """Return facts, with the threads that OpenMP reports in the library that MXNet itself is linked to."""
        return {
            "framework_version": "%s on MXNet %s" % (keras.__version__, mx.__version__),
            "layout": backend.image_data_format(),
            "precision": backend.floatx(),
            "threads": int(mx.base._LIB.omp_get_max_threads()),
            "device": self.device_in_use(),
            "execution": "train_on_batch",
        }
