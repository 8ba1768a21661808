"""Xception for images of 299 x 299 pixels (Chollet 2017), with 22 855 952 parameters."""

TITLE = "Xception"
INPUT_SHAPE = (3, 299, 299)
CLASSES = 1000
BATCH_SIZE = 16
SAMPLES = 1000
OPTIMIZER = {"name": "rmsprop", "learning_rate": 0.001}
BLOCKS = 5
LATENCY_STEPS = 10
PARITY_BATCH = 2
PARITY_LEARNING_RATE = 0.0001
QUICK = {"batch_size": 2, "repeats": 1}


def build(net):
    """Build two convolutions, three blocks that halve, eight of 728 filters, one that halves, and two wide layers."""
    x = net.input(*INPUT_SHAPE)
    for filters, stride in ((32, 2), (64, 1)):
        x = net.relu(net.batch_norm(net.conv2d(x, filters, 3, stride, bias=False)))
    x = _halved(net, x, x, (128, 128))
    for filters in (256, 728):
        x = _halved(net, x, net.relu(x), (filters, filters))
    for _ in range(8):
        inner = x
        for _ in range(3):
            inner = _separable(net, net.relu(inner), 728)
        x = net.add(inner, x)
    x = _halved(net, x, net.relu(x), (728, 1024))
    for filters in (1536, 2048):
        x = net.relu(_separable(net, x, filters))
    return net.dense(net.global_average_pool(x), CLASSES)


def _halved(net, x, inner, filters):
    """Build two separable convolutions and a pool past a convolution of size 1 that halves too."""
    first, second = filters
    shortcut = net.batch_norm(net.conv2d(x, second, 1, 2, padding="same", bias=False))
    inner = _separable(net, net.relu(_separable(net, inner, first)), second)
    return net.add(net.max_pool(inner, 3, 2, padding="same"), shortcut)


def _separable(net, x, filters):
    return net.batch_norm(net.separable_conv2d(x, filters, 3, padding="same", bias=False))
