"""Three dense layers with dropout, the fully connected workload of Keras' framework benchmarks."""

TITLE = "MLP 784-512-512-1000"
INPUT_SHAPE = (784,)
CLASSES = 1000
BATCH_SIZE = 32
SAMPLES = 100000
OPTIMIZER = {"name": "rmsprop", "learning_rate": 0.0001}


def build(net):
    """Build twice 512 units with ReLU and dropout of 0.2 on 784 features, and logits of 1000 classes."""
    x = net.input(*INPUT_SHAPE)
    for units in (512, 512):
        x = net.dropout(net.relu(net.dense(x, units)), 0.2)
    return net.dense(x, CLASSES)
