"""Two LSTMs, the first of which hands on every output."""

INPUT_SHAPE = (9, 5)
BINARY_INPUTS = True
CLASSES = 4
BATCH_SIZE = 32
SAMPLES = 1024
TITLE = "Two LSTMs"
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """A sequence to a sequence to its last output to logits."""
    x = net.lstm(net.input(*INPUT_SHAPE), 7, sequences=True)
    return net.dense(net.lstm(x, 6), CLASSES)
