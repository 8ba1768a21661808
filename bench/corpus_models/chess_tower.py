"""A residual tower over a chess board, of the kind that plays by self-learnt values."""

TITLE = "Residual tower of a chess program"
INPUT_SHAPE = (34, 8, 8)
CLASSES = 2272
BATCH_SIZE = 8
SAMPLES = 10_000
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01, "momentum": 0.9}
BLOCKS, FILTERS = 7, 256


def build(net):
    """Build seven residual blocks of 256 filters, and a head that has a logit for each move."""
    x = net.relu(_normalised(net, net.input(*INPUT_SHAPE)))
    for _ in range(BLOCKS):
        inner = _normalised(net, net.relu(_normalised(net, x)))
        x = net.relu(net.add(inner, x))
    head = net.relu(net.batch_norm(net.conv2d(x, 8, 1, bias=False)))
    return net.dense(net.flatten(head), CLASSES)


def _normalised(net, x):
    return net.batch_norm(net.conv2d(x, FILTERS, 3, padding="same", bias=False))
