"""One hidden layer of 128 units on images of 28 x 28 pixels, with 101 770 parameters."""

TITLE = "Fashion MLP"
INPUT_SHAPE = (1, 28, 28)
CLASSES = 10
BATCH_SIZE = 32
SAMPLES = 60000
OPTIMIZER = {"name": "adam", "learning_rate": 0.001}


def build(net):
    """Build 128 units with ReLU on the flattened image, and logits of 10 classes."""
    x = net.flatten(net.input(*INPUT_SHAPE))
    return net.dense(net.relu(net.dense(x, 128)), CLASSES)
