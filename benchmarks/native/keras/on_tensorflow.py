"""TensorFlow 1 under Keras 2."""

import tensorflow as tf
from keras import backend

from benchmarks.native.keras import keras2

LAYOUT = "channels_last"


def prepare(threads, gpu):
    """Give Keras a session with so many threads (TensorFlow's choice without). Returns the device it computes on."""
    settings = {"intra_op_parallelism_threads": threads, "inter_op_parallelism_threads": threads} if threads else {}
    config = tf.ConfigProto(device_count={} if gpu else {"GPU": 0}, **settings)
    config.gpu_options.allow_growth = True
    backend.set_session(tf.Session(config=config))
    return _computed_on() if gpu else "/CPU:0"


def _computed_on():
    """Return the device of a tensor that is computed where TensorFlow places it, as Keras leaves its own to it."""
    computed = tf.random_uniform([1]) + 1.0  # a sum of constants would be computed on the CPU beforehand
    options, told = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    backend.get_session().run(computed, options=options, run_metadata=told)
    nodes = [node for graph in told.partition_graphs for node in graph.node]
    (device,) = [node.device for node in nodes if node.name == computed.op.name]
    return "/" + device.rpartition("/")[2].replace("device:", "").upper()


def version():
    """Return the version that TensorFlow reports."""
    return tf.__version__


def facts():
    """Return the threads of the intra-op pool as the session has them, where 0 is TensorFlow's own choice."""
    return {"threads": backend.get_session()._config.intra_op_parallelism_threads or None}


class TensorFlowBuilder(keras2.Keras2Builder):
    """A maker of layers whose weights are updated only when every gradient is there."""

    pools_alike = True

    @staticmethod
    def _optimizer(kind):
        class Gated(kind):
            def get_gradients(self, loss, params):
                """Wait for all gradients.

                Keras updates each weight as soon as its own gradient is there. The gradients of the layers below it
                are then computed through the new weight.
                """
                return tf.tuple(super().get_gradients(loss, params))

            def get_updates(self, loss, params):
                """Count a step only when all its updates are done.

                Keras adds to the count at any moment of a step, and Adam's rate of this very step may come from the
                count of the next one.
                """
                count, *others = super().get_updates(loss, params)
                count.op._add_control_inputs([other.op if hasattr(other, "op") else other for other in others])
                return [count, *others]

        return Gated


BUILDER = TensorFlowBuilder
