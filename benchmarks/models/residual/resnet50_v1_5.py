"""ResNet50 v1.5 on images of ImageNet's size, with 25 557 032 parameters, as inference benchmarks have it.

It is that of He et al. (2016), but a bottleneck strides in its second convolution and not in its first one.
Convolutions have no biases.
"""

TITLE = "ResNet50 v1.5"
INPUT_SHAPE = (3, 224, 224)
CLASSES = 1000
BATCH_SIZE = 32
SAMPLES = 1000
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1, "momentum": 0.9}
BLOCKS = 5
LATENCY_STEPS = 10
PARITY_BATCH = 4
PARITY_LEARNING_RATE = 0.000001
QUICK = {"batch_size": 2, "repeats": 1}


def build(net):
    """Build four stages of 3, 4, 6 and 3 bottlenecks after a convolution of size 7 and a pool."""
    x = net.conv2d(net.input(*INPUT_SHAPE), 64, 7, 2, padding=(3, 3, 3, 3), bias=False)
    x = net.max_pool(net.relu(net.batch_norm(x)), 3, 2, padding="same")
    for filters, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            x = _bottleneck(net, x, filters, 2 if filters > 64 and block == 0 else 1, block == 0)
    return net.dense(net.global_average_pool(x), CLASSES)


def _bottleneck(net, x, filters, stride, projects):
    """Build convolutions of size 1, 3 and 1, and a shortcut past them, which is a convolution if it `projects`."""
    inner = net.relu(net.batch_norm(net.conv2d(x, filters, 1, bias=False)))
    inner = net.relu(net.batch_norm(net.conv2d(inner, filters, 3, stride, padding=(1, 1, 1, 1), bias=False)))
    inner = net.batch_norm(net.conv2d(inner, 4 * filters, 1, bias=False))
    shortcut = net.batch_norm(net.conv2d(x, 4 * filters, 1, stride, bias=False)) if projects else x
    return net.relu(net.add(inner, shortcut))
