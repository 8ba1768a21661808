"""The ways in which batches reach the steps of a session.

- `placed`: every batch lies on the device before a block begins, so that nothing but steps is timed;
- `fed`: every step begins from NumPy arrays in the host's memory, and what places them is inside the block;
- `loader`: the framework's own loader makes every batch of single samples, in the order that is planned.

A builder names those besides `placed` as `FEEDS`.
"""

import itertools

from benchmarks.errors import Failure, Unsupported
from benchmarks.vocabulary.losses import SOFTMAX_CROSS_ENTROPY

PLACED, FED, LOADER = "placed", "fed", "loader"
NAMES = (PLACED, FED, LOADER)
PROVEN_BATCHES = 4
"""Batches of a loader that are compared with the planned ones before anything is timed."""


def batches(workload, place, load=None):
    """Return the batches of a session in the feed that the request names.

    `place(inputs, labels)` makes a native batch of NumPy arrays. `load(samples, workers)` iterates without end over
    batches in the framework's own tensors of the host, as `benchmarks.loaders` describes.
    """
    if workload.feed == PLACED:
        return [place(*batch) for batch in workload.batches()]
    if workload.feed == FED:
        return Fed(workload.batches(), place)
    if len(workload.inputs) > 1 or workload.inputs[0].kind != "float" or workload.loss != SOFTMAX_CROSS_ENTROPY:
        raise Unsupported("the feed loader takes one input of numbers and class labels; this model has others")
    samples = Samples(*workload.arrays())
    samples.inputs = load.lay(samples.inputs)
    loaded = Loaded(samples, workload.workers, load)
    loaded.prove()
    return loaded


def endless(session_batches, wall):
    """Return an iterator that goes round the batches of a session, from the first one.

    The wall clock is read for a feed alone, around each of its batches.
    """
    if hasattr(session_batches, "endless"):
        return Waiting(session_batches.endless(), wall)
    return itertools.cycle(session_batches)


class Waiting:
    """An iterator that notes how long each batch was waited for."""

    def __init__(self, native_batches, wall):
        self._batches, self._wall, self._waits = native_batches, wall, []

    def __iter__(self):
        return self

    def __next__(self):
        begin = self._wall()
        batch = next(self._batches)
        self._waits.append(self._wall() - begin)
        return batch

    def taken(self):
        """Return the seconds of each wait since the last call."""
        waits, self._waits = self._waits, []
        return waits

    def close(self):
        """End the workers of a loader."""
        self._batches.close()


class Fed:
    """Batches in the host's memory, each of which is placed when a step is about to take it."""

    def __init__(self, host_batches, place):
        self._batches, self._place = list(host_batches), place

    def __getitem__(self, position):
        """Return one native batch."""
        return self._place(*self._batches[position])

    def endless(self):
        """Yield native batches round and round."""
        for inputs, labels in itertools.cycle(self._batches):
            yield self._place(inputs, labels)


class Loaded:
    """Batches that a framework's own loader makes of samples."""

    def __init__(self, samples, workers, load):
        self._samples, self._workers, self._load = samples, workers, load

    def __getitem__(self, position):
        """Return one native batch, which no loader made."""
        return self._load.place(*self._load.native(*self._samples.batch(position)))

    def endless(self):
        """Yield native batches round and round."""
        loaded = self._load(self._samples, self._workers)
        try:
            for inputs, labels in loaded:
                yield self._load.place(inputs, labels)
        finally:
            loaded.close()

    def prove(self):
        """Compare the first batches that the loader makes with the planned ones, value by value.

        Raises a `Failure` if one is another.
        """
        loaded = self._load(self._samples, self._workers)
        try:
            for number in range(min(PROVEN_BATCHES, len(self._samples.order))):
                arrived = [_array(part) for part in next(loaded)]
                if not _same(arrived, self._samples.batch(number)):
                    raise Failure("batch %d of the framework's loader does not hold the planned samples" % number)
        finally:
            loaded.close()


class Samples:
    """Samples in the host's memory, with the order in which batches take them."""

    def __init__(self, inputs, labels, order):
        self.inputs, self.labels = inputs, labels
        # The indices of each batch, in the order of the batches.
        self.order = order

    def batch(self, number):
        """Return inputs and labels of a planned batch."""
        chosen = self.order[number]
        return self.inputs[chosen], self.labels[chosen]

    def chosen(self):
        """Yield the indices of every batch, as lists, round and round."""
        for chosen in itertools.cycle(self.order):
            yield chosen.tolist()


def _array(native):
    """Return a tensor of the host as a NumPy array."""
    for method in ("asnumpy", "numpy"):
        if hasattr(native, method):
            return getattr(native, method)()
    return native


def _same(arrived, planned):
    import numpy

    # Labels may come as a column.
    return all(
        one.size == other.size and numpy.array_equal(one.reshape(other.shape), other)
        for one, other in zip(arrived, planned)
    )
