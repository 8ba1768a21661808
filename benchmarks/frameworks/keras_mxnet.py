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

from benchmarks import parallel
from benchmarks.native import LAYOUTS, mxnet, one_of
from benchmarks.native.keras import keras2_session
from benchmarks.native.keras.on_mxnet import MxnetBuilder
from benchmarks.vocabulary import features

FEEDS = keras2_session.FEEDS
SEVERAL_DEVICES = True
AVERAGING = "mean, by Keras-MXNet over the contexts, whose sum is divided by their number"
OPTIONS = {"layout": "auto"}
OFFERS = (
    features.ALL
    - features.TRANSFORMERS
    - {
        "GRU without reset_after",
        "bidirectional LSTM",
        "layer concatenate",
        "layer gru",
        "layer repeat",
        "layer separable_conv2d",
        "padded pools",
    }
)
"""Keras-MXNet does not infer what an LSTM yields, as joining, repeating and a bidirectional LSTM need. MXNet updates a
GRU's second bias whatever Keras' constraint says. A separable convolution is one convolution for each channel, and
pools pad otherwise."""


def start(workload):
    """Build and compile the model, and lay out its batches."""
    return _Session(workload)


class _Session(keras2_session.Keras2Session):
    def __init__(self, workload):
        mx.random.seed(workload.seed)
        is_shared = workload.training and workload.devices > 1
        is_on_gpus = workload.gpus > 0 if is_shared else workload.one_device()
        contexts = ["cpu"] * workload.devices
        self._names = contexts
        if is_on_gpus:
            contexts = ["gpu(%d)" % number for number in range(workload.devices)]
            self._names = [mxnet.computed_on(mx.gpu(number)) for number in range(workload.devices)]
        self._workload = workload if is_shared else None
        last = one_of(workload.options, "layout", LAYOUTS) == "channels_last"
        super().__init__(workload, MxnetBuilder(last, workload.devices), context=contexts)

    @staticmethod
    def synchronise(_handle):
        """Wait until MXNet's engine is idle, because the update may still run when the loss is back."""
        mx.nd.waitall()

    def devices_in_use(self):
        """Return the context of an array that each device has computed. On CPUs, it is the one that Keras was given."""
        return self._names

    def device_in_use(self):
        """Return the first of them."""
        return self._names[0]

    def facts(self):
        """Return facts, with the threads that OpenMP reports in the library that MXNet itself is linked to."""
        facts = {
            "framework_version": "%s on MXNet %s" % (keras.__version__, mx.__version__),
            "layout": backend.image_data_format(),
            "precision": backend.floatx(),
            "threads": int(mx.base._LIB.omp_get_max_threads()),
            "device": self.device_in_use(),
            "execution": "train_on_batch",
        }
        if self._workload is None:
            return facts
        return dict(facts, parallel=parallel.facts(self._workload, self._names, AVERAGING, "mean over the devices"))
