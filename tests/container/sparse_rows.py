"""Sparse rows of two inputs, one with an L2 term, beside an input of floats; momentum goes on without entries."""

INPUT_SHAPE = (300,)
CLASSES = 3
BATCH_SIZE = 32
SAMPLES = 1024
TITLE = "Sparse rows"
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1, "momentum": 0.9}
LOSS = "mean_squared_error"


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """A dense layer over each input, and one over what they yield together."""
    rows = net.dense(net.input(*INPUT_SHAPE, name="rows", kind="sparse", density=0.05), 7)
    wide = net.dense(net.input(2000, name="wide", kind="sparse", density=0.01), 7, l2=0.01)
    others = net.dense(net.input(9, name="others"), 7)
    return net.dense(net.tanh(net.add(net.add(rows, wide), others)), CLASSES)
