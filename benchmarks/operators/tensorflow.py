"""Operators of TensorFlow 2, each in a `tf.function` of its own unless the option `eager` says otherwise."""

import tensorflow as tf

from benchmarks import operators
from benchmarks.frameworks.tensorflow import (
    OPTIONS,  # noqa: F401 -- a part of the interface
    configure,
    decorator,
    peak_device_bytes,
    synchronise_devices,
)
from benchmarks.native import tensorflow as native


def start(settings):
    """Return a session on the device that is asked for."""
    return _Session(settings)


class _Session:
    _in_use = None

    def __init__(self, settings):
        operators.require(settings, "precision", "fp32")
        operators.require(settings, "layout", "auto")
        self._gpu = operators.one_device(settings)
        self._device = "/GPU:0" if self._gpu else "/CPU:0"
        configure(settings.threads, self._gpu, "fp32")
        # A call returns when its CPU kernel is done, whatever the environment says.
        tf.config.experimental.set_synchronous_execution(True)
        self._compiled = decorator(settings.options)
        self._options = settings.options

    def call(self, name):
        """Return the function of an operator, in the form that the options ask for."""
        function = operators.of(_FUNCTIONS, name, "TensorFlow")
        if self._compiled and not name.startswith("tensor_"):
            function = self._compiled(function)
        if not self._gpu:
            return function  # the one device that there is

        def on_device(*inputs):
            with tf.device(self._device):
                return function(*inputs)

        return on_device

    def placed(self, array):
        """Copy an array to the device."""
        with tf.device(self._device):
            return tf.identity(tf.constant(array))

    def synchronise(self, _handle):
        """Wait for the GPU. On a CPU execution is synchronous."""
        if self._gpu:
            synchronise_devices()

    @staticmethod
    def fetch(handle):
        """Copy the output to the host."""
        return handle.numpy()

    def device_in_use(self):
        """Return the device of a tensor that is computed where the operators are."""
        if self._in_use is None:  # once, as a GPU that is lost later takes no finished measurement with it
            self._in_use = native.computed_on(self._device)
        return self._in_use

    def facts(self):
        """Return the facts that TensorFlow reports."""
        graph = "tf.function with XLA" if self._options["xla"] else "tf.function"
        return {
            "framework_version": tf.__version__,
            "precision": "float32",
            "threads": tf.config.threading.get_intra_op_parallelism_threads() or None,
            "device": self.device_in_use(),
            "execution": graph if self._compiled else "eager",
        }

    def peak_device_bytes(self):
        """Return the highest use of TensorFlow's own allocator on the GPU, in bytes."""
        return peak_device_bytes() if self._gpu else None


def _tensor(values):
    return tf.constant(values, tf.float32)


_FUNCTIONS = {
    "tensor_from_numpy": _tensor,
    "tensor_from_list": _tensor,
    "sigmoid": tf.math.sigmoid,
    "relu": tf.nn.relu,
    "tanh": tf.math.tanh,
    "softplus": tf.math.softplus,
    "softsign": tf.nn.softsign,
    "dot": lambda one, other: tf.tensordot(one, other, 1),
    "gemm": tf.linalg.matmul,
    "flatten": lambda matrix: tf.reshape(matrix, [-1]),
    "l2_normalize": lambda row: tf.math.l2_normalize(row, axis=1),
    "broadcast_add": tf.math.add,
    "broadcast_multiply": tf.math.multiply,
    "broadcast_maximum": tf.math.maximum,
}
