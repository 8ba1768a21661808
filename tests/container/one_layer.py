"""A model of one dense layer with so many classes that most gradients are small, where an epsilon shows."""

INPUT_SHAPE = (64,)
CLASSES = 1000
BATCH_SIZE = 32
SAMPLES = 32


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """Logits from one matrix."""
    return net.dense(net.input(*INPUT_SHAPE), CLASSES)
