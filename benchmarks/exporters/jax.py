"""JAX by jax2onnx, which is by others. JAX has no exporter to ONNX.

Its own `jax2tf` writes one operation `XlaCallModule`, which tf2onnx cannot read.
"""

from importlib import metadata

import jax
import jax2onnx

NAME = "jax2onnx %s" % metadata.version("jax2onnx")


def write(session, inputs, path):
    """Export the function of arrays that is compiled for inference, with the weights in it."""
    logits, batch = session.network(), session.batches[0][0]
    given = batch if len(inputs) > 1 else [batch]
    shapes = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in given]
    model = jax2onnx.to_onnx(lambda *arrays: logits(arrays if len(arrays) > 1 else arrays[0]), shapes)
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    return True
