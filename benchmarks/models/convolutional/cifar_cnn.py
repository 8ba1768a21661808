"""Four convolutions with dropout for CIFAR-10, as Keras' example has them, with 1 250 858 parameters."""

TITLE = "CIFAR CNN"
INPUT_SHAPE = (3, 32, 32)
CLASSES = 10
BATCH_SIZE = 32
SAMPLES = 50000
OPTIMIZER = {"name": "rmsprop", "learning_rate": 0.0001, "decay": 0.000001}


def build(net):
    """Build twice two convolutions of size 3, a pool and dropout of 0.25, then 512 units with dropout of 0.5."""
    x = net.input(*INPUT_SHAPE)
    for filters in (32, 64):
        x = net.relu(net.conv2d(x, filters, 3, padding="same"))
        x = net.relu(net.conv2d(x, filters, 3))
        x = net.dropout(net.max_pool(x, 2), 0.25)
    x = net.dropout(net.relu(net.dense(net.flatten(x), 512)), 0.5)
    return net.dense(x, CLASSES)
