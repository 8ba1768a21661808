"""The order of an image's values that TensorFlow has kernels for on this CPU."""

from benchmarks.errors import Unsupported


def require_channels_first(workload):
    """Raise `Unsupported` if a workload has images, and TensorFlow's kernels for CPUs take `channels_last` only.

    Those of oneDNN take both orders. TensorFlow uses them where the CPU has AVX-512, or `TF_ENABLE_ONEDNN_OPTS` is 1.
    """
    import tensorflow as tf

    if not any(len(each.shape) > 2 for each in workload.inputs):
        return
    try:
        tf.nn.conv2d(tf.ones((1, 1, 1, 1)), tf.ones((1, 1, 1, 1)), 1, "VALID", data_format="NCHW")
    except tf.errors.UnimplementedError:
        reason = "without oneDNN, which it leaves off on this CPU, TensorFlow's kernels take channels_last only"
        raise Unsupported(reason) from None
