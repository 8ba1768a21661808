"""Two wide convolutions without any pooling, as in Keras' introductory examples, with 203 434 parameters."""

TITLE = "CNN 64-32"
INPUT_SHAPE = (1, 28, 28)
CLASSES = 10
BATCH_SIZE = 32
SAMPLES = 60000
OPTIMIZER = {"name": "adam", "learning_rate": 0.001}


def build(net):
    """Build convolutions of 64 and 32 filters of size 3 with ReLU, then one dense layer."""
    x = net.input(*INPUT_SHAPE)
    for filters in (64, 32):
        x = net.relu(net.conv2d(x, filters, 3))
    return net.dense(net.flatten(x), CLASSES)
