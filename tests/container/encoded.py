"""A small network as encoders are: learned positions, norms after the streams, GELU, and the first step at the end."""

TITLE = "Encoded"
INPUT_SHAPE = (7,)
CLASSES = 5
BATCH_SIZE = 32
SAMPLES = 1024
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """Two layers of attention of three heads."""
    x = net.layer_norm(net.positions(net.embedding(net.input(7, kind="integer", vocabulary=23), 12)))
    for _ in range(2):
        x = net.layer_norm(net.add(x, net.attention(x, 3)))
        x = net.layer_norm(net.add(x, net.dense(net.gelu(net.dense(x, 20)), 12)))
    return net.dense(net.tanh(net.dense(net.first_step(x), 12)), CLASSES)
