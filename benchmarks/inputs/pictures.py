"""Real images, fitted to a model's input by one rule and dealt out in a seeded order.

No framework can change the order. The rule has no resampling, which libraries could disagree in. An image is enlarged
by a whole factor, the largest that fits (nearest neighbour: each pixel becomes a square), and centred on a border of
zeros. If the border is odd, the larger part is below and to the right. Values are divided by their highest, so they lie
in 0 ... 1. Grey images repeat in every channel. A model of flat features takes the image of that many values, row by
row, if it is square. `orchestrator/catalog/datasets.py` has the same rule in its terms, and a test compares the two.
"""

from collections import namedtuple

from benchmarks.errors import BadRequest

STREAM = 4
"""The random stream of this module, which keeps its draws apart from those of other modules by the same seed."""
EPOCH_BYTES = 1024 * 1024 * 1024

Split = namedtuple("Split", "training training_labels testing testing_labels highest sha256")
Split.__doc__ = (
    """Images (count, channels, height, width) and labels as uint8, their highest value, the file's checksum."""
)


def canvas(shape, channels, height, width):
    """Return the (channels, height, width) that a model's input shape makes of images, or None if they do not fit."""
    if len(shape) == 1:
        side = int(round((shape[0] / channels) ** 0.5))
        shape = (channels, side, side) if channels * side * side == shape[0] else ()
    fits = len(shape) == 3 and shape[0] % channels == 0 and shape[1] >= height and shape[2] >= width
    return tuple(shape) if fits else None


def fitted(images, shape, highest):
    """Fit images (count, channels, height, width) to a model's input shape, as float32 in 0 ... 1."""
    import numpy

    count, channels, height, width = images.shape
    target = canvas(shape, channels, height, width)
    factor = min(target[1] // height, target[2] // width)
    enlarged = images.repeat(factor, axis=2).repeat(factor, axis=3)
    top, left = (target[1] - height * factor) // 2, (target[2] - width * factor) // 2
    placed = numpy.zeros((count,) + target, numpy.float32)
    # A single grey channel goes to every channel, and three channels stay three.
    placed[:, :, top : top + height * factor, left : left + width * factor] = enlarged
    placed /= highest
    return placed.reshape((count,) + tuple(shape))


class Pictures:
    """A dataset of real images for one model."""

    def __init__(self, name, split, shape, classes, seed):
        if canvas(shape, *split.training.shape[1:]) is None:
            raise BadRequest("%s does not fit a model that takes %s" % (name, tuple(shape)))
        if int(split.training_labels.max()) >= classes:
            raise BadRequest("%s has more classes than the %d of the model" % (name, classes))
        self.samples = len(split.training)
        # True for files that only have the format of the dataset.
        self.stand_in = False
        self._name = name
        self._split = split
        self._shape = shape
        self._seed = seed

    def batch_count(self, batch_size, epochs):
        """Return how many distinct batches to place.

        Every epoch has an order of its own, as far as the bytes allow. Beyond that, the orders of the first epochs come
        again. A run of steps needs one order.
        """
        per_epoch = self.samples // batch_size
        values = 1
        for extent in self._shape:
            values *= extent
        fitting = max(1, EPOCH_BYTES // (4 * values * batch_size * per_epoch))
        return per_epoch * min(epochs or 1, fitting)

    def batches(self, batch_size, count):
        """Yield batches of inputs (float32) and labels (int32), pass after pass, each in an order of its own.

        Samples that do not fill a batch at the end of a pass are left out of it.
        """
        for chosen in self._order(batch_size, count):
            yield self._inputs(self._split.training[chosen]), self._split.training_labels[chosen].astype("int32")

    def arrays(self, batch_size, count):
        """Return inputs and labels of all training samples, and the indices that make up each of the batches."""
        inputs, labels = self._inputs(self._split.training), self._split.training_labels.astype("int32")
        return inputs, labels, list(self._order(batch_size, count))

    def _order(self, batch_size, count):
        """Yield the indices of each batch."""
        import numpy

        per_epoch = self.samples // batch_size
        for number in range(count):
            epoch, position = divmod(number, per_epoch)
            if position == 0:
                order = numpy.random.RandomState([self._seed, STREAM, epoch]).permutation(self.samples)
            yield order[position * batch_size : (position + 1) * batch_size]

    def held_out(self):
        """Return inputs and labels of the test set."""
        return self._inputs(self._split.testing), self._split.testing_labels.astype("int32")

    def seen(self, _batch_size):
        """Return inputs and labels of as many training samples as there are test samples, always the same ones."""
        count = len(self._split.testing)
        return self._inputs(self._split.training[:count]), self._split.training_labels[:count].astype("int32")

    def facts(self):
        """Return name, checksum and sizes of the dataset."""
        facts = {
            "name": self._name,
            "sha256": self._split.sha256,
            "training": self.samples,
            "testing": len(self._split.testing),
        }
        return dict(facts, stand_in=True) if self.stand_in else facts

    def _inputs(self, images):
        return fitted(images, self._shape, self._split.highest)
