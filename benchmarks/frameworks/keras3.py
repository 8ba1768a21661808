"""Keras 3 on TensorFlow, PyTorch or JAX, through the steps of `fit` and through `predict_on_batch`.

The variable `KERAS_BACKEND` chooses the backend, and the catalog sets it. Images are channels last unless the option
`layout` says otherwise. Keras itself decides whether XLA compiles a step, and `xla` among the facts is its decision.

Keras takes NumPy batches. It copies each one at every step, and in inference it fetches the logits at every step. All
of that is its own work, and part of what is measured.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras

from benchmarks.errors import Unsupported
from benchmarks.native import LAYOUTS, image_kernels, one_of, operators
from benchmarks.native.keras import keras3, keras3_on, transformer
from benchmarks.vocabulary import features

FEEDS = ("fed",)
WHY_NO_LOADER = ": Keras 3 leaves loading to its backends"
OPTIONS = {"layout": "auto"}
OFFERS = features.ALL - {"sparse inputs"}


def start(workload):
    """Build and compile the model, and lay out its batches."""
    if keras.backend.backend() not in keras3_on.TITLES:
        message = "this builder has Keras on %s; here it runs on %s"
        raise Unsupported(message % (", ".join(sorted(keras3_on.TITLES)), keras.backend.backend()))
    return _Session(workload)


class _Session(keras3.Keras3Session):
    def __init__(self, workload):
        self._backend = keras.backend.backend()
        keras.utils.set_random_seed(workload.seed)
        self._device = keras3_on.prepare(self._backend, workload.threads, workload.one_device())
        layout = one_of(workload.options, "layout", LAYOUTS)
        if layout == "channels_first" and self._backend == "tensorflow" and not workload.one_device():
            image_kernels.require_channels_first(workload)
        super().__init__(workload, keras3.Keras3Builder(layout != "channels_first"))

    def device_in_use(self):
        """Return the device that the backend computes on."""
        return self._device

    def facts(self):
        """Return facts of Keras and of the backend under it."""
        version = keras3_on.version(self._backend)
        facts = {
            "framework_version": "%s on %s %s" % (keras.__version__, keras3_on.TITLES[self._backend], version),
            "backend": self._backend,
            "backend_version": version,
            "layout": keras.config.image_data_format(),
            "precision": keras.config.dtype_policy().name,
            "threads": keras3_on.threads(self._backend),
            "device": self.device_in_use(),
            "execution": "steps of fit" if self._steps else "predict_on_batch",
            "xla": bool(self._network.jit_compile),
        }
        facts.update(operators(self._layers, transformer.operators(self._layers)))
        return facts
