"""Real images, fitted to a model's input by one rule.

The rule has no resampling, which libraries could disagree in. An image is enlarged
by a whole factor, the largest that fits (nearest neighbour: each pixel becomes a square), and centred on a border of
zeros. If the border is odd, the larger part is below and to the right. Values are divided by their highest, so they lie
in 0 ... 1. Grey images repeat in every channel. A model of flat features takes the image of that many values, row by
row, if it is square. `orchestrator/catalog/datasets.py` has the same rule in its terms, and a test compares the two.
"""

from benchmarks.errors import BadRequest
from benchmarks.inputs.dealt import Dealt


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


class Pictures(Dealt):
    """A dataset of real images for one model."""

    def __init__(self, name, split, shape, classes, seed):  # noqa: PLR0913, PLR0917 - what there is, and for whom
        if canvas(shape, *split.training.shape[1:]) is None:
            raise BadRequest("%s does not fit a model that takes %s" % (name, tuple(shape)))
        if int(split.training_labels.max()) >= classes:
            raise BadRequest("%s has more classes than the %d of the model" % (name, classes))
        values = 1
        for extent in shape:
            values *= extent
        super().__init__(name, split, values, seed)
        self._shape = shape

    def _taken(self, part, chosen):
        return fitted(part[chosen], self._shape, self._split.highest)
