"""Separable convolutions, padded pools, repeated and joined values, without a GRU that resets after the product."""

INPUT_SHAPE = (2, 6, 5)
CLASSES = 4
BATCH_SIZE = 32
SAMPLES = 1024
TITLE = "Joined"
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """An image joined with what it was, unevenly padded windows of it, its rows joined with repeated features."""
    x = net.input(*INPUT_SHAPE)
    x = net.concatenate(x, net.tanh(net.conv2d(x, 3, 3, padding="same")))
    x = net.concatenate(
        net.max_pool(x, 3, 2, padding="same"), net.separable_conv2d(x, 3, 3, stride=2, padding="same", bias=False)
    )
    pooled = net.global_average_pool(x)
    rows = net.concatenate(net.time_distributed(x, "lstm", 4), net.repeat(pooled, 3))
    return net.dense(net.concatenate(net.lstm(rows, 5), pooled), CLASSES)
