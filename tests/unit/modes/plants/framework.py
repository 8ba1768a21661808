"""Dense layers in NumPy, inference alone."""

import numpy

OPTIONS = {"chunks": 1}
OFFERS = ("layer dense", "layer relu", "layer dropout")


def start(workload):
    """Take the weights and the batches."""
    return _Session(workload)


class _Session:
    short_blocks = False

    def __init__(self, workload):
        self._layers, self._weights = workload.layers, workload.weights()
        self._chunks = workload.options["chunks"]
        self.batches = [inputs for inputs, _ in workload.batches()]
        self.parameters = sum(value.size for value in self._weights.values())

    def step(self, inputs):
        """Multiply part by part."""
        return numpy.concatenate([self.predict(part) for part in numpy.array_split(inputs, self._chunks)])

    def predict(self, x):
        """Return the logits of a batch."""
        for layer in self._layers:
            if layer.kind == "dense":
                weight, bias = (self._weights[parameter.name] for parameter in layer.parameters)
                x = x @ weight + bias
            elif layer.kind == "relu":
                x = numpy.maximum(x, 0)
        return x

    def synchronise(self, _handle):
        """Wait for nothing."""

    def fetch(self, handle):
        """Return the logits."""
        return handle

    def weights(self):
        """Return the weights."""
        return self._weights

    def native_layers(self):
        """Return the dense layers."""
        dense = [(layer.name, layer.parameters) for layer in self._layers if layer.parameters]
        return [(name, bias.shape, self._sizes(weight, bias)) for name, (weight, bias) in dense]

    def _sizes(self, *parameters):
        return sum(self._weights[parameter.name].size for parameter in parameters)

    def facts(self):
        """Return facts."""
        return {"framework_version": "1", "device": "cpu", "precision": "float32"}

    def peak_device_bytes(self):
        """Return None."""
