"""The handwritten digits that ship with the program, 1797 real images of 8 x 8 pixels in 10 classes.

Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, Alpaydin and Kaynak (1998), CC BY 4.0, in
the selection of scikit-learn's `load_digits`. `data/digits.txt` describes the layout of the file.
"""

import gzip
import hashlib
import os

from benchmarks.errors import Failure
from benchmarks.inputs.dealt import Split

PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "digits.gz")
SHA256 = "e1d88a0854e29e01d16358d2cd026aa8fc20dfc4cdb3fce004300857ea82aa70"
"""The checksum of the unpacked bytes."""
COUNT = 1797
TRAINING = 1437
SIDE = 8
HIGHEST = 16
STREAM = 3
"""The random stream of this module, which keeps its draws apart from those of other modules by the same seed."""


def load(seed, path=PATH):
    """Read the digits and split them by the seed into 1437 to train with and 360 to test with.

    Raises `Failure` if the file has another checksum than this module expects.
    """
    import numpy

    try:
        with gzip.open(path) as file:
            data = file.read()
    except (OSError, EOFError) as error:
        raise Failure("%s cannot be read: %s" % (path, error)) from None
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise Failure("%s is not the file it should be: its checksum is another" % path)
    values = numpy.frombuffer(data, numpy.uint8)
    labels, images = values[:COUNT], values[COUNT:].reshape(COUNT, 1, SIDE, SIDE)
    order = numpy.random.RandomState([seed, STREAM]).permutation(COUNT)
    training, testing = order[:TRAINING], order[TRAINING:]
    return Split(images[training], labels[training], images[testing], labels[testing], HIGHEST, SHA256)
