"""A decoder as Llama is one (Touvron et al. 2023), which predicts the next token of each step."""

TITLE = "Decoder"
INPUT_SHAPE = (64,)
CLASSES = 4096
BATCH_SIZE = 8
SAMPLES = 8000
OPTIMIZER = {"name": "adam", "learning_rate": 0.0003}
LOSS = "next_token"
PARITY_BATCH = 8
SIZES = {
    "tiny": {"width": 128, "depth": 2, "heads": 4, "shared_heads": 2, "sequence": 64, "vocabulary": 4096},
    "small": {"width": 512, "depth": 8, "heads": 8, "shared_heads": 4, "sequence": 128, "vocabulary": 32000},
    "base": {"width": 768, "depth": 12, "heads": 12, "shared_heads": 4, "sequence": 128, "vocabulary": 32000},
}
MULTIPLE = 256  # to which Llama rounds the width between the two matrices of a gate up


def build(net, width, depth, heads, shared_heads, sequence, vocabulary):  # noqa: PLR0913, PLR0917 - the axes
    """Norms stand before attention and gates, whose values join the stream. No layer has a bias."""
    inner = (8 * width // 3 + MULTIPLE - 1) // MULTIPLE * MULTIPLE
    x = net.embedding(net.input(sequence, kind="integer", vocabulary=vocabulary), width)
    for _ in range(depth):
        y = net.attention(net.rms_norm(x), heads, shared_heads, causal=True, rotary=True, bias=False)
        x = net.add(x, y)
        y = net.rms_norm(x)
        gated = net.multiply(net.silu(net.dense(y, inner, bias=False)), net.dense(y, inner, bias=False))
        x = net.add(x, net.dense(gated, width, bias=False))
    return net.dense(net.rms_norm(x), vocabulary, bias=False)
