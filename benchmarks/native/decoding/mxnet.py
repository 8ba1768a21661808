"""Generation by Gluon blocks, with keys and values in arrays that are made once, steps first as MXNet has them.

A step writes its keys and values behind those of the steps before it, and the interleaved operators take a view of all
of them. They have as many heads of keys as of queries, so that heads that are shared are stored as often as they are
used. The blocks run imperatively, as the number of steps grows.
"""

import mxnet as mx

from benchmarks.native.transformers import mxnet as mxnet_transformer
from benchmarks.vocabulary import graph

OPERATORS = dict(
    mxnet_transformer.OPERATORS,
    attention="contrib.interleaved_matmul_selfatt of prompts, contrib.interleaved_matmul_encdec of later tokens",
)


class GluonDecoder:
    """The blocks of a recorded model as a function from the next steps to the logits of the last one."""

    def __init__(self, layers, blocks, lengths, batch_size, context):
        self._capacity, self._batch_size, self._context = sum(lengths) - 1, batch_size, context
        calls = [self._call(layer, block) for layer, block in zip(layers, blocks)]
        score = calls[-1]
        # The score of a token is asked of the last step alone.
        calls[-1] = lambda inputs: score(_last_step(inputs))
        self._forward = graph.straight(layers, calls)
        self._position = 0

    def begin(self):
        """Begin anew, with nothing before the next step."""
        self._position = 0

    def __call__(self, tokens):
        """Map tokens (batch, steps) to the logits (batch, tokens) after the last of them."""
        logits = self._forward(tokens)
        self._position += tokens.shape[1]
        return logits

    def _call(self, layer, block):
        if layer.kind == "attention":
            return _CachedAttention(layer, block, self, (self._capacity, self._batch_size), self._context).attend
        if layer.kind == "positions":
            return lambda x: mx.nd.broadcast_add(x, mx.nd.expand_dims(self.own(block.weight, x.shape[1]), axis=0))
        return block

    @property
    def position(self):
        """Return the number of steps before the next one."""
        return self._position

    def own(self, parameter, steps):
        """Return the rows of a parameter that belong to the next steps."""
        return parameter.data(self._context)[self._position : self._position + steps]


def _last_step(inputs):
    return mx.nd.reshape(mx.nd.slice_axis(inputs, axis=1, begin=-1, end=None), shape=(0, -1))


class _CachedAttention:
    """An attention with the keys and values of all steps so far."""

    def __init__(self, layer, block, decoder, extents, context):  # noqa: PLR0913, PLR0917 - and where its arrays lie
        self._block, self._decoder = block, decoder
        self._heads, self._size = layer.settings["heads"], layer.settings["size"]
        self._held = mx.nd.zeros(extents + (2 * self._heads * self._size,), ctx=context)
        named = [name for name in ("weight", "bias") if getattr(block, name, None) is not None]
        self._fused = {name: getattr(block, name).data(context) for name in named}
        self._rotary = getattr(block, "cosines", None) is not None
        self._hidden = block.hidden.data(context)

    def attend(self, x):
        """Map (batch, steps, features) to the same."""
        steps, begin = x.shape[1], self._decoder.position
        # Queries, keys and values of each head side by side, (steps, batch, heads * 3 * size).
        joined = self._block.joined(mx.nd, mx.nd.swapaxes(x, 0, 1), self._own(steps))
        split = mx.nd.reshape(joined, shape=(0, 0, self._heads, 3, self._size))
        held = mx.nd.slice_axis(split, axis=3, begin=1, end=3)
        self._held[begin : begin + steps] = mx.nd.reshape(held, shape=(0, 0, -1))
        attended = self._of_step(split, begin) if begin else self._of_prompt(joined, steps)
        return mx.nd.swapaxes(self._block.output(attended), 0, 1)

    def _own(self, steps):
        turned = ("cosines", "sines") if self._rotary else ()
        return dict(self._fused, **{name: self._decoder.own(getattr(self._block, name), steps) for name in turned})

    def _of_prompt(self, joined, steps):
        scores = mx.nd.contrib.interleaved_matmul_selfatt_qk(joined, heads=self._heads)
        hidden = mx.nd.slice(self._hidden, begin=(0, 0, 0), end=(1, steps, steps))
        shares = mx.nd.softmax(mx.nd.broadcast_add(scores, hidden), axis=-1)
        return mx.nd.contrib.interleaved_matmul_selfatt_valatt(joined, shares, heads=self._heads)

    def _of_step(self, split, begin):
        """Let one step see itself and all before it."""
        query = mx.nd.reshape(mx.nd.slice_axis(split, axis=3, begin=0, end=1), shape=(0, 0, -1))
        seen = self._held[: begin + 1]
        scores = mx.nd.contrib.interleaved_matmul_encdec_qk(query, seen, heads=self._heads)
        shares = mx.nd.softmax(scores, axis=-1)
        return mx.nd.contrib.interleaved_matmul_encdec_valatt(seen, shares, heads=self._heads)
