"""The vocabulary that model files speak, and the conventions it fixes for every framework.

A model is `build(net)`: it takes `x = net.input(...)` through calls such as `net.conv2d(x, 6, 5)` and returns logits.
`Net` records the layers; `counting` counts them, and each module of `frameworks/` makes native layers from them.

Conventions, the same in every framework:

- Shapes leave the batch out; images are channels first (channels, height, width) whatever layout runs, and sequences
  are (time, features).
- `same` padding is TensorFlow's: as many outputs as strides fit the input, and an odd row or column of zeros goes to
  the bottom or right. It is recorded as explicit `pads` (top, bottom, left, right); pools see valid positions only.
- Convolution weights are canonically (height, width, in, out), dense weights (in, out), both followed by their bias.
- Batch norm is per channel of an image, or per feature: epsilon 1e-3, the running values keep 0.9 of what they were at
  each step, scale and shift are learned. The running values belong to no weights: frameworks differ in them.
- An LSTM's gates are i, f, g, o side by side in weights (in, 4 units) and (units, 4 units), with sigmoid gates and ONE
  bias, whose forget part starts at 1; a framework that stores a second one keeps it at zero.
- `flatten` yields channel-first order; a framework that runs channels last permutes the rows of the next dense layer.
- The loss is the mean softmax cross-entropy of the logits, so no model ends in a softmax.
- `dropout` is active in training only, and scales by 1 / (1 - rate) there.
"""

from collections import namedtuple

EPSILON = 1e-3
MOMENTUM = 0.9
"""Settings of batch norm, for the addend to the variance and the share of the old value that a step keeps."""

Parameter = namedtuple("Parameter", "name shape fan_in fan_out start")
Parameter.__doc__ = """One logical tensor of weights in canonical layout.

    It is drawn by its fans if fan_in is not 0. Else `start` holds the first values, each for an even share of them."""

Layer = namedtuple("Layer", "kind name settings inputs input_shape output_shape parameters")
Layer.__doc__ = """One recorded call.

    It has settings by name, positions of the values it takes, shapes without the batch (of the first value it takes,
    and of what it yields), and parameters in canonical order."""

Value = namedtuple("Value", "position shape flattened")
Value.__doc__ = """The value that a layer yields.

    It has a position, a shape without the batch, and the shape of the image if its values lie in the order of a
    flattened one, else None. The first layer yields position 1, and inputs are 0, -1, -2 and so on."""

Input = namedtuple("Input", "name shape kind")
Input.__doc__ = (
    """One input of a model, with its shape without the batch and the kind of its values (`float`, `integer`)."""
)


class Net:
    """A recorder of a model as a graph of layers, which checks shapes on the way."""

    def __init__(self):
        self.layers = []
        self.inputs = []
        self.input_shape = None

    def input(self, *shape, name="inputs", kind="float"):
        """Begin the model with features, (time, features) or (channels, height, width).

        A model has an input for each name. Datasets fill its first one.
        """
        if kind not in ("float", "integer"):
            raise ValueError("an input's kind is 'float' or 'integer', not %r" % (kind,))
        names = [each.name for each in self.inputs]
        if name not in names:
            names.append(name)
            self.inputs.append(Input(name, tuple(shape), kind))
        self.input_shape = self.inputs[0].shape
        return Value(-names.index(name), tuple(shape), None)

    def conv2d(self, x, filters, kernel, stride=1, padding="valid", bias=True):  # noqa: PLR0913, PLR0917 - a layer's settings
        """Convolve with square kernels, at valid positions only or with `same` padding, and add a bias or none."""
        if padding not in ("valid", "same"):
            raise ValueError("conv2d pads 'valid' or 'same', not %r" % (padding,))
        channels, *extents = self._image(x, "conv2d", 1 if padding == "same" else kernel)
        vertical, horizontal = (_same(extent, kernel, stride) if padding == "same" else (0, 0) for extent in extents)
        height, width = (
            (extent + sum(pads) - kernel) // stride + 1 for extent, pads in zip(extents, (vertical, horizontal))
        )
        area = kernel * kernel
        weight = _drawn("weight", (kernel, kernel, channels, filters), channels * area, filters * area)
        settings = {"filters": filters, "kernel": kernel, "stride": stride, "pads": vertical + horizontal, "bias": bias}
        parameters = [weight] + [_constant("bias", filters, 0.0)] * bias
        return self._add("conv2d", (x,), (filters, height, width), parameters, settings)

    def dense(self, x, units):
        """Multiply by a matrix and add a bias."""
        if len(x.shape) != 1:
            raise ValueError("dense takes flat features, not the shape %s; flatten first" % (x.shape,))
        parameters = [_drawn("weight", (x.shape[0], units), x.shape[0], units), _constant("bias", units, 0.0)]
        return self._add("dense", (x,), (units,), parameters, {"units": units, "flattened": x.flattened})

    def max_pool(self, x, size, stride=None):
        """Take the greatest of each square of `size`, `stride` (by default `size`) apart, at valid positions only."""
        stride = size if stride is None else stride
        channels, height, width = self._image(x, "max_pool", size)
        shape = (channels, (height - size) // stride + 1, (width - size) // stride + 1)
        return self._add("max_pool", (x,), shape, [], {"size": size, "stride": stride})

    def average_pool(self, x, size):
        """Average over squares of `size` that do not overlap, and leave out the rest that fills no square."""
        channels, height, width = self._image(x, "average_pool", size)
        return self._add("average_pool", (x,), (channels, height // size, width // size), [], {"size": size})

    def global_average_pool(self, x):
        """Average each channel over its whole image, which leaves one feature per channel."""
        return self._add("global_average_pool", (x,), self._image(x, "global_average_pool", 1)[:1], [], {})

    def batch_norm(self, x):
        """Normalise each channel, or feature, by its mean and variance over the batch, then scale and shift it."""
        if len(x.shape) not in (1, 3):
            raise ValueError("batch_norm takes images or flat features, not the shape %s" % (x.shape,))
        _refuse_flattened("batch_norm", x)
        parameters = [_constant("scale", x.shape[0], 1.0), _constant("shift", x.shape[0], 0.0)]
        return self._add("batch_norm", (x,), x.shape, parameters, {"epsilon": EPSILON, "momentum": MOMENTUM})

    def add(self, a, b):
        """Add two values of one shape, such as a shortcut to what it passes by."""
        if a.shape != b.shape:
            raise ValueError("add takes two values of one shape, not %s and %s" % (a.shape, b.shape))
        _refuse_flattened("add", a, b)
        return self._add("add", (a, b), a.shape, [], {})

    def lstm(self, x, units, sequences=False):
        """Run an LSTM over (time, features), and yield its last output, or all of them if `sequences` is set."""
        if len(x.shape) != 2:
            raise ValueError("lstm takes (time, features), not the shape %s" % (x.shape,))
        time, features = x.shape
        parameters = [
            _drawn("weight", (features, 4 * units), features, 4 * units),
            _drawn("recurrent", (units, 4 * units), units, 4 * units),
            _constant("bias", 4 * units, 0.0, 1.0, 0.0, 0.0),
        ]
        shape = (time, units) if sequences else (units,)
        return self._add("lstm", (x,), shape, parameters, {"units": units, "sequences": sequences})

    def flatten(self, x):
        """Lay the values of each sample in one row, channel by channel."""
        count = 1
        for extent in x.shape:
            count *= extent
        value = self._add("flatten", (x,), (count,), [], {})
        return value._replace(flattened=x.shape if len(x.shape) == 3 else x.flattened)

    def relu(self, x):
        """Replace values below zero by zero."""
        return self._add("relu", (x,), x.shape, [], {})._replace(flattened=x.flattened)

    def dropout(self, x, rate):
        """While training, drop this share of the values at random."""
        return self._add("dropout", (x,), x.shape, [], {"rate": rate})._replace(flattened=x.flattened)

    def _image(self, x, kind, size):
        if len(x.shape) != 3 or min(x.shape[1:]) < size:
            raise ValueError("%s of size %d cannot take the shape %s" % (kind, size, x.shape))
        return x.shape

    def _add(self, kind, taken, output_shape, parameters, settings):
        name = "%s_%d" % (kind, 1 + sum(layer.kind == kind for layer in self.layers))
        named = tuple(parameter._replace(name="%s.%s" % (name, parameter.name)) for parameter in parameters)
        inputs = tuple(value.position for value in taken)
        self.layers.append(Layer(kind, name, settings, inputs, taken[0].shape, tuple(output_shape), named))
        return Value(len(self.layers), tuple(output_shape), None)


def record(build):
    """Run a model's `build` and return its layers as a tuple, each after those it takes values from."""
    return tuple(recorded(build).layers)


def recorded(build):
    """Run a model's `build` and return the `Net` with its inputs and layers."""
    net = Net()
    output = build(net)
    if not isinstance(output, Value) or output.position != len(net.layers) or not net.layers:
        raise ValueError("a model's build(net) must return what its last layer yields")
    if output.flattened:
        raise ValueError("a model must not return a flattened image, whose order is the layout's: end in dense")
    taken = {position for layer in net.layers for position in layer.inputs}
    for position, layer in enumerate(net.layers[:-1], 1):
        if position not in taken:
            raise ValueError("nothing takes what %s yields" % layer.name)
    for number, each in enumerate(net.inputs[1:], 1):
        if -number not in taken:
            raise ValueError("nothing takes the input %s" % each.name)
    return net


def _drawn(name, shape, fan_in, fan_out):
    return Parameter(name, shape, fan_in, fan_out, ())


def _constant(name, count, *start):
    return Parameter(name, (count,), 0, 0, start)


def _same(extent, kernel, stride):
    """Return the zeros before and after `extent` values, for one output value per stride, begun ones included."""
    total = max(((extent - 1) // stride) * stride + kernel - extent, 0)
    return total // 2, total - total // 2


def _refuse_flattened(kind, *values):
    if any(value.flattened for value in values):
        raise ValueError("%s cannot follow flatten, which orders values by the layout that runs; put it before" % kind)
