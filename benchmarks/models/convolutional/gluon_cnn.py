"""Two convolutions with max pools and two dense layers, the CNN of Gluon's introduction, with 440 812 parameters."""

TITLE = "Gluon CNN"
INPUT_SHAPE = (1, 28, 28)
CLASSES = 10
BATCH_SIZE = 32
SAMPLES = 10000
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1}


def build(net):
    """Build convolutions of 20 and 50 filters of size 5, each with ReLU and a pool, then 512 units and the logits."""
    x = net.input(*INPUT_SHAPE)
    for filters in (20, 50):
        x = net.max_pool(net.relu(net.conv2d(x, filters, 5)), 2)
    return net.dense(net.dense(net.flatten(x), 512), CLASSES)
