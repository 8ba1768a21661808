"""A linear regression on sparse rows, one of a hundred of whose 10 000 features has an entry.

It has 10 001 parameters.
"""

TITLE = "Sparse regression"
INPUT_SHAPE = (10000,)
CLASSES = 1
BATCH_SIZE = 64
SAMPLES = 100000
LOSS = "mean_squared_error"
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1, "momentum": 0.9}


def build(net):
    """Build one dense layer of one output."""
    return net.dense(net.input(*INPUT_SHAPE, kind="sparse", density=0.01), CLASSES)
