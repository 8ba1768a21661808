"""Operators of Apache MXNet 1.x, each in a hybridized block of its own unless the option `hybridize` is off."""

import mxnet as mx
from mxnet import gluon

from benchmarks import operators
from benchmarks.errors import Unsupported
from benchmarks.frameworks.mxnet import (
    OPTIONS,  # noqa: F401 -- a part of the interface
    STATIC,
    openmp_threads,
)
from benchmarks.native import mxnet as native


def start(settings):
    """Return a session on the device that is asked for."""
    return _Session(settings)


class _Session:
    _in_use = None

    def __init__(self, settings):
        operators.require(settings, "precision", "fp32")
        operators.require(settings, "layout", "auto")
        self._context = mx.gpu(0) if operators.one_device(settings) else mx.cpu()
        self._hybrid = settings.options["hybridize"]

    def call(self, name):
        """Return the function of an operator, in the form that the options ask for."""
        if name.startswith("tensor_"):
            return lambda values: mx.nd.array(values, self._context, dtype="float32")
        function = operators.of(_FUNCTIONS, name, "MXNet")
        if not self._hybrid:
            return lambda *inputs: function(mx.nd, *inputs)
        block = _Block(function)
        block.hybridize(**STATIC)
        return block

    def placed(self, array):
        """Copy an array to the device."""
        return mx.nd.array(array, self._context)

    @staticmethod
    def synchronise(handle):
        """Wait for the output."""
        handle.wait_to_read()

    @staticmethod
    def fetch(handle):
        """Copy the output to the host. A scalar is a vector of one value here."""
        return handle.asnumpy()

    def device_in_use(self):
        """Return the device of a tensor that is computed where the operators are."""
        if self._in_use is None:  # once, as a GPU that is lost later takes no finished measurement with it
            self._in_use = native.computed_on(self._context)
        return self._in_use

    def facts(self):
        """Return the facts that MXNet reports."""
        return {
            "framework_version": mx.__version__,
            "precision": "float32",
            "threads": openmp_threads(),
            "device": self.device_in_use(),
            "execution": ("hybridized, static" if STATIC else "hybridized") if self._hybrid else "imperative",
        }

    @staticmethod
    def peak_device_bytes():
        """Return None, because MXNet records no highest use."""


class _Block(gluon.HybridBlock):
    def __init__(self, function):
        super().__init__()
        self._function = function

    def hybrid_forward(self, F, *inputs):
        return self._function(F, *inputs)


def _softsign(F, vector):
    if not hasattr(F, "softsign"):
        raise Unsupported("MXNet %s has no operator softsign" % mx.__version__)
    return F.softsign(vector)


_FUNCTIONS = {
    "sigmoid": lambda F, vector: F.sigmoid(vector),
    "relu": lambda F, vector: F.relu(vector),
    "tanh": lambda F, vector: F.tanh(vector),
    "softplus": lambda F, vector: F.Activation(vector, act_type="softrelu"),
    "softsign": _softsign,
    "dot": lambda F, one, other: F.dot(one, other),
    "gemm": lambda F, one, other: F.dot(one, other),
    "flatten": lambda F, matrix: F.reshape(matrix, shape=(-1,)),
    "l2_normalize": lambda F, row: F.L2Normalization(row),
    "broadcast_add": lambda F, matrix, row: F.broadcast_add(matrix, row),
    "broadcast_multiply": lambda F, matrix, row: F.broadcast_mul(matrix, row),
    "broadcast_maximum": lambda F, matrix, row: F.broadcast_maximum(matrix, row),
}
