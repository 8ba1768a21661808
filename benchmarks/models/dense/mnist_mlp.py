"""Two hidden layers of 512 units with dropout for MNIST, as Keras' example has them, with 669 706 parameters."""

TITLE = "MNIST MLP"
INPUT_SHAPE = (784,)
CLASSES = 10
BATCH_SIZE = 128
SAMPLES = 60000
OPTIMIZER = {"name": "rmsprop", "learning_rate": 0.001}


def build(net):
    """Build twice 512 units with ReLU and dropout of 0.2 on 784 features, and logits of 10 classes."""
    x = net.input(*INPUT_SHAPE)
    for units in (512, 512):
        x = net.dropout(net.relu(net.dense(x, units)), 0.2)
    return net.dense(x, CLASSES)
