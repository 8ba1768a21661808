"""Batch norm of features, and layers without any weights at both ends of it."""

TITLE = "Features"
INPUT_SHAPE = (20,)
CLASSES = 4
BATCH_SIZE = 128
SAMPLES = 1024
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """A value without weights beside one of a normalised dense layer."""
    x = net.relu(net.input(*INPUT_SHAPE))
    return net.dense(net.add(x, net.relu(net.batch_norm(net.dense(x, 20)))), CLASSES)
