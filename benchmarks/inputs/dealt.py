"""Real samples, dealt out in a seeded order that no framework can change."""

from collections import namedtuple

STREAM = 4
"""The random stream of this module, which keeps its draws apart from those of other modules by the same seed."""
EPOCH_BYTES = 1024 * 1024 * 1024

Split = namedtuple("Split", "training training_labels testing testing_labels highest sha256")
Split.__doc__ = """Samples and labels as integers, the highest value of images, and the checksum of the files.

Images are (count, channels, height, width). Samples of several inputs, or of rows of whole numbers, are a tuple of
arrays (count, length), one for each input.
"""


class Dealt:
    """A dataset of real samples for one model.

    A subclass makes what the model takes of chosen samples, as `_taken(split_part, chosen)`.
    """

    def __init__(self, name, split, values, seed):
        self.samples = len(split.training_labels)
        # True for files that only have the format of the dataset.
        self.stand_in = False
        self._name = name
        self._split = split
        # Values of four bytes in one sample, as the model takes it.
        self._values = values
        self._seed = seed

    def batch_count(self, batch_size, epochs):
        """Return how many distinct batches to place.

        Every epoch has an order of its own, as far as the bytes allow. Beyond that, the orders of the first epochs come
        again. A run of steps needs one order.
        """
        per_epoch = self.samples // batch_size
        fitting = max(1, EPOCH_BYTES // (4 * self._values * batch_size * per_epoch))
        return per_epoch * min(epochs or 1, fitting)

    def batches(self, batch_size, count):
        """Yield batches of inputs and labels (int32), pass after pass, each in an order of its own.

        Samples that do not fill a batch at the end of a pass are left out of it.
        """
        for chosen in self._order(batch_size, count):
            yield self._taken(self._split.training, chosen), self._split.training_labels[chosen].astype("int32")

    def arrays(self, batch_size, count):
        """Return inputs and labels of all training samples, and the indices that make up each of the batches."""
        inputs = self._taken(self._split.training, slice(None))
        return inputs, self._split.training_labels.astype("int32"), list(self._order(batch_size, count))

    def held_out(self):
        """Return inputs and labels of the test set."""
        return self._taken(self._split.testing, slice(None)), self._split.testing_labels.astype("int32")

    def seen(self, _batch_size):
        """Return inputs and labels of as many training samples as there are test samples, always the same ones."""
        chosen = slice(len(self._split.testing_labels))
        return self._taken(self._split.training, chosen), self._split.training_labels[chosen].astype("int32")

    def facts(self):
        """Return name, checksum and sizes of the dataset."""
        facts = {
            "name": self._name,
            "sha256": self._split.sha256,
            "training": self.samples,
            "testing": len(self._split.testing_labels),
        }
        return dict(facts, stand_in=True) if self.stand_in else facts

    def _order(self, batch_size, count):
        """Yield the indices of each batch."""
        import numpy

        per_epoch = self.samples // batch_size
        for number in range(count):
            epoch, position = divmod(number, per_epoch)
            if position == 0:
                order = numpy.random.RandomState([self._seed, STREAM, epoch]).permutation(self.samples)
            yield order[position * batch_size : (position + 1) * batch_size]
