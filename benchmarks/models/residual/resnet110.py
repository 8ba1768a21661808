"""ResNet110 for images of 32 x 32 pixels, as Keras' CIFAR-10 example has it, with 1 734 666 parameters.

Every convolution has a bias and an L2 term, and a shortcut that changes the shape is a convolution without batch norm.
"""

TITLE = "ResNet110"
INPUT_SHAPE = (3, 32, 32)
CLASSES = 10
BATCH_SIZE = 32
SAMPLES = 50000
OPTIMIZER = {"name": "adam", "learning_rate": 0.001}
PARITY_BATCH = 16
PARITY_LEARNING_RATE = 0.00002
QUICK = {"batch_size": 8, "repeats": 1}
BLOCKS_PER_STAGE = 18
L2 = 0.0001


def build(net):
    """Build three stages of basic blocks with 16, 32 and 64 filters after one convolution."""
    x = net.relu(net.batch_norm(_convolution(net, net.input(*INPUT_SHAPE), 16, 3, 1)))
    for filters in (16, 32, 64):
        for block in range(BLOCKS_PER_STAGE):
            x = _block(net, x, filters, 2 if filters > 16 and block == 0 else 1)
    return net.dense(net.flatten(net.average_pool(x, 8)), CLASSES)


def _block(net, x, filters, stride):
    inner = net.relu(net.batch_norm(_convolution(net, x, filters, 3, stride)))
    inner = net.batch_norm(_convolution(net, inner, filters, 3, 1))
    shortcut = x if stride == 1 else _convolution(net, x, filters, 1, stride)
    return net.relu(net.add(inner, shortcut))


def _convolution(net, x, filters, kernel, stride):
    return net.conv2d(x, filters, kernel, stride, padding="same", l2=L2)
