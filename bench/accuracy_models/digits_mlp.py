"""Two dense layers of 512 units with dropout, as Keras' own example has them for MNIST."""

TITLE = "MLP of Keras' MNIST example"
INPUT_SHAPE = (784,)
CLASSES = 10
BATCH_SIZE = 128
SAMPLES = 60_000
OPTIMIZER = {"name": "rmsprop", "learning_rate": 0.001}


def build(net):
    """Build twice 512 units with ReLU and dropout of 0.2, and logits of 10 classes."""
    x = net.input(*INPUT_SHAPE)
    for units in (512, 512):
        x = net.dropout(net.relu(net.dense(x, units)), 0.2)
    return net.dense(x, CLASSES)
