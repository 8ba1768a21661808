"""ResNet20 for images of 32 x 32 pixels (He et al. 2016) with projection shortcuts.

It has 272 474 parameters.
"""

TITLE = "ResNet20"
INPUT_SHAPE = (3, 32, 32)
CLASSES = 10
BATCH_SIZE = 128
SAMPLES = 50000
OPTIMIZER = {"name": "adam", "learning_rate": 0.001}


def build(net):
    """Build three stages of three basic blocks between a convolution and a dense layer.

    The convolution has 16 filters, the stages have 16, 32 and 64, and the dense layer takes the mean of each channel.
    """
    x = net.relu(_normalised(net, net.input(*INPUT_SHAPE), 16, 3, 1))
    for filters in (16, 32, 64):
        for block in range(3):
            x = _block(net, x, filters, 2 if filters > 16 and block == 0 else 1)
    return net.dense(net.global_average_pool(x), CLASSES)


def _block(net, x, filters, stride):
    """Build two convolutions and a shortcut past them, which is a 1 x 1 convolution if the shape changes."""
    inner = net.relu(_normalised(net, x, filters, 3, stride))
    inner = _normalised(net, inner, filters, 3, 1)
    shortcut = x if stride == 1 else _normalised(net, x, filters, 1, stride)
    return net.relu(net.add(inner, shortcut))


def _normalised(net, x, filters, kernel, stride):
    return net.batch_norm(net.conv2d(x, filters, kernel, stride, padding="same", bias=False))
