"""A loss of squares with L2 terms, explicit pads and rows of images as sequences, by Adadelta."""

INPUT_SHAPE = (2, 9, 8)
CLASSES = 4
BATCH_SIZE = 32
SAMPLES = 1024
TITLE = "Squares"
OPTIMIZER = {"name": "adadelta", "learning_rate": 1.0}
LOSS = "mean_squared_error"


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """Two convolutions, and two LSTMs over what they yield."""
    x = net.input(*INPUT_SHAPE)
    x = net.conv2d(x, 4, 3, padding=(2, 0, 1, 3), l2=0.01)
    x = net.max_pool(x, 3, 2)
    x = net.sigmoid(net.conv2d(x, 5, 2, padding=(0, 1, 0, 1), bias=False))
    rows = net.time_distributed(x, "lstm", 6)
    return net.dense(net.add(net.lstm(rows, 5), net.global_average_pool(x)), CLASSES, l2=0.001)
