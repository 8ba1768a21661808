"""A small network as decoders are: causal attention of grouped heads in rotary positions, gates, logits of steps."""

TITLE = "Decoded"
INPUT_SHAPE = (9,)
CLASSES = 19
BATCH_SIZE = 32
SAMPLES = 1024
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}
LOSS = "next_token"


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """Two layers, the first with grouped heads and the second with a key and value for each head."""
    x = net.embedding(net.input(9, kind="integer", vocabulary=CLASSES), 16)
    for shared in (2, 4):
        x = net.add(x, net.attention(net.rms_norm(x), 4, shared, causal=True, rotary=True, bias=False))
        y = net.rms_norm(x)
        gate = net.multiply(net.silu(net.dense(y, 24, bias=False)), net.dense(y, 24, bias=False))
        x = net.add(x, net.dense(gate, 16, bias=False))
    return net.dense(net.rms_norm(x), CLASSES, bias=False)
