"""The work of an exported network, whose ONNX file an engine is given as it is."""

import hashlib
import json
import os
import time

from benchmarks.errors import BadRequest, Diverged, Failure, Unsupported
from benchmarks.vocabulary import losses
from benchmarks.workload import merge_options

STREAM = 7
"""The random stream of this module, which keeps its draws apart from those of other modules by the same seed."""
RING_BATCHES = 16
RING_BYTES = 256 * 1024 * 1024
_CHUNK_BYTES = 1 << 20


class DrawnInput:
    """An input of a network, as a request describes it."""

    def __init__(self, described):
        self.name, self.kind = described["name"], described["kind"]
        self._shape, self._below, self._value = described["shape"], described["below"], described.get("value")

    def shape(self, batch_size):
        """Return the shape of a batch."""
        return tuple(batch_size if size is None else size for size in self._shape)

    def drawn(self, random, batch_size):
        """Return a batch: one value everywhere, whole numbers below a bound, or normally distributed ones."""
        import numpy

        shape = self.shape(batch_size)
        if self._value is not None:
            return numpy.full(shape, self._value, self.kind)
        if self._below is not None:
            return random.randint(0, self._below, shape).astype(self.kind)
        return random.standard_normal(shape).astype(self.kind)


class _Data:
    """The batches of a network, drawn by chance."""

    def __init__(self, inputs, seed):
        self.samples = None
        self._inputs, self._seed = inputs, seed

    def batch_count(self, batch_size):
        """Count the distinct batches to place, of at most so many bytes together."""
        import numpy

        one = sum(
            numpy.dtype(each.kind).itemsize * int(numpy.prod(each.shape(batch_size), dtype=float))
            for each in self._inputs
        )
        return max(1, min(RING_BATCHES, RING_BYTES // max(1, one)))

    def batches(self, batch_size, count):
        """Yield batches, each as a tuple of inputs with labels that mean nothing."""
        import numpy

        random = numpy.random.RandomState([self._seed, STREAM])
        for _ in range(count):
            yield tuple(each.drawn(random, batch_size) for each in self._inputs), numpy.zeros(batch_size, "int32")

    @staticmethod
    def facts():
        """Return the facts of the data."""
        return {"name": "synthetic"}


class NetworkWorkload:
    """One exported network, with the attributes of a `ModelWorkload`. Data are drawn only when a builder asks."""

    def __init__(self, request, defaults):
        asked = request.network
        self.path = os.path.join(asked["folder"], asked["file"])
        if not os.path.isfile(self.path):
            raise BadRequest("the network %s is missing" % self.path)
        self.network = asked
        self.inputs = tuple(DrawnInput(each) for each in asked["inputs"])
        self.layers = ()
        self.loss = losses.SOFTMAX_CROSS_ENTROPY
        self.data = _Data(self.inputs, request.seed)
        self.builder = request.builder
        self.training = False
        self.generation = None
        self.batch_size = request.batch_size
        self.devices = max(1, request.gpus, request.cpu_devices)
        self.threads = request.threads
        self.gpus = request.gpus
        self.feed = request.feed
        self.workers = request.workers
        self.options = merge_options(defaults, request.options, request.builder)
        self.classes = None
        self.axes = {}
        begin = time.perf_counter()
        self.model_sha256 = sha256(asked)
        if self.model_sha256 != asked["sha256"]:
            raise BadRequest("the files of the network are not those that were planned")
        self.fed_sha256 = fed_sha256(asked)
        self.definition_sha256 = None
        self.optimizer = {}
        self.steps_per_epoch = 1
        self.seed = request.seed
        # The sums belong to nothing that the engine does.
        self.data_s = time.perf_counter() - begin
        self.batch_count = self.data.batch_count(request.batch_size)

    def batches(self):
        """Yield the distinct batches as they are drawn. The time it takes goes to `data_s`."""
        begin = time.perf_counter()
        for batch in self.data.batches(self.batch_size, self.batch_count):
            yield batch
        self.data_s += time.perf_counter() - begin

    def one_device(self):
        """Return whether to use the one GPU. Raises `Unsupported` if several devices are asked for."""
        if self.devices > 1:
            raise Unsupported("a network is run on one device; %d are asked for" % self.devices)
        return self.gpus == 1

    def counts(self):
        """Return its parameters and its multiply-adds of a sample, as the host has counted them."""
        return {"parameters": self.network["parameters"], "multiply_adds": self.network["multiply_adds"]}

    def check_outputs(self, outputs):
        """Raise a `Failure` if an output of the last step is no number. A masked score may be infinite."""
        import numpy

        if not outputs:
            raise Failure("the network yields no output")
        for name, array in zip(self.network["outputs"], map(numpy.asarray, outputs)):
            if array.dtype.kind == "f" and numpy.isnan(array).any():
                message = "the output '%s' holds NaN for the inputs that were drawn; %s"
                raise Diverged(message % (name, "if an input is a mask, write inputs: {NAME: {value: 1}}"))


def sha256(network):
    """Return the SHA-256 of the one file of a network, or that of the names and sums of several."""
    sums = [(path, _sum(os.path.join(network["folder"], path))) for path in sorted(network["files"])]
    if len(sums) == 1:
        return sums[0][1]
    return hashlib.sha256("".join("%s  %s\n" % (digest, path) for path, digest in sums).encode()).hexdigest()


def fed_sha256(network):
    """Return the SHA-256 of a network with the sizes of its axes and what its inputs are drawn from.

    Two networks of one name do the same work if theirs are equal.
    """
    told = {key: network[key] for key in ("sha256", "dimensions", "inputs")}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _sum(path):
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            for chunk in iter(lambda: file.read(_CHUNK_BYTES), b""):
                digest.update(chunk)
    except OSError as error:
        raise BadRequest("%s cannot be read: %s" % (path, error.strerror)) from None
    return digest.hexdigest()
