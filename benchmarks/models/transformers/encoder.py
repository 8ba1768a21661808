"""An encoder as BERT is one (Devlin et al. 2019), which classifies whole sequences."""

TITLE = "Encoder"
INPUT_SHAPE = (128,)
CLASSES = 3
BATCH_SIZE = 8
SAMPLES = 8000
OPTIMIZER = {"name": "adam", "learning_rate": 0.0001}
PARITY_BATCH = 8
SIZES = {
    "tiny": {"width": 128, "depth": 2, "heads": 2, "sequence": 128, "vocabulary": 30522},
    "small": {"width": 512, "depth": 4, "heads": 8, "sequence": 128, "vocabulary": 30522},
    "base": {"width": 768, "depth": 12, "heads": 12, "sequence": 128, "vocabulary": 30522},
}


def build(net, width, depth, heads, sequence, vocabulary):  # noqa: PLR0913, PLR0917 - the axes
    """Norms stand after the streams, and the first step is what is classified. It has no dropout and one segment."""
    tokens = net.input(sequence, kind="integer", vocabulary=vocabulary)
    x = net.layer_norm(net.positions(net.embedding(tokens, width)))
    for _ in range(depth):
        x = net.layer_norm(net.add(x, net.attention(x, heads)))
        inner = net.gelu(net.dense(x, 4 * width))
        x = net.layer_norm(net.add(x, net.dense(inner, width)))
    return net.dense(net.tanh(net.dense(net.first_step(x), width)), CLASSES)
