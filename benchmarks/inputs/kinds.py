"""Synthetic data of models that take whole numbers, sparse rows, or several inputs.

A model of one input of floats has the data of `synthetic.drawn`, which is unlike this one for the sake of earlier
results.
"""

from benchmarks.inputs import sparse
from benchmarks.vocabulary.inputs import entries

STREAM = 6
"""The random stream of this module, which keeps its draws apart from those of other modules by the same seed."""
SHARE = 0.5
"""Share of the whole numbers that are those of the sample's class, so that they can be learned."""


def are_mixed(inputs):
    """Return whether a model takes anything else than one input of floats."""
    return len(inputs) > 1 or any(each.kind != "float" for each in inputs)


def described(inputs):
    """Return the inputs of a model in words."""
    words = ["%s (%s, %s)" % (each.name, each.kind, "x".join(map(str, each.shape))) for each in inputs]
    return " and ".join(words)


def words(each):
    """Return the words of four bytes that an input takes in one sample. A sparse row has columns and values."""
    if each.kind == "sparse":
        return 2 * entries(each)
    count = 1
    for extent in each.shape:
        count *= extent
    return count


def zeros(each):
    """Return one sample of zeros of an input."""
    import numpy

    if each.kind == "sparse":
        return sparse.zeros(each.shape, entries(each))
    return numpy.zeros((1,) + tuple(each.shape), numpy.int32 if each.kind == "integer" else numpy.float32)


def batches(inputs, classes, batch_size, count, seeds, binary):  # noqa: PLR0913, PLR0917 - what and how many to draw
    """Yield batches of inputs and labels, drawn one by one by a pair of a seed and a stream.

    Each class has a mean for every value of floats, as in `synthetic.drawn`, and a whole number for every other
    value. A sample takes that number with `SHARE`, and else one below the vocabulary by chance. A sparse row has values
    of floats at columns by chance. Inputs are a tuple if there are several.
    """
    import numpy

    centres = [_centres(numpy, each, classes, seeds[0], number) for number, each in enumerate(inputs)]
    random = numpy.random.RandomState(list(seeds) + [STREAM])
    for _ in range(count):
        labels = random.randint(0, classes, batch_size).astype(numpy.int32)
        drawn = tuple(_drawn(numpy, random, each, centre, labels) for each, centre in zip(inputs, centres))
        if binary:
            drawn = tuple(_binary(numpy, each) for each in drawn)
        yield drawn if len(drawn) > 1 else drawn[0], labels


def joined(inputs, count):
    """Return the first samples of several batches' inputs as one."""
    if isinstance(inputs[0], tuple):
        return tuple(joined(each, count) for each in zip(*inputs))
    if isinstance(inputs[0], sparse.Rows):
        return sparse.joined(inputs)[:count]
    import numpy

    return numpy.concatenate(inputs)[:count]


def _centres(numpy, each, classes, seed, number):
    random = numpy.random.RandomState([seed, STREAM, number])
    shape = (classes,) + tuple(each.shape)
    if each.kind == "integer":
        return random.randint(0, each.vocabulary, shape).astype(numpy.int32)
    return random.uniform(-0.5, 0.5, shape).astype(numpy.float32)


def _drawn(numpy, random, each, centres, labels):
    if each.kind == "sparse":
        return sparse.drawn(random, centres, labels, entries(each))
    shape = (len(labels),) + tuple(each.shape)
    if each.kind == "integer":
        others = random.randint(0, each.vocabulary, shape).astype(numpy.int32)
        return numpy.where(random.random_sample(shape) < SHARE, centres[labels], others)
    return (centres[labels] + random.uniform(-1, 1, shape)).astype(numpy.float32)


def _binary(numpy, drawn):
    if isinstance(drawn, sparse.Rows):
        return sparse.Rows(drawn.columns, _binary(numpy, drawn.values), drawn.shape[1])
    return drawn if drawn.dtype != numpy.float32 else (drawn > 0).astype(numpy.float32)
