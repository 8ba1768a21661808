"""The layers of transformers, which a model takes through `Net` as it takes the others.

Conventions, the same in every framework:

- `layer_norm` and `rms_norm` normalise the features of each sample, or of each step, with epsilon 1e-5 added to the
  variance, or to the mean of the squares. The scale is learned, and of `layer_norm` a shift too.
- `gelu` is the exact one, x * (1 + erf(x / sqrt 2)) / 2, and never the approximation by tanh. `silu` is x * sigmoid(x).
- `attention` makes queries, keys and values of each step by four matrices (in, out), each with a bias or none, and
  softmax(query . key / sqrt(width of a head)) weighs the values. Heads lie side by side in the columns. With fewer
  `key_value_heads`, equally many heads of queries next to each other share one. `causal` steps see none after them.
- `rotary` turns each head's queries and keys by their position (Su et al. 2021). Value i of the first half and value i
  of the second half are a pair, whose angle at position p is p / 10000^(2i / width).
- `positions` adds a learned vector of each position.
"""

from .parameters import constant, drawn
from .windows import is_whole

NORM_EPSILON = 1e-5
"""The addend to the variance, or to the mean of the squares, of the features of a step."""
ROTARY_BASE = 10000.0


class TransformerLayers:
    """The part of a `Net` that records the layers of transformers."""

    def layer_norm(self, x):
        """Normalise the features of each sample, or of each step, by their mean and variance, then scale and shift."""
        parameters = [constant("scale", self._features(x, "layer_norm"), 1.0), constant("shift", x.shape[-1], 0.0)]
        return self._add("layer_norm", (x,), x.shape, parameters, {"epsilon": NORM_EPSILON})

    def rms_norm(self, x):
        """Divide the features of each sample, or of each step, by the root of their mean square, then scale them."""
        parameters = [constant("scale", self._features(x, "rms_norm"), 1.0)]
        return self._add("rms_norm", (x,), x.shape, parameters, {"epsilon": NORM_EPSILON})

    def gelu(self, x):
        """Multiply each value by the share of a normal distribution that lies below it."""
        return self._alike("gelu", x)

    def silu(self, x):
        """Multiply each value by its sigmoid."""
        return self._alike("silu", x)

    def multiply(self, a, b):
        """Multiply two values of one shape, element by element, as a gate does."""
        if a.shape != b.shape:
            raise ValueError("multiply takes two values of one shape, not %s and %s" % (a.shape, b.shape))
        self._refuse_flattened("multiply", a, b)
        return self._add("multiply", (a, b), a.shape, [], {})

    def positions(self, x):
        """Add a learned vector of its position to each step of (time, features)."""
        time, units = self._steps(x, "positions")
        return self._add("positions", (x,), x.shape, [drawn("weight", (time, units), time, units)], {})

    def first_step(self, x):
        """Take the features of the first step alone, as a classifier of whole sequences does."""
        self._steps(x, "first_step")
        return self._add("first_step", (x,), x.shape[1:], [], {})

    def attention(self, x, heads, key_value_heads=None, causal=False, rotary=False, bias=True):  # noqa: PLR0913, PLR0917 - a layer's settings
        """Let each step of (time, features) look at all steps, or if `causal` at those up to it, by several heads."""
        _, features = self._steps(x, "attention")
        shared = heads if key_value_heads is None else key_value_heads
        if not is_whole(heads, 1) or features % heads:
            raise ValueError("attention divides %d features evenly by its heads, not by %r" % (features, heads))
        if not is_whole(shared, 1) or heads % shared:
            raise ValueError("attention divides %d heads evenly by key_value_heads, not by %r" % (heads, shared))
        size = features // heads
        if rotary and size % 2:
            raise ValueError("rotary positions turn pairs of values; a head of %d has no pairs" % size)
        parameters = []
        for name, width in (
            ("query", features),
            ("key", shared * size),
            ("value", shared * size),
            ("output", features),
        ):
            parameters.append(drawn(name, (features, width), features, width))
            parameters += [constant(name + "_bias", width, 0.0)] * bool(bias)
        settings = {"heads": heads, "key_value_heads": shared, "size": size}
        settings.update(causal=bool(causal), rotary=bool(rotary), bias=bool(bias))
        return self._add("attention", (x,), x.shape, parameters, settings)

    def _features(self, x, kind):
        if len(x.shape) not in (1, 2):
            raise ValueError("%s takes features, or (time, features), not the shape %s" % (kind, x.shape))
        self._refuse_flattened(kind, x)
        return x.shape[-1]

    @staticmethod
    def _steps(x, kind):
        if len(x.shape) != 2:
            raise ValueError("%s takes (time, features), not the shape %s" % (kind, x.shape))
        return x.shape


def rotary_angles(time, size):
    """Return the cosines and sines of every position and pair of a head, as float64 arrays (time, size / 2)."""
    import numpy

    rates = ROTARY_BASE ** (-numpy.arange(0, size, 2) / float(size))
    angles = numpy.arange(time)[:, None] * rates
    return numpy.cos(angles), numpy.sin(angles)
