"""TensorFlow's `MirroredStrategy`, whose one step runs on every device.

Keras' optimizers add up the gradients of all devices. So each one scales its loss, and the sum is the mean.
"""

import tensorflow as tf

from benchmarks import parallel
from benchmarks.errors import Unsupported
from benchmarks.native.tensorflow import computed_on

OLDEST = (2, 2)
AVERAGING = "mean, by MirroredStrategy"
RUNNING_VALUES = "mean over the devices"


def require_several(workload):
    """Raise `Unsupported` if TensorFlow or an option cannot train on several devices."""
    if tuple(int(part) for part in tf.__version__.split(".")[:2]) < OLDEST:
        raise Unsupported("several devices need TensorFlow %d.%d or newer; here is %s" % (OLDEST + (tf.__version__,)))
    if workload.options["xla"]:
        raise Unsupported("xla on several devices is not built yet; xla: false is")


def divide_cpu(count):
    """Make as many logical devices of the CPU, before TensorFlow makes its devices."""
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * count)


class TensorFlowReplicas:
    """The devices of a strategy, which share each batch and all have every weight."""

    def __init__(self, kind, count):
        parallel.require_devices(len(tf.config.list_logical_devices(kind)), count)
        self.count = count
        self._devices = ["/%s:%d" % (kind, number) for number in range(count)]
        self._strategy = tf.distribute.MirroredStrategy(self._devices)
        self.scope = self._strategy.scope

    def placed(self, place, parts):
        """Return a batch of which each device has its part, placed there as `place(inputs, labels)` does it."""

        def on_device(context):
            number = context.replica_id_in_sync_group
            with tf.device(self._devices[number]):
                return place(*parts[number])

        return self._strategy.experimental_distribute_values_from_function(on_device)

    def spread(self, train):
        """Return a training step that runs on every device with its part of the batch."""

        def on_all(inputs, labels):
            return self._strategy.run(train, args=(inputs, labels))

        return on_all

    def values(self, handle):
        """Wait for what a step yields on each device, and return it."""
        return [value.numpy() for value in self._strategy.experimental_local_results(handle)]

    def names(self):
        """Return the name of each device, by a tensor that it computes."""
        return [computed_on(device) for device in self._devices]
