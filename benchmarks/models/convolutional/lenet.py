"""LeNet with 60 170 parameters, on images of 28 x 28 pixels in one channel."""

TITLE = "LeNet"
INPUT_SHAPE = (1, 28, 28)
CLASSES = 10
BATCH_SIZE = 200
SAMPLES = 48000
OPTIMIZER = {"name": "adam", "learning_rate": 0.001}


def build(net):
    """Build two convolutions with average pools, then dense layers of 120, 84 and 10 units, all with ReLU."""
    x = net.input(*INPUT_SHAPE)
    x = net.average_pool(net.relu(net.conv2d(x, 6, 5)), 2)
    x = net.average_pool(net.relu(net.conv2d(x, 16, 3)), 2)
    x = net.flatten(x)
    for units in (120, 84):
        x = net.relu(net.dense(x, units))
    return net.dense(x, CLASSES)
