"""Theano under Keras 2.

Theano convolves, which flips the kernels that every other framework correlates with: they are flipped in and out.
"""

import theano

from benchmarks.errors import Unsupported
from benchmarks.native import blas
from benchmarks.native.keras import keras2

LAYOUT = "channels_first"


def prepare(_threads, gpu):
    """Return the device. Threads are those of BLAS alone, which takes them from its variables when it is loaded."""
    if gpu:
        raise Unsupported("Theano computes on GPUs with libgpuarray, which this builder does not set up")
    return theano.config.device


def version():
    """Return the version that Theano reports."""
    return theano.__version__


def facts():
    """Return Theano's flags that decide what is compiled, and the threads of the BLAS that it calls."""
    flags = ("blas.ldflags", "cxx", "device", "floatX", "mode", "openmp", "optimizer")
    return {"threads": blas.threads(), "theano_flags": {name: _flag(name) for name in flags}}


def _flag(name):
    value = theano.config
    for part in name.split("."):
        value = getattr(value, part)
    return value if isinstance(value, bool) else str(value)


class TheanoBuilder(keras2.Keras2Builder):
    """A maker of layers whose kernels are flipped."""

    def _native(self, kind, array):
        return array[::-1, ::-1] if kind == "conv2d" and array.ndim == 4 else array

    _canonical = _native

    def _gru(self, _layer):
        raise Unsupported("Keras on Theano lacks layer gru")

    def _separable_conv2d(self, _layer):
        raise Unsupported("Keras on Theano lacks layer separable_conv2d")

    def _max_pool(self, layer):
        if any(layer.settings["pads"]):
            raise Unsupported("Keras on Theano lacks padded pools")
        return super()._max_pool(layer)


BUILDER = TheanoBuilder
