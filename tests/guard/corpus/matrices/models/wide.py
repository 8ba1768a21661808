"""A wide layer on small images."""

TITLE = "Wide"
INPUT_SHAPE = (1, 8, 8)
CLASSES = 10
BATCH_SIZE = 64
SAMPLES = 2000
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1, "momentum": 0.9}


def build(net):
    """One hidden layer of 256 units."""
    x = net.flatten(net.input(*INPUT_SHAPE))
    return net.dense(net.relu(net.dense(x, 256)), CLASSES)
