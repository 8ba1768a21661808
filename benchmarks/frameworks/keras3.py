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
from benchmarks.native.keras import keras3, keras3_decoding, keras3_on, transformer
from benchmarks.timing import generation
from benchmarks.vocabulary import features

FEEDS = ("fed",)
WHY_NO_LOADER = ": Keras 3 leaves loading to its backends"
OPTIONS = {"layout": "auto"}
OFFERS = features.ALL - {"sparse inputs"}


def start(workload):
    """Build and compile the model, and lay out its batches."""
    _require_backend()
    return _Session(workload)


def generator(workload):
    """Build the model, compile the steps that generate, and place its prompts."""
    _require_backend()
    return _Generator(workload)


def _require_backend():
    if keras.backend.backend() not in keras3_on.TITLES:
        message = "this builder has Keras on %s; here it runs on %s"
        raise Unsupported(message % (", ".join(sorted(keras3_on.TITLES)), keras.backend.backend()))


class _Session(keras3.Keras3Session):
    _generating = False

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
        facts.update(operators(self._layers, transformer.operators(self._layers, self._generating)))
        return facts


class _Generator(_Session):
    """A session whose batches are prompts, and whose steps choose tokens."""

    _generating = True

    def __init__(self, workload):
        super().__init__(workload)
        self._prompt = workload.generation.prompt
        self.batches = [keras.ops.convert_to_tensor(inputs[:, : self._prompt], "int32") for inputs in self.batches]
        given = (self._network, self._layers, self._made, workload.generation, workload.batch_size)
        self._prefill, self._decode = keras3_decoding.functions(*given)
        self._positions = [keras.ops.convert_to_tensor(each, "int32") for each in range(sum(workload.generation))]
        self._held = self._position = None

    def prefill(self, prompt):
        """Begin anew with a prompt, and choose the token after it."""
        self._position = self._prompt
        return self._kept(self._prefill(prompt))

    def decode(self, step):
        """Choose the token after that of a step."""
        position = self._positions[self._position]
        self._position += 1
        return self._kept(self._decode(step.tokens, position, self._held))

    def _kept(self, returned):
        tokens, logits, self._held = returned
        return generation.Step(tokens, logits)

    @staticmethod
    def tokens(step):
        """Copy the tokens of a step to the host."""
        return keras.ops.convert_to_numpy(step.tokens)

    @staticmethod
    def logits(step):
        """Copy the logits of a step to the host."""
        return keras.ops.convert_to_numpy(step.logits)

    def facts(self):
        """Return the facts of a session, and how its steps are run."""
        execution = {"jax": "jax.jit", "tensorflow": "tf.function", "torch": "eager"}[self._backend]
        return dict(super().facts(), execution=execution)
