"""ResNet56 of the second kind for images of 32 x 32 pixels, of Keras' CIFAR-10 example, with 1 663 338 parameters.

Batch norm and ReLU come before each convolution of a bottleneck (He et al. 2016, Identity mappings). Every convolution
has a bias and an L2 term.
"""

TITLE = "ResNet56 v2"
INPUT_SHAPE = (3, 32, 32)
CLASSES = 10
BATCH_SIZE = 32
SAMPLES = 50000
OPTIMIZER = {"name": "adam", "learning_rate": 0.001}
PARITY_BATCH = 16
PARITY_LEARNING_RATE = 0.001
QUICK = {"batch_size": 8, "repeats": 1}
BLOCKS_PER_STAGE = 6
L2 = 0.0001


def build(net):
    """Build three stages of bottlenecks with 64, 128 and 256 filters at their end, after one convolution."""
    x = net.relu(net.batch_norm(_convolution(net, net.input(*INPUT_SHAPE), 16, 3, 1)))
    for filters, wide in ((16, 64), (64, 128), (128, 256)):
        for block in range(BLOCKS_PER_STAGE):
            x = _bottleneck(net, x, (filters, wide), 2 if wide > 64 and block == 0 else 1, block == 0)
    x = net.relu(net.batch_norm(x))
    return net.dense(net.flatten(net.average_pool(x, 8)), CLASSES)


def _bottleneck(net, x, filters, stride, projects):
    """Build convolutions of size 1, 3 and 1, of which the very first takes its values as they are."""
    narrow, wide = filters
    inner = x if projects and wide == 64 else net.relu(net.batch_norm(x))
    inner = _convolution(net, inner, narrow, 1, stride)
    inner = _convolution(net, net.relu(net.batch_norm(inner)), narrow, 3, 1)
    inner = _convolution(net, net.relu(net.batch_norm(inner)), wide, 1, 1)
    return net.add(_convolution(net, x, wide, 1, stride) if projects else x, inner)


def _convolution(net, x, filters, kernel, stride):
    return net.conv2d(x, filters, kernel, stride, padding="same", l2=L2)
