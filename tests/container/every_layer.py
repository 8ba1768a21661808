"""A small model with every layer of images, and with what is awkward about each."""

INPUT_SHAPE = (3, 11, 10)
CLASSES = 7
BATCH_SIZE = 128
SAMPLES = 1024
TITLE = "Every layer"
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """Odd extents, asymmetric pads, overlapping pools, values taken twice, a shortcut over a flatten."""
    x = net.input(*INPUT_SHAPE)
    x = net.relu(net.conv2d(x, 6, 4, padding="same"))
    x = net.max_pool(x, 3, 2)
    inner = net.batch_norm(net.conv2d(x, 6, 3, padding="same", bias=False))
    shortcut = net.batch_norm(net.conv2d(x, 6, 1))
    x = net.relu(net.add(inner, shortcut))
    halved = net.conv2d(x, 8, 3, stride=2, padding="same")
    pooled = net.global_average_pool(halved)
    flat = net.dropout(net.relu(net.flatten(net.average_pool(x, 2))), 0.5)
    return net.dense(net.relu(net.add(net.dense(flat, 8), pooled)), CLASSES)
