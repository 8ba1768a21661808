"""Tensors made small, so that the relative difference of any two can be worked out from their files."""

BUCKETS = 1024
SKETCH_SEED = 20021
"""The seed of the count sketch. Sketches of another seed cannot be compared with earlier ones."""


def tensor(array):
    """Return a small description of a tensor, its Euclidean norm and its values or a sketch of them.

    A tensor of more than `BUCKETS` values has a sketch. It adds every value, with a random sign, to a random bucket
    (Charikar, Chen and Farach-Colton 2002). The norm of the difference of two sketches estimates the norm of the
    difference of the tensors. Numbers are rounded to nine digits.
    """
    import numpy

    values = numpy.asarray(array, numpy.float64).ravel()
    norm = float(numpy.sqrt(numpy.sum(values * values)))
    if values.size > BUCKETS:
        random = numpy.random.RandomState(SKETCH_SEED)
        buckets = (random.random_sample(values.size) * BUCKETS).astype(int)
        signs = numpy.where(random.random_sample(values.size) < 0.5, -1.0, 1.0)
        values = numpy.bincount(buckets, signs * values, BUCKETS)
    return {"norm": float("%.9g" % norm), "sketch": [float("%.9g" % value) for value in values]}


def tensors_of_outputs(names, arrays):
    """Yield each output by name, and the places where it masks what it does not score as one of their own.

    A mask is infinite, or the least number of the type. Beside it nothing else of the output would count.
    """
    import numpy

    for name, array in zip(names, map(numpy.asarray, arrays)):
        masked = numpy.zeros(array.shape, bool)
        if array.dtype.kind == "f":
            masked = numpy.abs(array) > 0.99 * numpy.finfo(array.dtype).max
        yield name, tensor(numpy.where(masked, 0, array))
        if masked.any():
            yield name + " (masked places)", tensor(masked)
