"""GRUs that reset the state before its product, one of which yields every output."""

INPUT_SHAPE = (9, 5)
BINARY_INPUTS = True
CLASSES = 4
BATCH_SIZE = 32
SAMPLES = 1024
TITLE = "Early reset"
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """A sequence to a sequence to its last output to logits."""
    x = net.gru(net.input(*INPUT_SHAPE), 7, sequences=True, reset_after=False)
    return net.dense(net.gru(x, 6, reset_after=False), CLASSES)
