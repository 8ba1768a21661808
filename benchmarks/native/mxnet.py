"""Gluon blocks for the vocabulary, channels first, and the places of their weights."""

import mxnet as mx
from mxnet import gluon

from benchmarks.errors import Unsupported
from benchmarks.native.transformers import mxnet as mxnet_transformer
from benchmarks.vocabulary import graph, losses
from benchmarks.vocabulary.counting import size
from benchmarks.vocabulary.windows import LEAST


def computed_on(context):
    """Return the context of an array that is computed in a context."""
    return str((mx.nd.zeros(1, context) + 1).context)


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

    def hybrid_forward(self, _, *inputs):
        """Run the blocks in their order."""
        values = list(inputs) + [None] * (self._count - len(inputs))
        for block, (taken, target) in self._walk:
            values[target] = block(*[values[place] for place in taken])
        return values[target]


class _Add(gluon.HybridBlock):
    def hybrid_forward(self, F, a, b):
        """Add values of one shape."""
        return F.elemwise_add(a, b)


class _Function(gluon.HybridBlock):
    """An operator of one value as a block. `HybridLambda` is the same, which MXNet 0.11 lacks."""

    def __init__(self, function):
        super().__init__()
        self._function = function

    def hybrid_forward(self, F, x):
        """Call the function."""
        return self._function(F, x)


class _Concatenate(gluon.HybridBlock):
    def __init__(self, axis):
        super().__init__()
        self._axis = axis

    def hybrid_forward(self, F, *values):
        """Join values along an axis."""
        return F.concat(*values, dim=self._axis)


class _TimeDistributed(gluon.HybridBlock):
    """A block that runs on each step of a sequence, or on each row of an image, as one larger batch."""

    def __init__(self, layer):
        super().__init__()
        self.inner = make(layer.settings["layer"])
        self._image = len(layer.input_shape) == 3
        self._taken, self._given = layer.settings["layer"].input_shape, layer.output_shape

    def hybrid_forward(self, F, x):
        """Map (batch, time, features), or (batch, channels, height, width), to (batch, steps, units)."""
        if self._image:
            x = F.transpose(x, axes=(0, 2, 3, 1))
        return F.reshape(self.inner(F.reshape(x, shape=(-1,) + self._taken)), shape=(-1,) + self._given)


def _recurrent(layer):
    """Make MXNet's fused LSTM or GRU, or its cell in a loop where the fused one is no hybrid block.

    Such a fused one, of MXNet below 1.3, does not train on a CPU.
    """
    fused, cell = {
        "lstm": (gluon.rnn.LSTM, gluon.rnn.LSTMCell),
        "gru": (gluon.rnn.GRU, gluon.rnn.GRUCell),
    }[layer.kind]
    return _Recurrent(layer, fused) if hasattr(fused, "hybrid_forward") else _Unrolled(layer, cell)


class _Unrolled(gluon.HybridBlock):
    """MXNet's cell of an LSTM or GRU, written out for each step of (batch, time, features), and one for the way back.

    The bias that a cell adds to the recurrent product stays at zero.
    """

    def __init__(self, layer, cell):
        super().__init__()
        self._sequences, self._time = layer.settings["sequences"], layer.input_shape[0]
        self._units, self._states = layer.settings["units"], 2 if layer.kind == "lstm" else 1
        self.cell = cell(self._units, input_size=layer.input_shape[1])
        self.backward_cell = None
        if layer.settings.get("bidirectional"):
            self.backward_cell = cell(self._units, input_size=layer.input_shape[1])
        self.weights = ()
        for each in (self.cell, self.backward_cell):
            if each is not None:
                each.h2h_bias.grad_req = "null"
                self.weights += (each.i2h_weight, each.h2h_weight, each.i2h_bias)

    def hybrid_forward(self, F, x):
        """Run over (batch, time, features)."""
        steps = [F.reshape(F.slice_axis(x, axis=1, begin=i, end=i + 1), shape=(0, -1)) for i in range(self._time)]
        # Zeros of (batch, units), because a symbol does not tell the size of a batch.
        zeros = F.sum(F.zeros_like(steps[0]), axis=1, keepdims=True)
        states = [F.broadcast_axis(zeros, axis=1, size=self._units)] * self._states
        outputs, last = self._walked(F, self.cell, steps, states)
        if self.backward_cell is None:
            return F.concat(*outputs, dim=1) if self._sequences else last
        backward, first = self._walked(F, self.backward_cell, steps[::-1], states)
        if self._sequences:
            return F.concat(F.concat(*outputs, dim=1), F.concat(*backward[::-1], dim=1), dim=2)
        return F.concat(last, first, dim=1)

    @staticmethod
    def _walked(F, cell, steps, states):
        """Return what a cell yields at each step, as (batch, 1, units), and its last output."""
        outputs = []
        for step in steps:
            output, states = cell(step, states)
            outputs.append(F.expand_dims(output, axis=1))
        return outputs, output


class _SparseDense(gluon.HybridBlock):
    """A dense layer over sparse rows, as Gluon's own takes none. Its weight is (features, units).

    MXNet has a kernel for the gradient of the weight only if that is sparse too.
    """

    def __init__(self, layer):
        super().__init__()
        with self.name_scope():
            try:
                self.weight = self.params.get("weight", shape=layer.parameters[0].shape, grad_stype="row_sparse")
            except TypeError:
                message = "Gluon of MXNet %s lacks sparse gradients, as sparse inputs need; that of MXNet 1.3 has them"
                raise Unsupported(message % mx.__version__) from None
            self.bias = self.params.get("bias", shape=layer.parameters[1].shape)

    def hybrid_forward(self, F, x, weight, bias):
        """Multiply (batch, features) in compressed rows by the weight and add the bias."""
        return F.broadcast_add(F.sparse.dot(x, weight), F.expand_dims(bias, axis=0))


class _Recurrent(gluon.HybridBlock):
    """MXNet's fused LSTM or GRU, which takes time first.

    The biases that it adds to the recurrent products stay at zero.
    """

    def __init__(self, layer, fused):
        super().__init__()
        self._sequences, self._units = layer.settings["sequences"], layer.settings["units"]
        self._bidirectional = layer.settings.get("bidirectional", False)
        self.fused = fused(self._units, input_size=layer.input_shape[1], bidirectional=self._bidirectional)
        self.weights = ()
        for direction in ("l0", "r0") if self._bidirectional else ("l0",):
            getattr(self.fused, direction + "_h2h_bias").grad_req = "null"
            names = ("_i2h_weight", "_h2h_weight", "_i2h_bias")
            self.weights += tuple(getattr(self.fused, direction + name) for name in names)

    def hybrid_forward(self, F, x):
        """Run over (batch, time, features)."""
        outputs = self.fused(F.swapaxes(x, 0, 1))
        if self._sequences:
            return F.swapaxes(outputs, 0, 1)
        # Not SequenceLast: its backward pass corrupts memory on a CPU (seen in MXNet 1.5.1 and 1.9.1).
        last = F.reshape(F.slice_axis(outputs, axis=0, begin=-1, end=None), shape=(-3, 0))
        if not self._bidirectional:
            return last
        first = F.reshape(F.slice_axis(outputs, axis=0, begin=0, end=1), shape=(-3, 0))
        forward = F.slice_axis(last, axis=1, begin=0, end=self._units)
        return F.concat(forward, F.slice_axis(first, axis=1, begin=self._units, end=None), dim=1)


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
    return _sequence(_padding(settings["pads"], 0), convolution)


def _dense(layer):
    units, has_bias = layer.settings["units"], layer.settings["bias"]
    is_flat = len(layer.input_shape) == 1
    rule = {} if is_flat else {"flatten": False}  # which MXNet 0.11 does not know
    return gluon.nn.Dense(units, use_bias=has_bias, in_units=layer.input_shape[-1], **rule)


def _separable_conv2d(layer):
    settings, channels = layer.settings, layer.input_shape[0]
    top, bottom, left, right = settings["pads"]
    symmetric = top == bottom and left == right
    depthwise = gluon.nn.Conv2D(
        channels,
        settings["kernel"],
        strides=settings["stride"],
        padding=(top, left) if symmetric else (0, 0),
        groups=channels,
        use_bias=False,
        in_channels=channels,
    )
    pointwise = gluon.nn.Conv2D(settings["filters"], 1, use_bias=settings["bias"], in_channels=channels)
    return _sequence(*([] if symmetric else [_padding(settings["pads"], 0)]), depthwise, pointwise)


def _max_pool(layer):
    settings = layer.settings
    top, bottom, left, right = settings["pads"]
    if top == bottom and left == right:
        return gluon.nn.MaxPool2D(settings["size"], settings["stride"], padding=(top, left))
    return _sequence(_padding(settings["pads"], LEAST), gluon.nn.MaxPool2D(settings["size"], settings["stride"]))


def _padding(pads, value):
    widths = (0, 0, 0, 0) + tuple(pads)
    return _Function(lambda F, x: F.pad(x, mode="constant", pad_width=widths, constant_value=value))


def _repeat(layer):
    times = layer.settings["times"]
    return _Function(lambda F, x: F.broadcast_axis(F.expand_dims(x, axis=1), axis=1, size=times))


def _sequence(*blocks):
    sequence = gluon.nn.HybridSequential()
    for block in blocks:
        sequence.add(block)
    return sequence


_LAYERS = {
    "conv2d": _conv2d,
    "dense": lambda layer: _SparseDense(layer) if "entries" in layer.settings else _dense(layer),
    "lstm": _recurrent,
    "gru": _recurrent,
    "embedding": lambda layer: gluon.nn.Embedding(layer.settings["vocabulary"], layer.settings["units"]),
    "time_distributed": _TimeDistributed,
    "repeat": _repeat,
    "concatenate": lambda layer: _Concatenate(1 if layer.settings["image"] else len(layer.output_shape)),
    "separable_conv2d": _separable_conv2d,
    "sigmoid": lambda _layer: gluon.nn.Activation("sigmoid"),
    "tanh": lambda _layer: gluon.nn.Activation("tanh"),
    "softmax": lambda _layer: _Function(lambda F, x: F.softmax(x, axis=-1)),
    "batch_norm": lambda layer: gluon.nn.BatchNorm(
        momentum=layer.settings["momentum"], epsilon=layer.settings["epsilon"], in_channels=layer.input_shape[0]
    ),
    "max_pool": _max_pool,
    "average_pool": lambda layer: gluon.nn.AvgPool2D(layer.settings["size"]),
    "global_average_pool": lambda _layer: _sequence(gluon.nn.GlobalAvgPool2D(), gluon.nn.Flatten()),
    "add": lambda _layer: _Add(),
    "flatten": lambda _layer: gluon.nn.Flatten(),
    "relu": lambda _layer: gluon.nn.Activation("relu"),
    "dropout": lambda layer: gluon.nn.Dropout(layer.settings["rate"]),
}
_LAYERS.update(mxnet_transformer.LAYERS)


def parameters(layer, block):
    """Return Gluon's parameters in the order of the layer's own."""
    if not layer.parameters:
        return []
    if layer.kind == "time_distributed":
        return parameters(layer.settings["layer"], block.inner)
    found = mxnet_transformer.parameters(layer, block)
    if found is not None:
        return found
    if layer.kind in ("lstm", "gru"):
        return list(block.weights)
    if layer.kind == "batch_norm":
        return [block.gamma, block.beta]
    holder = block[-1] if isinstance(block, gluon.nn.HybridSequential) else block
    weights = [block[-2].weight] if layer.kind == "separable_conv2d" else []
    weights += [holder.weight, getattr(holder, "bias", None)]
    return weights[: len(layer.parameters)]


def set_weights(workload, blocks):
    """Set the weights that the harness draws."""
    weights = workload.weights()
    for layer, block in zip(workload.layers, blocks):
        for parameter, native in zip(layer.parameters, parameters(layer, block)):
            native.set_data(mx.nd.array(_turned(layer, parameter, weights[parameter.name], (3, 2, 0, 1))))


def canonical(layer, parameter, native):
    """Copy a weight to the host and into canonical layout."""
    return _turned(layer, parameter, native.list_data()[0].asnumpy(), (2, 3, 1, 0))


def l2_terms(layers, blocks):
    """Return the parameter of each weight that has an L2 term, with the term's factor."""
    factors = dict(losses.l2_terms(layers))
    return [
        (factors[parameter.name], native)
        for layer, block in zip(layers, blocks)
        for parameter, native in zip(layer.parameters, parameters(layer, block))
        if parameter.name in factors
    ]


def _turned(layer, parameter, array, axes):
    """Turn a weight into MXNet's layout or back, which moves convolutions by `axes` and transposes a matrix."""
    if layer.kind in ("embedding", "positions") or "entries" in layer.settings:
        return array
    if parameter.name.endswith(".depthwise"):
        return array.transpose(2, 3, 0, 1)
    return array.transpose(axes) if array.ndim == 4 else array.T


def count(block):
    """Count the logical trainable parameters, which are those that MXNet updates."""
    return sum(size(each.shape) for each in block.collect_params().values() if each.grad_req != "null")
