"""Generation by PyTorch's modules, with keys and values in tensors that are made once.

A step writes its keys and values behind those of the steps before it, and attention takes views of all of them.
"""

import torch

from benchmarks.errors import Unsupported
from benchmarks.native.torch import operator_of
from benchmarks.vocabulary import graph


class TorchDecoder:
    """The modules of a recorded model as a function from the next steps to the logits of the last one."""

    def __init__(self, layers, made, capacity):
        self._capacity = capacity
        self._position = 0
        calls = [self._call(layer, module) for layer, module in zip(layers, made)]
        # The score of a token is asked of the last step alone.
        calls[-1] = lambda inputs: made[-1](inputs[:, -1])
        self._forward = graph.straight(layers, calls)

    def begin(self):
        """Begin anew, with nothing before the next step."""
        self._position = 0

    def __call__(self, tokens):
        """Map tokens (batch, steps) to the logits (batch, tokens) after the last of them."""
        if self._position and tokens.shape[1] > 1:
            raise Unsupported("a prompt comes before all other steps")
        logits = self._forward(tokens)
        self._position += tokens.shape[1]
        return logits

    def _call(self, layer, module):
        if layer.kind == "attention":
            return _CachedAttention(module, self).attend
        if layer.kind == "positions":
            return lambda inputs: inputs + module.weight[self._position : self._position + inputs.shape[1]]
        return module or operator_of(layer)

    @property
    def position(self):
        """Return the number of steps before the next one."""
        return self._position

    @property
    def capacity(self):
        """Return the number of steps that there can be."""
        return self._capacity


class _CachedAttention:
    """An attention with the keys and values of all steps so far."""

    def __init__(self, module, decoder):
        self._module, self._decoder = module, decoder
        self._rule = {name: value for name, value in module.rule.items() if name != "is_causal"}
        self._keys = self._values = None

    def attend(self, inputs):
        """Map (batch, steps, features) to the same."""
        module, begin = self._module, self._decoder.position
        steps = inputs.shape[1]
        query = module.turned(module.split(module.query(inputs), module.heads), begin)
        key = module.turned(module.split(module.key(inputs), module.shared), begin)
        value = module.split(module.value(inputs), module.shared)
        if self._keys is None or self._keys.dtype != key.dtype:
            shape = (key.shape[0], key.shape[1], self._decoder.capacity, key.shape[3])
            self._keys, self._values = key.new_empty(shape), key.new_empty(shape)
        self._keys[:, :, begin : begin + steps] = key
        self._values[:, :, begin : begin + steps] = value
        if begin:  # one step, which sees itself and all before it
            key, value = self._keys[:, :, : begin + 1], self._values[:, :, : begin + 1]
        if module.repeats > 1:
            key, value = (each.repeat_interleave(module.repeats, dim=1) for each in (key, value))
        attended = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=not begin and steps > 1, **self._rule
        )
        return module.output(attended.transpose(1, 2).reshape(inputs.shape))
