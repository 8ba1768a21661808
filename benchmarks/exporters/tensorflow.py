"""TensorFlow by tf2onnx, which is the exporter of the ONNX project. TensorFlow has none of its own."""

import tensorflow as tf
import tf2onnx

NAME = "tf2onnx %s" % tf2onnx.__version__


def write(session, inputs, path):
    """Export the Keras model in evaluation mode, as one function of the named inputs, with the default opset."""
    network, batch = session.network(), session.batches[0][0]
    given = batch if len(inputs) > 1 else [batch]
    signature = [tf.TensorSpec(array.shape, array.dtype, each.name) for each, array in zip(inputs, given)]

    @tf.function
    def logits(*arrays):
        return tf.identity(network(list(arrays) if len(arrays) > 1 else arrays[0], training=False), "logits")

    tf2onnx.convert.from_function(logits, signature, output_path=path)
    return session.facts()["layout"] == "channels_last"
