"""Two convolutions, one pool and dropout for MNIST, as Keras' example has them, with 1 199 882 parameters."""

TITLE = "MNIST CNN"
INPUT_SHAPE = (1, 28, 28)
CLASSES = 10
BATCH_SIZE = 128
SAMPLES = 60000
OPTIMIZER = {"name": "adadelta", "learning_rate": 1.0}


def build(net):
    """Build convolutions of 32 and 64 filters of size 3, a pool, dropout, 128 units, dropout and the logits."""
    x = net.input(*INPUT_SHAPE)
    for filters in (32, 64):
        x = net.relu(net.conv2d(x, filters, 3))
    x = net.flatten(net.dropout(net.max_pool(x, 2), 0.25))
    x = net.dropout(net.relu(net.dense(x, 128)), 0.5)
    return net.dense(x, CLASSES)
