"""Keras 2 on TensorFlow 1, Theano or CNTK, through `train_on_batch` and `predict_on_batch`.

The variable `KERAS_BACKEND` chooses the backend, and the catalog sets it. Images lie as the backend's own kernels for
CPUs take them, unless the option `layout` says otherwise: channels last in TensorFlow, channels first in the others.

Keras takes NumPy batches. It checks and copies each one at every step, and it fetches the loss (or the logits) at every
step. All of that is its own work, and part of what is measured.
"""

import importlib
import os

from benchmarks.native import compiled

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy
from keras import backend

from benchmarks.errors import Unsupported
from benchmarks.native import LAYOUTS, one_of
from benchmarks.native.keras import keras2_session
from benchmarks.vocabulary import features

FEEDS = keras2_session.FEEDS
OPTIONS = {"layout": "auto"}
OFFERS = features.ALL - features.TRANSFORMERS
"""A release without a layer, or without it on its backend, is named when the layer is made."""
BACKENDS = {"cntk": "CNTK", "tensorflow": "TensorFlow", "theano": "Theano"}


def start(workload):
    """Build and compile the model, and lay out its batches."""
    if backend.backend() not in BACKENDS:
        message = "this builder has Keras on %s; here it runs on %s"
        raise Unsupported(message % (", ".join(sorted(BACKENDS)), backend.backend()))
    if backend.backend() != "tensorflow" and any(each.kind == "sparse" for each in workload.inputs):
        # Keras takes Theano's sparse variables for no tensors.
        raise Unsupported("keras on %s lacks sparse inputs; on TensorFlow it has them" % BACKENDS[backend.backend()])
    return _Session(workload)


class _Session(keras2_session.Keras2Session):
    def __init__(self, workload):
        # Every backend draws the seeds of its dropouts from NumPy.
        numpy.random.seed(workload.seed)
        self._underneath = importlib.import_module("benchmarks.native.keras.on_" + backend.backend())
        self._device = self._underneath.prepare(workload.threads, workload.one_device())
        layout = one_of(workload.options, "layout", LAYOUTS)
        last = (self._underneath.LAYOUT if layout == "auto" else layout) == "channels_last"
        super().__init__(workload, self._underneath.BUILDER(last))

    def device_in_use(self):
        """Return the device that the backend computes on."""
        return self._device

    def facts(self):
        """Return facts of Keras and of the backend under it."""
        version = self._underneath.version()
        facts = {
            "framework_version": "%s on %s %s" % (keras.__version__, BACKENDS[backend.backend()], version),
            "backend": backend.backend(),
            "backend_version": version,
            "layout": backend.image_data_format(),
            "precision": backend.floatx(),
            "device": self.device_in_use(),
            "execution": "train_on_batch",
        }
        if backend.backend() == "theano":
            facts["compile_cache"] = compiled.state()
        return dict(facts, **self._underneath.facts())
