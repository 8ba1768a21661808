"""TensorFlow's `tf.data`, which takes single samples in the planned order, collates and prefetches them."""

import numpy
import tensorflow as tf


class TensorPipeline:
    """A loader for a session, whose batches `place` brings to the device."""

    def __init__(self, place, lay):
        self.place, self.lay = place, lay

    def __call__(self, samples, workers):
        """Yield batches of a pipeline. Workers are the samples that it takes at once, in threads."""
        with tf.device("/CPU:0"):
            batches = iter(self._pipeline(samples, workers))
        for batch in batches:
            yield batch

    def _pipeline(self, samples, workers):
        inputs, labels = self.native(samples.inputs, samples.labels)
        taken = tf.data.Dataset.from_tensor_slices(numpy.concatenate(samples.order)).map(
            lambda index: (tf.gather(inputs, index), tf.gather(labels, index)), num_parallel_calls=workers or None
        )
        batched = taken.batch(len(samples.order[0]), drop_remainder=True).repeat()
        return batched.prefetch(2 * workers) if workers else batched

    @staticmethod
    def native(inputs, labels):
        """Return tensors in the host's memory."""
        return tf.constant(inputs), tf.constant(labels)
