"""Two bidirectional LSTMs, the first of which hands on every output, and one that is not."""

INPUT_SHAPE = (9, 5)
BINARY_INPUTS = True
CLASSES = 4
BATCH_SIZE = 32
SAMPLES = 1024
TITLE = "Both ways"
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """A sequence to a sequence of both ways, and that to its last output of one way and of both."""
    x = net.lstm(net.input(*INPUT_SHAPE), 7, sequences=True, bidirectional=True)
    return net.dense(net.add(net.lstm(x, 6), net.lstm(x, 3, bidirectional=True)), CLASSES)
