"""Operators of JAX, each in a `jax.jit` of its own, without TF32."""

import jax
import numpy
from jax import numpy as jnp

from benchmarks import operators
from benchmarks.frameworks.jax import (
    OPTIONS,  # noqa: F401 -- a part of the interface
    configure,
    pool_threads,
)
from benchmarks.native import jax as native


def start(settings):
    """Return a session on the device that is asked for."""
    return _Session(settings)


class _Session:
    _in_use = None

    def __init__(self, settings):
        operators.require(settings, "precision", "fp32")
        operators.require(settings, "layout", "auto")
        self._gpu = operators.one_device(settings)
        configure(settings.threads, self._gpu, "fp32")

    @staticmethod
    def call(name):
        """Return the function of an operator, compiled unless it only copies."""
        function = operators.of(_FUNCTIONS, name, "JAX")
        return function if name.startswith("tensor_") else jax.jit(function)

    @staticmethod
    def placed(array):
        """Copy an array to the device."""
        return jnp.array(array)

    @staticmethod
    def synchronise(handle):
        """Wait for the output."""
        handle.block_until_ready()

    @staticmethod
    def fetch(handle):
        """Copy the output to the host."""
        return numpy.asarray(handle)

    def device_in_use(self):
        """Return the device of an array that is computed where the operators are."""
        if self._in_use is None:  # once, as a GPU that is lost later takes no finished measurement with it
            self._in_use = native.computed_on()
        return self._in_use

    def facts(self):
        """Return the facts that JAX reports."""
        return {
            "framework_version": jax.__version__,
            "precision": "float32",
            "matmul_precision": jax.config.jax_default_matmul_precision,
            "threads": pool_threads(),
            "device": self.device_in_use(),
            "execution": "jax.jit",
        }

    def peak_device_bytes(self):
        """Return the highest use of XLA's own allocator on the GPU, in bytes."""
        return (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use") if self._gpu else None


def _tensor(values):
    return jnp.array(values, jnp.float32)


def _normalised(row):
    return row / jnp.linalg.norm(row, axis=1, keepdims=True)


_FUNCTIONS = {
    "tensor_from_numpy": _tensor,
    "tensor_from_list": _tensor,
    "sigmoid": jax.nn.sigmoid,
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "softplus": jax.nn.softplus,
    "softsign": jax.nn.soft_sign,
    "dot": jnp.dot,
    "gemm": jnp.matmul,
    "flatten": jnp.ravel,
    "l2_normalize": _normalised,
    "broadcast_add": jnp.add,
    "broadcast_multiply": jnp.multiply,
    "broadcast_maximum": jnp.maximum,
}
