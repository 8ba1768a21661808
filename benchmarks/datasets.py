"""Seeded synthetic data that can be learned: each class has a mean, and samples scatter around it."""

RING_BATCHES = 16
RING_BYTES = 256 * 1024 * 1024
EPOCH_BYTES = 1024 * 1024 * 1024
STREAM = 1
"""Keeps what is drawn here apart from what other modules draw from the same seed."""


def batch_count(sample_values, batch_size, samples, epochs):
    """How many distinct batches to place before timing.

    Steps cycle through a ring of `RING_BATCHES` batches; epochs go through the whole dataset of `samples`.
    Both are cut to what fits their bytes (float32), and the ring then goes round within the epoch.
    """
    wanted = samples // batch_size if epochs else min(RING_BATCHES, samples // batch_size)
    fitting = (EPOCH_BYTES if epochs else RING_BYTES) // (4 * sample_values * batch_size)
    return max(1, min(wanted, fitting))


def synthetic(shape, classes, batch_size, batches, seed):
    """Yield batches of inputs (float32, `batch_size` x `shape`, channels first) and labels (int32), drawn one by one.

    A class mean is uniform in ±0.5 per value and the noise around it in ±1, so one sample's values overlap between
    classes and many values together tell them apart. The same seed gives the same data everywhere.
    It is drawn sample by sample, because large temporaries would leave their mark on the heap that is then measured.
    """
    import numpy

    random = numpy.random.RandomState([seed, STREAM])
    means = numpy.empty((classes,) + tuple(shape), numpy.float32)
    for mean in means:
        mean[...] = random.uniform(-0.5, 0.5, shape)
    for _ in range(batches):
        labels = random.randint(0, classes, batch_size).astype(numpy.int32)
        inputs = numpy.empty((batch_size,) + tuple(shape), numpy.float32)
        for position, label in enumerate(labels):
            inputs[position] = means[label] + random.uniform(-1, 1, shape)
        yield inputs, labels


def binary(batches):
    """Make the inputs of batches Bernoulli: 1 where a value is above zero, else 0.

    Of what `synthetic` draws that is half of the values in all, and by class between a quarter and three quarters.
    """
    for inputs, labels in batches:
        inputs[...] = inputs > 0
        yield inputs, labels
