"""Synthetic tokens of models that predict the next one, which can be learned.

One token follows another with `SHARE`, and else any token by chance.
"""

STREAM = 7
"""The random stream of this module, which keeps its draws apart from those of other modules by the same seed."""
SHARE = 0.5
"""Share of the steps whose token is the one that follows the token before, so that it can be learned."""


def batches(declared, batch_size, count, seeds):
    """Yield batches of tokens and of the tokens that follow them, both int32 arrays (batch, steps).

    They are drawn one by one by a pair of a seed and a stream, below the vocabulary of the declared input.
    """
    import numpy

    (steps,), vocabulary = declared.shape, declared.vocabulary
    following = numpy.random.RandomState([seeds[0], STREAM, 0]).permutation(vocabulary).astype(numpy.int32)
    random = numpy.random.RandomState(list(seeds) + [STREAM])
    for _ in range(count):
        drawn = random.randint(0, vocabulary, (batch_size, steps + 1)).astype(numpy.int32)
        follows = random.random_sample((batch_size, steps + 1)) < SHARE
        for step in range(1, steps + 1):
            drawn[:, step] = numpy.where(follows[:, step], following[drawn[:, step - 1]], drawn[:, step])
        yield numpy.ascontiguousarray(drawn[:, :-1]), numpy.ascontiguousarray(drawn[:, 1:])
