"""Flax layers of transformers, with the names of the operators behind them."""

from flax import nnx
from jax import nn
from jax import numpy as jnp

from benchmarks.vocabulary.transformer import rotary_angles

OPERATORS = {
    "attention": "jax.nn.dot_product_attention (default implementation)",
    "gelu": "jax.nn.gelu",
    "layer_norm": "flax.nnx.LayerNorm",
    "rms_norm": "flax.nnx.RMSNorm",
    "silu": "jax.nn.silu",
}
# Nothing is drawn, because the harness sets the weights.
_ZEROS = nnx.initializers.zeros_init()


class FlaxAttention(nnx.Module):
    """Attention with a linear layer for each projection, around JAX's own operator, which knows grouped heads."""

    def __init__(self, layer, dtypes, rngs):
        (self.time, features), settings = layer.input_shape, layer.settings
        self.heads, self.shared, self.size = settings["heads"], settings["key_value_heads"], settings["size"]
        self.causal, self.rotary = settings["causal"], settings["rotary"]
        rule = dict(dtypes, use_bias=settings["bias"], kernel_init=_ZEROS, rngs=rngs)
        self.query = nnx.Linear(features, features, **rule)
        self.key = nnx.Linear(features, self.shared * self.size, **rule)
        self.value = nnx.Linear(features, self.shared * self.size, **rule)
        self.output = nnx.Linear(features, features, **rule)

    def __call__(self, inputs):
        """Map (batch, time, features) to the same."""
        query = self._turned(self.split(self.query(inputs), self.heads))
        key = self._turned(self.split(self.key(inputs), self.shared))
        value = self.split(self.value(inputs), self.shared)
        attended = nn.dot_product_attention(query, key, value, is_causal=self.causal)
        return self.output(attended.reshape(inputs.shape))

    def split(self, values, heads):
        """Map (batch, time, features) to (batch, time, heads, size)."""
        return values.reshape(values.shape[:2] + (heads, self.size))

    def _turned(self, values):
        if not self.rotary:
            return values
        return self.turn(values, *[jnp.asarray(each, values.dtype) for each in rotary_angles(self.time, self.size)])

    @staticmethod
    def turn(values, cosines, sines):
        """Turn the pairs of (batch, steps, heads, size) by the angles of their positions (steps, size / 2)."""
        cosines, sines = cosines[:, None], sines[:, None]
        first, second = jnp.split(values, 2, axis=-1)
        return jnp.concatenate([first * cosines - second * sines, second * cosines + first * sines], axis=-1)


class FlaxPositions(nnx.Module):
    """A learned vector of each position, which is added to its step."""

    def __init__(self, layer, dtypes, _rngs):
        self.weight = nnx.Param(jnp.zeros(layer.input_shape, dtypes["param_dtype"]))
        self.dtype = dtypes["dtype"]

    def __call__(self, inputs):
        """Map (batch, time, units) to the same."""
        return inputs + self.weight.get_value().astype(self.dtype)


def _norm(kind):
    return lambda layer, dtypes, rngs: kind(
        layer.input_shape[-1], epsilon=layer.settings["epsilon"], rngs=rngs, **dtypes
    )


MODULES = {
    "attention": FlaxAttention,
    "layer_norm": _norm(nnx.LayerNorm),
    "positions": FlaxPositions,
    "rms_norm": _norm(nnx.RMSNorm),
}
FUNCTIONS = {
    "first_step": lambda _settings: lambda x: x[:, 0],
    "gelu": lambda _settings: lambda x: nn.gelu(x, approximate=False),
    "multiply": lambda _settings: lambda a, b: a * b,
    "silu": lambda _settings: nn.silu,
}


def _of_attention(module):
    linears = (module.query, module.key, module.value, module.output)
    return tuple(each for linear in linears for each in (linear.kernel, linear.bias) if each is not None)


VARIABLES = {
    "attention": _of_attention,
    "layer_norm": lambda module: (module.scale, module.bias),
    "positions": lambda module: (module.weight,),
    "rms_norm": lambda module: (module.scale,),
}
"""The variables of each kind, in canonical order."""
