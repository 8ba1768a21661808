"""Synthetic data of models that take whole numbers, or several inputs.

A model of one input of floats has the data of `datasets.synthetic`, which is unlike this one for the sake of earlier
results.
"""

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


def batches(inputs, classes, batch_size, count, seeds, binary):  # noqa: PLR0913, PLR0917 - what and how many to draw
    """Yield batches of inputs and labels, drawn one by one by a pair of a seed and a stream.

    Each class has a mean for every value of floats, as in `datasets.synthetic`, and a whole number for every other
    value. A sample takes that number with `SHARE`, and else one below the vocabulary by chance. Inputs are a tuple if
    there are several.
    """
    import numpy

    centres = [_centres(numpy, each, classes, seeds[0], number) for number, each in enumerate(inputs)]
    random = numpy.random.RandomState(list(seeds) + [STREAM])
    for _ in range(count):
        labels = random.randint(0, classes, batch_size).astype(numpy.int32)
        drawn = tuple(_drawn(numpy, random, each, centre, labels) for each, centre in zip(inputs, centres))
        if binary:
            drawn = tuple(each if each.dtype != numpy.float32 else (each > 0).astype(numpy.float32) for each in drawn)
        yield drawn if len(drawn) > 1 else drawn[0], labels


def joined(inputs, count):
    """Return the first samples of several batches' inputs as one."""
    import numpy

    if isinstance(inputs[0], tuple):
        return tuple(numpy.concatenate(each)[:count] for each in zip(*inputs))
    return numpy.concatenate(inputs)[:count]


def _centres(numpy, each, classes, seed, number):
    random = numpy.random.RandomState([seed, STREAM, number])
    shape = (classes,) + tuple(each.shape)
    if each.kind == "integer":
        return random.randint(0, each.vocabulary, shape).astype(numpy.int32)
    return random.uniform(-0.5, 0.5, shape).astype(numpy.float32)


def _drawn(numpy, random, each, centres, labels):
    shape = (len(labels),) + tuple(each.shape)
    if each.kind == "integer":
        others = random.randint(0, each.vocabulary, shape).astype(numpy.int32)
        return numpy.where(random.random_sample(shape) < SHARE, centres[labels], others)
    return (centres[labels] + random.uniform(-1, 1, shape)).astype(numpy.float32)
