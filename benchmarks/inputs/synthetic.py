"""Seeded synthetic data that can be learned."""

from benchmarks.inputs import kinds, tokens
from benchmarks.inputs.dealt import EPOCH_BYTES
from benchmarks.vocabulary import counting, losses

RING_BATCHES = 16
RING_BYTES = 256 * 1024 * 1024
HELD_OUT = 1000
STREAM = 1
"""The random stream of this module, which keeps its draws apart from those of other modules by the same seed."""
HELD_OUT_STREAM = 5


class Synthetic:
    """A dataset whose samples scatter around the mean of their class."""

    def __init__(self, model, seed, inputs=()):
        self.samples = model.SAMPLES
        self._shape = tuple(model.INPUT_SHAPE)
        self._inputs = tuple(inputs) if kinds.are_mixed(inputs) else ()
        self._classes = losses.classes(getattr(model, "LOSS", None), model.CLASSES)
        self._predicts = getattr(model, "LOSS", None) == losses.NEXT_TOKEN
        self._binary = getattr(model, "BINARY_INPUTS", False)
        self._seed = seed
        self._held_out = min(HELD_OUT, self.samples)

    def batch_count(self, batch_size, epochs):
        """Count the distinct batches to place before timing.

        Steps cycle through a ring of `RING_BATCHES` batches; epochs go through the whole dataset.
        Both are cut to what fits their bytes (float32), and the ring then goes round within the epoch.
        Sparse rows are few bytes, and the steps of a model that takes them go through the whole dataset too: momentum
        makes a descent diverge that sees the few features of a short ring in time with its own oscillation.
        """
        whole = epochs or any(each.kind == "sparse" for each in self._inputs)
        return batch_count(self._sample_values(), batch_size, self.samples, whole)

    def _sample_values(self):
        return sum(kinds.words(each) for each in self._inputs) or counting.size(self._shape)

    def batches(self, batch_size, count):
        """Yield batches of inputs and labels, in the same order in every epoch."""
        if self._inputs:
            return self._mixed(STREAM, batch_size, count)
        return self._as_taken(drawn(self._shape, self._classes, batch_size, count, self._seed))

    def arrays(self, batch_size, count):
        """Return inputs and labels of the samples of so many batches, and the indices that make up each of them."""
        import numpy

        inputs, labels = zip(*self.batches(batch_size, count))
        order = numpy.arange(count * batch_size).reshape(count, batch_size)
        return numpy.concatenate(inputs), numpy.concatenate(labels), list(order)

    def held_out(self):
        """Draw inputs and labels that are never trained with, around the same means."""
        import numpy

        if self._inputs:
            return next(self._mixed(HELD_OUT_STREAM, self._held_out, 1))
        means, _ = _means(self._shape, self._classes, self._seed)
        random = numpy.random.RandomState([self._seed, HELD_OUT_STREAM])
        return next(self._as_taken(_scattered(means, random, self._held_out, 1)))

    def seen(self, batch_size):
        """Draw inputs and labels of the first training samples again, as many as are held out."""
        import numpy

        inputs, labels = zip(*self.batches(batch_size, -(-self._held_out // batch_size)))
        return kinds.joined(inputs, self._held_out), numpy.concatenate(labels)[: self._held_out]

    def facts(self):
        """Return name, checksum and sizes of the dataset."""
        return {"name": "synthetic", "sha256": None, "training": self.samples, "testing": self._held_out}

    def _mixed(self, stream, batch_size, count):
        if self._predicts:
            return tokens.batches(self._inputs[0], batch_size, count, (self._seed, stream))
        return kinds.batches(self._inputs, self._classes, batch_size, count, (self._seed, stream), self._binary)

    def _as_taken(self, batches):
        return binary(batches) if self._binary else batches


def batch_count(sample_values, batch_size, samples, epochs):
    """Return how many distinct batches of synthetic data to place within the bytes of a ring or an epoch."""
    wanted = samples // batch_size if epochs else min(RING_BATCHES, samples // batch_size)
    fitting = (EPOCH_BYTES if epochs else RING_BYTES) // (4 * sample_values * batch_size)
    return max(1, min(wanted, fitting))


def drawn(shape, classes, batch_size, batches, seed):
    """Yield batches of inputs and labels, drawn one by one.

    Inputs are float32 of `batch_size` x `shape`, channels first. Labels are int32. A class mean is uniform in ±0.5 per
    value and the noise around it in ±1. So one value of a sample overlaps between classes, and many values together
    tell them apart. The same seed gives the same data everywhere.
    """
    means, random = _means(shape, classes, seed)
    return _scattered(means, random, batch_size, batches)


def _means(shape, classes, seed):
    """Draw the mean of each class. Returns the means, and the generator that goes on with the training samples."""
    import numpy

    random = numpy.random.RandomState([seed, STREAM])
    means = numpy.empty((classes,) + tuple(shape), numpy.float32)
    for mean in means:
        mean[...] = random.uniform(-0.5, 0.5, shape)
    return means, random


def _scattered(means, random, batch_size, batches):
    """Draw sample by sample, because large temporaries would leave their mark on the heap that is measured later."""
    import numpy

    classes, shape = len(means), means.shape[1:]
    for _ in range(batches):
        labels = random.randint(0, classes, batch_size).astype(numpy.int32)
        inputs = numpy.empty((batch_size,) + shape, numpy.float32)
        for position, label in enumerate(labels):
            inputs[position] = means[label] + random.uniform(-1, 1, shape)
        yield inputs, labels


def binary(batches):
    """Make the inputs of batches Bernoulli, with 1 for a value above zero and else 0.

    Half of the values that `drawn` yields become 1, and between a quarter and three quarters of a class.
    """
    for inputs, labels in batches:
        inputs[...] = inputs > 0
        yield inputs, labels
