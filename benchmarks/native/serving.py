"""Sessions of serving engines, which are given a file of the model and do inference alone."""

import hashlib

import numpy

from benchmarks.errors import Unsupported
from benchmarks.native import onnx, parts
from benchmarks.vocabulary import counting

_KINDS = {"float": "float32", "integer": "int64"}


class ServingSession:
    """A session of an engine that compiles the ONNX file of a model into a function.

    `compiled` takes the bytes of a file and returns a function from inputs by name to a list of outputs, as NumPy
    arrays in the order of the file.
    """

    short_blocks = False

    def __init__(self, workload, compiled):
        if workload.one_device():
            raise Unsupported("this builder computes on a CPU alone")
        self._workload, self._compiled = workload, compiled
        self._content = self._file(workload.batch_size)
        self._run = compiled(self._content)
        self._by_size = {workload.batch_size: self._run}
        self.batches = [self._fed(inputs) for inputs, _ in workload.batches()]
        self.parameters = sum(array.size for array in self.weights().values())

    def _file(self, batch_size, yielded=False):
        workload = self._workload
        return onnx.file(workload.layers, workload.inputs, workload.weights(), batch_size, yielded=yielded)

    def _fed(self, inputs):
        """Return the inputs of a batch by name, as an engine takes them without a copy."""
        given = zip(self._workload.inputs, parts(inputs))
        return {each.name: numpy.ascontiguousarray(array, _KINDS[each.kind]) for each, array in given}

    def step(self, batch):
        """Return the logits of a batch."""
        return self._run(batch)[0]

    @staticmethod
    def synchronise(_handle):
        """Wait for nothing, because every step is synchronous."""

    @staticmethod
    def fetch(handle):
        """Return the logits, which are in the host's memory."""
        return handle

    def weights(self):
        """Return the weights in the file, in canonical layout."""
        return onnx.weights(self._content, self._workload.layers)

    def native_layers(self):
        """Return the name, the output shape and the number of weights of every layer.

        The shapes are those of what the engine yields, when each layer of the file is an output.
        """
        yielded = self._compiled(self._file(1, yielded=True))(self._fed(self._workload.zeros()))
        return [
            (layer.name, tuple(output.shape[1:]), counting.parameters([layer]))
            for layer, output in zip(self._workload.layers, yielded)
        ]

    def predict(self, inputs):
        """Return the logits of a NumPy batch. A file has one batch size, so that each new one is compiled once."""
        fed = self._fed(inputs)
        size = len(next(iter(fed.values())))
        if size not in self._by_size:
            self._by_size[size] = self._compiled(self._file(size))
        return self._by_size[size](fed)[0]

    def facts(self):
        """Return the facts of the file, and of the logits that it yields."""
        return {
            "layout": "channels_first",
            "precision": self.step(self.batches[0]).dtype.name,
            "device": "cpu",
            "onnx": {"opset": onnx.OPSET, "sha256": hashlib.sha256(self._content).hexdigest()},
        }

    @staticmethod
    def peak_device_bytes():
        """Return None, because there is no device."""
