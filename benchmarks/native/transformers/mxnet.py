"""Gluon blocks of transformers, with the names of the operators behind them.

MXNet's own operators of attention take queries, keys and values of a head side by side, steps first.
"""

import mxnet as mx
from mxnet import gluon

from benchmarks.errors import Unsupported
from benchmarks.vocabulary.transformer import rotary_angles

OPERATORS = {
    "attention": "contrib.interleaved_matmul_selfatt",
    "gelu": "LeakyReLU (gelu)",
    "layer_norm": "LayerNorm",
    "rms_norm": "elementary operators, as MXNet has none",
    "silu": "elementary operators, as MXNet has none",
}
_HIDDEN = -1e4
"""The addend to the score of a step that may not be seen, whose share then is 0, also in few bits."""


class _Attention(gluon.HybridBlock):
    """Attention through the interleaved operators. The scores that they yield are divided by the root of the size."""

    def __init__(self, layer):
        super().__init__()
        (self._time, features), settings = layer.input_shape, layer.settings
        self._heads, self._size = settings["heads"], settings["size"]
        with self.name_scope():
            self.output = gluon.nn.Dense(features, use_bias=settings["bias"], flatten=False, in_units=features)
            if settings["causal"]:
                hidden = mx.nd.array(
                    [[[_HIDDEN * (key > query) for key in range(self._time)] for query in range(self._time)]]
                )
                self.hidden = self.params.get_constant("hidden", hidden)

    def hybrid_forward(self, F, x, hidden=None, **own):
        """Map (batch, time, features) to the same."""
        joined = self.joined(F, F.swapaxes(x, 0, 1), own)
        scores = F.contrib.interleaved_matmul_selfatt_qk(joined, heads=self._heads)
        if hidden is not None:
            scores = F.broadcast_add(scores, hidden)
        shares = F.softmax(scores, axis=-1)
        attended = F.contrib.interleaved_matmul_selfatt_valatt(joined, shares, heads=self._heads)
        return F.swapaxes(self.output(attended), 0, 1)


class FusedAttention(_Attention):
    """Attention with one product for queries, keys and values, whose weight has them side by side for each head."""

    def __init__(self, layer):
        super().__init__(layer)
        features, has_bias = layer.input_shape[1], layer.settings["bias"]
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(3 * features, features))
            self.bias = self.params.get("bias", shape=(3 * features,)) if has_bias else None
        kinds = [(self.weight,)] + [(self.bias,)] * has_bias
        self.weights = [_Third(each, self._heads, number) for number in range(3) for (each,) in kinds]
        self.weights += [self.output.weight] + [self.output.bias] * has_bias

    def joined(self, F, x, own):
        """Map (steps, batch, features) to queries, keys and values of each head side by side."""
        rule = {"num_hidden": 3 * self._heads * self._size, "flatten": False}
        if self.bias is None:
            return F.FullyConnected(x, own["weight"], no_bias=True, **rule)
        return F.FullyConnected(x, own["weight"], own["bias"], **rule)


class _Third:
    """The queries, the keys or the values in a parameter that has all three of each head side by side."""

    grad_req = "write"

    def __init__(self, whole, heads, number):
        self._whole, self._heads, self._number = whole, heads, number

    def list_data(self):
        """Return the part in each context."""
        return [
            mx.nd.array(self._parts(each.asnumpy())[:, self._number].reshape(self._shape)) for each in self._arrays()
        ]

    def set_data(self, data):
        """Set the part in every context."""
        whole = self._arrays()[0].asnumpy()
        parts = self._parts(whole)
        parts[:, self._number] = data.asnumpy().reshape(parts[:, self._number].shape)
        self._whole.set_data(mx.nd.array(whole))

    def _arrays(self):
        return self._whole.list_data()

    @property
    def _shape(self):
        return (self._whole.shape[0] // 3,) + tuple(self._whole.shape[1:])

    def _parts(self, whole):
        """View an array as (heads, 3, size, …)."""
        return whole.reshape((self._heads, 3, -1) + whole.shape[1:])


class TurnedAttention(_Attention):
    """Attention whose queries and keys are turned by their position, or whose heads share keys and values.

    Its projections are laid side by side only then.
    """

    def __init__(self, layer):
        super().__init__(layer)
        features, settings = layer.input_shape[1], layer.settings
        self._shared, self._rotary = settings["key_value_heads"], settings["rotary"]
        self.weights = []
        with self.name_scope():
            for name, heads in (("query", self._heads), ("key", self._shared), ("value", self._shared)):
                rule = {"use_bias": settings["bias"], "flatten": False, "in_units": features}
                setattr(self, name, gluon.nn.Dense(heads * self._size, **rule))
            if self._rotary:
                for name, angles in zip(("cosines", "sines"), rotary_angles(self._time, self._size)):
                    setattr(self, name, self.params.get_constant(name, mx.nd.array(angles[:, None, None])))
        for each in (self.query, self.key, self.value, self.output):
            self.weights += [each.weight] + [each.bias] * settings["bias"]

    def joined(self, F, x, own):
        """Map (steps, batch, features) to queries, keys and values of each head side by side."""
        query = self._turned(F, F.reshape(self.query(x), shape=(0, 0, -4, self._heads, self._size)), own)
        key = self._turned(F, F.reshape(self.key(x), shape=(0, 0, -4, self._shared, self._size)), own)
        value = F.reshape(self.value(x), shape=(0, 0, -4, self._shared, self._size))
        if self._shared != self._heads:
            key, value = (F.repeat(each, self._heads // self._shared, axis=2) for each in (key, value))
        return F.reshape(F.concat(query, key, value, dim=3), shape=(0, 0, -3))

    def _turned(self, F, values, own):
        if not self._rotary:
            return values
        first, second = F.split(values, num_outputs=2, axis=3)
        cosines, sines = own["cosines"], own["sines"]
        turned = F.broadcast_mul(first, cosines) - F.broadcast_mul(second, sines)
        return F.concat(turned, F.broadcast_mul(second, cosines) + F.broadcast_mul(first, sines), dim=3)


class _Positions(gluon.HybridBlock):
    """A learned vector of each position, which is added to its step."""

    def __init__(self, layer):
        super().__init__()
        with self.name_scope():
            self.weight = self.params.get("weight", shape=layer.input_shape)

    def hybrid_forward(self, F, x, weight):
        """Map (batch, time, units) to the same."""
        return F.broadcast_add(x, F.expand_dims(weight, axis=0))


class _RmsNorm(gluon.HybridBlock):
    """Features divided by the root of their mean square, of elementary operators."""

    def __init__(self, layer):
        super().__init__()
        self._epsilon, self._shape = layer.settings["epsilon"], (1,) * (len(layer.input_shape)) + (-1,)
        with self.name_scope():
            self.scale = self.params.get("scale", shape=(layer.input_shape[-1],))

    def hybrid_forward(self, F, x, scale):
        """Map features to the same."""
        mean = F.mean(F.square(x), axis=-1, keepdims=True)
        normal = F.broadcast_mul(x, F.rsqrt(mean + self._epsilon))
        return F.broadcast_mul(normal, F.reshape(scale, shape=self._shape))


class _FirstStep(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        """Map (batch, time, features) to (batch, features)."""
        return F.reshape(F.slice_axis(x, axis=1, begin=0, end=1), shape=(0, -1))


class _Silu(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        """Multiply by the sigmoid."""
        return x * F.sigmoid(x)


class _Multiply(gluon.HybridBlock):
    def hybrid_forward(self, F, a, b):
        """Multiply values of one shape."""
        return F.elemwise_mul(a, b)


def _attention(layer):
    if not hasattr(mx.nd.contrib, "interleaved_matmul_selfatt_qk"):
        raise Unsupported("MXNet %s lacks interleaved_matmul_selfatt_qk; 1.6 has it" % mx.__version__)
    settings = layer.settings
    is_plain = settings["heads"] == settings["key_value_heads"] and not settings["rotary"]
    return (FusedAttention if is_plain else TurnedAttention)(layer)


def _layer_norm(layer):
    if not hasattr(gluon.nn, "LayerNorm"):
        raise Unsupported("Gluon of MXNet %s lacks LayerNorm" % mx.__version__)
    return gluon.nn.LayerNorm(epsilon=layer.settings["epsilon"], in_channels=layer.input_shape[-1])


def _gelu(_layer):
    if not hasattr(gluon.nn, "GELU"):
        raise Unsupported("Gluon of MXNet %s lacks GELU" % mx.__version__)
    return gluon.nn.GELU()


LAYERS = {
    "attention": _attention,
    "first_step": lambda _layer: _FirstStep(),
    "gelu": _gelu,
    "layer_norm": _layer_norm,
    "multiply": lambda _layer: _Multiply(),
    "positions": _Positions,
    "rms_norm": _RmsNorm,
    "silu": lambda _layer: _Silu(),
}


def parameters(layer, block):
    """Return Gluon's parameters in the order of the layer's own, or None for a layer that is none of these."""
    if layer.kind == "attention":
        return list(block.weights)
    named = {"layer_norm": ("gamma", "beta"), "rms_norm": ("scale",), "positions": ("weight",)}.get(layer.kind)
    return named and [getattr(block, name) for name in named]
