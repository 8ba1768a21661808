"""A small network of attentions in the settings that no encoder and no decoder of these tests has."""

TITLE = "Mixed"
INPUT_SHAPE = (6,)
CLASSES = 13
BATCH_SIZE = 32
SAMPLES = 1024
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}
LOSS = "next_token"


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """Each two of shared heads, causal steps, rotary positions and no bias come together in a layer."""
    x = net.embedding(net.input(6, kind="integer", vocabulary=CLASSES), 16)
    x = net.add(x, net.attention(net.layer_norm(x), 4, 2))
    x = net.add(x, net.attention(net.layer_norm(x), 4, rotary=True))
    x = net.add(x, net.attention(net.layer_norm(x), 4, 2, rotary=True, bias=False))
    x = net.add(x, net.attention(net.layer_norm(x), 4, 2, causal=True, bias=False))
    x = net.add(x, net.attention(net.layer_norm(x), 4, 1, causal=True, rotary=True))
    x = net.add(x, net.attention(net.layer_norm(x), 4, bias=False))
    return net.dense(net.layer_norm(x), CLASSES)
