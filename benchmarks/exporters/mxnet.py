"""MXNet's own exporter, for the newest opset that it writes."""

import os

import mxnet as mx
import numpy
from onnx import checker, defs

from benchmarks.native import parts

NAME = "mxnet.onnx %s" % mx.__version__
OPSET = 13
"""The newest that MXNet 1.9 has translations for. It marks its file with the newest one of the package `onnx`."""


def write(session, _inputs, path):
    """Export the hybrid block, which must have run once."""
    network = session.network()
    given = parts(session.batches[0][0])
    network(*given).wait_to_read()
    beside = os.path.join(os.path.dirname(path), "block")
    network.export(beside)
    # It has no other way to be told the opset, and this process does nothing else.
    defs.onnx_opset_version = lambda: OPSET
    checker.DEFAULT_CONTEXT.opset_imports = {"": OPSET}
    mx.onnx.export_model(
        beside + "-symbol.json", beside + "-0000.params", [array.shape for array in given],
        [numpy.dtype(array.dtype) for array in given], path,
    )  # fmt: skip
    return False
