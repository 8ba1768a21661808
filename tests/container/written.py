"""A small network as older decoders are: learned positions, norms with a shift, biases, GELU, a head for each key."""

TITLE = "Written"
INPUT_SHAPE = (12,)
CLASSES = 17
BATCH_SIZE = 32
SAMPLES = 1024
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}
LOSS = "next_token"


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """Two layers of attention of three heads."""
    x = net.positions(net.embedding(net.input(12, kind="integer", vocabulary=CLASSES), 12))
    for _ in range(2):
        x = net.add(x, net.attention(net.layer_norm(x), 3, causal=True))
        x = net.add(x, net.dense(net.gelu(net.dense(net.layer_norm(x), 20)), 12))
    return net.dense(net.layer_norm(x), CLASSES)
