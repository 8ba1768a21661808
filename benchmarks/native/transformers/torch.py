"""PyTorch's layers of transformers, with the names of its operators behind them."""

import torch

from benchmarks.errors import Unsupported
from benchmarks.vocabulary.transformer import rotary_angles

OPERATORS = {
    "attention": "torch.nn.functional.scaled_dot_product_attention",
    "gelu": "torch.nn.GELU",
    "layer_norm": "torch.nn.LayerNorm",
    "rms_norm": "torch.nn.RMSNorm",
    "silu": "torch.nn.SiLU",
}


class TorchAttention(torch.nn.Module):
    """Attention with a linear layer for each projection, around PyTorch's own fused operator."""

    def __init__(self, layer):
        super().__init__()
        (time, features), settings = layer.input_shape, layer.settings
        self.heads, self.shared, self.size = settings["heads"], settings["key_value_heads"], settings["size"]
        # Before 2.5 the operator takes as many keys as queries.
        knows_groups = _release() >= (2, 5)
        self.repeats = 1 if knows_groups else self.heads // self.shared
        self.rule = {"is_causal": settings["causal"]}
        if knows_groups and self.heads != self.shared:
            self.rule["enable_gqa"] = True
        self.query = torch.nn.Linear(features, features, bias=settings["bias"])
        self.key = torch.nn.Linear(features, self.shared * self.size, bias=settings["bias"])
        self.value = torch.nn.Linear(features, self.shared * self.size, bias=settings["bias"])
        self.output = torch.nn.Linear(features, features, bias=settings["bias"])
        self.rotary = settings["rotary"]
        if self.rotary:
            for name, angles in zip(("cosines", "sines"), rotary_angles(time, self.size)):
                self.register_buffer(name, torch.tensor(angles, dtype=torch.float32), persistent=False)

    def forward(self, inputs):
        """Map (batch, time, features) to the same."""
        query = self.turned(self.split(self.query(inputs), self.heads))
        key = self.turned(self.split(self.key(inputs), self.shared))
        value = self.split(self.value(inputs), self.shared)
        if self.repeats > 1:
            key, value = (each.repeat_interleave(self.repeats, dim=1) for each in (key, value))
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, **self.rule)
        return self.output(attended.transpose(1, 2).reshape(inputs.shape))

    def split(self, values, heads):
        """Map (batch, time, features) to (batch, heads, time, size)."""
        return values.view(values.shape[0], -1, heads, self.size).transpose(1, 2)

    def turned(self, values, begin=0):
        """Turn the pairs of (batch, heads, steps, size), the first of which are at the position `begin`."""
        if not self.rotary:
            return values
        first, second = values.chunk(2, dim=-1)
        end = begin + values.shape[2]
        cosines, sines = self.cosines[begin:end], self.sines[begin:end]
        if cosines.dtype is not values.dtype:
            cosines, sines = cosines.to(values.dtype), sines.to(values.dtype)
        return torch.cat((first * cosines - second * sines, second * cosines + first * sines), dim=-1)


class TorchPositions(torch.nn.Module):
    """A learned vector of each position, which is added to its step."""

    def __init__(self, time, units):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(time, units))

    def forward(self, inputs):
        """Map (batch, time, units) to the same."""
        return inputs + self.weight


class TorchFirstStep(torch.nn.Module):
    """The features of the first step alone."""

    def forward(self, inputs):
        """Map (batch, time, features) to (batch, features)."""
        return inputs[:, 0]


def _attention(layer):
    if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        raise Unsupported("PyTorch %s lacks scaled_dot_product_attention; 2.0 has it" % torch.__version__)
    return TorchAttention(layer)


def _rms_norm(layer):
    if not hasattr(torch.nn, "RMSNorm"):
        raise Unsupported("PyTorch %s lacks RMSNorm; 2.4 has it" % torch.__version__)
    return torch.nn.RMSNorm(layer.input_shape[-1], eps=layer.settings["epsilon"])


def _gelu(_layer):
    if not hasattr(torch.nn, "GELU"):
        raise Unsupported("PyTorch %s lacks GELU; 1.4 has it" % torch.__version__)
    return torch.nn.GELU()


def _silu(_layer):
    if not hasattr(torch.nn, "SiLU"):
        raise Unsupported("PyTorch %s lacks SiLU; 1.7 has it" % torch.__version__)
    return torch.nn.SiLU()


LAYERS = {
    "attention": _attention,
    "first_step": lambda _layer: TorchFirstStep(),
    "gelu": _gelu,
    "layer_norm": lambda layer: torch.nn.LayerNorm(layer.input_shape[-1], eps=layer.settings["epsilon"]),
    "multiply": lambda _layer: None,
    "positions": lambda layer: TorchPositions(*layer.input_shape),
    "rms_norm": _rms_norm,
    "silu": _silu,
}


def owned(module, parameter):
    """Return the tensor of a parameter of an attention, such as `query` or `query_bias`, and its canonical axes."""
    name, _, part = parameter.name.rpartition(".")[2].partition("_")
    linear = getattr(module, name)
    return (linear.bias, (0,)) if part else (linear.weight, (1, 0))


def _release():
    return tuple(int(part) for part in torch.__version__.split(".")[:2])
