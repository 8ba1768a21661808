"""One compiled model of Keras 2, on every backend."""

from benchmarks.inputs import feeds
from benchmarks.loaders.keras import KerasLoader

FEEDS = ("fed", "loader")


class Keras2Session:
    """One compiled model with its batches.

    Keras takes NumPy batches, and it fetches the loss or the logits at every step.
    """

    short_blocks = False

    def __init__(self, workload, builder, **compiled):
        self._builder = builder
        self._layers = workload.layers
        network, self._made = builder.network(workload.layers, workload.inputs)
        builder.set_weights(self._layers, self._made, workload.weights())
        self._network = network
        network.compile(optimizer=builder.optimizer(workload.optimizer), loss=builder.loss(workload.loss), **compiled)
        self.parameters = sum(count for _, _, count in self.native_layers())
        taken = _columns if workload.training else _inputs_alone
        load = KerasLoader(taken, builder.native_inputs)
        self.batches = feeds.batches(workload, lambda inputs, labels: taken(load.lay(inputs), labels), load)
        self.step = self._step(network) if workload.training else network.predict_on_batch

    @staticmethod
    def _step(network):
        return lambda batch: network.train_on_batch(*batch)

    @staticmethod
    def synchronise(_handle):
        """Return at once, because a step has ended when its loss is back."""

    @staticmethod
    def fetch(handle):
        """Return the logits, which `predict_on_batch` has fetched already."""
        return handle

    @staticmethod
    def loss(handle):
        """Return the mean over the batch."""
        return float(handle)

    def weights(self):
        """Return the current weights of the layers, in canonical layout."""
        return self._builder.weights(self._layers, self._made)

    def native_layers(self):
        """Return every native layer, with the shape that Keras has inferred."""
        return self._builder.native_layers(self._layers, self._made)

    def predict(self, inputs):
        """Return logits from Keras' function for prediction, which shares its weights with that for training."""
        return self._network.predict_on_batch(self._builder.native_inputs(inputs))

    @staticmethod
    def peak_device_bytes():
        """Return None, because Keras records no highest use."""


def _columns(inputs, labels):
    """Return a batch with its classes in a column, as Keras takes them; targets are a row for each sample already."""
    return inputs, labels.reshape(len(labels), -1)


def _inputs_alone(inputs, _labels):
    return inputs
