"""Separable convolutions, padded pools, joined images, and rows of images as sequences."""

INPUT_SHAPE = (2, 9, 8)
CLASSES = 4
BATCH_SIZE = 32
SAMPLES = 1024
TITLE = "Separable"
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """Odd pads, pools that pad for values below zero, separable convolutions, rows as sequences."""
    x = net.input(*INPUT_SHAPE)
    x = net.conv2d(x, 4, 3, padding=(2, 0, 1, 3), l2=0.01)
    pooled = net.max_pool(x, 3, 2, padding="same")
    strided = net.separable_conv2d(x, 3, 3, stride=2, padding="same")
    x = net.concatenate(pooled, net.tanh(strided))
    x = net.sigmoid(net.separable_conv2d(x, 5, 2, padding=(0, 1, 0, 1), bias=False))
    rows = net.concatenate(net.time_distributed(x, "lstm", 6), net.time_distributed(x, "gru", 4))
    return net.dense(net.concatenate(net.lstm(rows, 5), net.global_average_pool(x)), CLASSES, l2=0.001)
