"""Gluon blocks for the vocabulary, channels first, and the places of their weights."""

import mxnet as mx
from mxnet import gluon

from benchmarks.errors import Unsupported
from benchmarks.vocabulary import graph
from benchmarks.vocabulary.counting import size


def make(layer):
    """Make the block of a recorded layer."""
    return _LAYERS[layer.kind](layer)


def network(layers, blocks):
    """Return one block of all blocks, which is a stack if the layers are one."""
    if not graph.is_stack(layers):
        return _Graph(layers, blocks)
    stack = gluon.nn.HybridSequential()
    for block in blocks:
        stack.add(block)
    return stack


class _Graph(gluon.HybridBlock):
    """Blocks that take values from any block before them."""

    def __init__(self, layers, blocks):
        super().__init__()
        for block in blocks:
            self.register_child(block)
        walk, self._count = graph.places(layers)
        self._walk = list(zip(blocks, walk))

    def hybrid_forward(self, _, x):
        """Run the blocks in their order."""
        values = [x] + [None] * (self._count - 1)
        for block, (taken, target) in self._walk:
            values[target] = block(*[values[place] for place in taken])
        return values[target]


class _Add(gluon.HybridBlock):
    def hybrid_forward(self, F, a, b):
        """Add values of one shape."""
        return F.elemwise_add(a, b)


class _Lstm(gluon.HybridBlock):
    """MXNet's fused LSTM, which takes time first.

    The bias that it adds to the recurrent product stays at zero.
    """

    def __init__(self, layer):
        super().__init__()
        if not hasattr(gluon.rnn.LSTM, "hybrid_forward"):
            raise Unsupported("the fused LSTM of MXNet %s does not train on a CPU; MXNet 1.4 does" % mx.__version__)
        self._sequences = layer.settings["sequences"]
        self.fused = gluon.rnn.LSTM(layer.settings["units"], input_size=layer.input_shape[1])
        self.fused.l0_h2h_bias.grad_req = "null"

    def hybrid_forward(self, F, x):
        """Run over (batch, time, features)."""
        outputs = self.fused(F.swapaxes(x, 0, 1))
        if self._sequences:
            return F.swapaxes(outputs, 0, 1)
        # Not SequenceLast: its backward pass corrupts memory on a CPU (seen in MXNet 1.5.1 and 1.9.1).
        return F.reshape(F.slice_axis(outputs, axis=0, begin=-1, end=None), shape=(-3, 0))


def _conv2d(layer):
    settings = layer.settings
    top, bottom, left, right = settings["pads"]
    symmetric = top == bottom and left == right
    convolution = gluon.nn.Conv2D(
        settings["filters"],
        settings["kernel"],
        strides=settings["stride"],
        padding=(top, left) if symmetric else (0, 0),
        use_bias=settings["bias"],
        in_channels=layer.input_shape[0],
    )
    if symmetric:
        return convolution
    widths = (0, 0, 0, 0) + settings["pads"]
    padding = gluon.nn.HybridLambda(lambda F, x: F.pad(x, mode="constant", pad_width=widths, constant_value=0))
    return _sequence(padding, convolution)


def _sequence(*blocks):
    sequence = gluon.nn.HybridSequential()
    for block in blocks:
        sequence.add(block)
    return sequence


_LAYERS = {
    "conv2d": _conv2d,
    "dense": lambda layer: gluon.nn.Dense(layer.settings["units"], in_units=layer.input_shape[0]),
    "lstm": _Lstm,
    "batch_norm": lambda layer: gluon.nn.BatchNorm(
        momentum=layer.settings["momentum"], epsilon=layer.settings["epsilon"], in_channels=layer.input_shape[0]
    ),
    "max_pool": lambda layer: gluon.nn.MaxPool2D(layer.settings["size"], layer.settings["stride"]),
    "average_pool": lambda layer: gluon.nn.AvgPool2D(layer.settings["size"]),
    "global_average_pool": lambda _layer: _sequence(gluon.nn.GlobalAvgPool2D(), gluon.nn.Flatten()),
    "add": lambda _layer: _Add(),
    "flatten": lambda _layer: gluon.nn.Flatten(),
    "relu": lambda _layer: gluon.nn.Activation("relu"),
    "dropout": lambda layer: gluon.nn.Dropout(layer.settings["rate"]),
}


def parameters(layer, block):
    """Return Gluon's parameters in the order of the layer's own."""
    if not layer.parameters:
        return []
    if layer.kind == "lstm":
        return [block.fused.l0_i2h_weight, block.fused.l0_h2h_weight, block.fused.l0_i2h_bias]
    if layer.kind == "batch_norm":
        return [block.gamma, block.beta]
    holder = block[-1] if isinstance(block, gluon.nn.HybridSequential) else block
    return [holder.weight, holder.bias][: len(layer.parameters)]


def set_weights(workload, blocks):
    """Set the weights that the harness draws."""
    weights = workload.weights()
    for layer, block in zip(workload.layers, blocks):
        for parameter, native in zip(layer.parameters, parameters(layer, block)):
            native.set_data(mx.nd.array(turned(weights[parameter.name], (3, 2, 0, 1))))


def turned(array, axes):
    """Turn a weight into MXNet's layout or back, which moves convolutions by `axes` and transposes a matrix."""
    return array.transpose(axes) if array.ndim == 4 else array.T


def count(block):
    """Count the logical trainable parameters, which are those that MXNet updates."""
    return sum(size(each.shape) for each in block.collect_params().values() if each.grad_req != "null")
