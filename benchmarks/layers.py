"""The vocabulary that model files speak, and the conventions it fixes for every framework.

A model is `build(net)`: it takes `x = net.input(...)` through calls such as `net.conv2d(x, 6, 5)` and returns logits.
`Net` records the layers; `counting` counts them, and each module of `frameworks/` makes native layers from them.

Conventions, the same in every framework:

- Shapes leave the batch out, and images are channels first (channels, height, width) whatever layout runs.
- Convolutions and pools see valid positions only; a model that pads says so with a layer of its own.
- Convolution weights are canonically (height, width, in, out), dense weights (in, out), both followed by their bias.
- `flatten` yields channel-first order; a framework that runs channels last permutes the rows of the next dense layer.
- The loss is the mean softmax cross-entropy of the logits, so no model ends in a softmax.
- `dropout` is active in training only, and scales by 1 / (1 - rate) there.
"""

from collections import namedtuple

Parameter = namedtuple("Parameter", "name shape fan_in fan_out")
Parameter.__doc__ = """One logical tensor of weights: its canonical shape; a bias has fan_in 0 and starts at zero."""

Layer = namedtuple("Layer", "kind name settings input_shape output_shape parameters")
Layer.__doc__ = """One recorded call: settings by name, shapes without the batch, parameters in canonical order."""

Value = namedtuple("Value", "position shape")
Value.__doc__ = """What a layer yields: its position in the stack, and its shape without the batch."""


class Net:
    """Records a model as a stack of layers, checking shapes on the way."""

    def __init__(self):
        self.layers = []
        self.input_shape = None

    def input(self, *shape):
        """Begin the model: features, or channels, height, width."""
        self.input_shape = tuple(shape)
        return Value(0, self.input_shape)

    def conv2d(self, x, filters, kernel):
        """Convolve with square kernels at every valid position, stride 1, and add a bias."""
        channels, height, width = self._image(x, "conv2d", kernel)
        area = kernel * kernel
        weight = ("weight", (kernel, kernel, channels, filters), channels * area, filters * area)
        shape = (filters, height - kernel + 1, width - kernel + 1)
        return self._add("conv2d", x, shape, [weight, ("bias", (filters,), 0, 0)], filters=filters, kernel=kernel)

    def dense(self, x, units):
        """Multiply by a matrix and add a bias."""
        if len(x.shape) != 1:
            raise ValueError("dense takes flat features, not the shape %s; flatten first" % (x.shape,))
        weight = ("weight", (x.shape[0], units), x.shape[0], units)
        flattened = self.layers[-1].input_shape if self.layers and self.layers[-1].kind == "flatten" else None
        return self._add("dense", x, (units,), [weight, ("bias", (units,), 0, 0)], units=units, flattened=flattened)

    def average_pool(self, x, size):
        """Average over squares of `size` that do not overlap; what does not fill a square is left out."""
        channels, height, width = self._image(x, "average_pool", size)
        return self._add("average_pool", x, (channels, height // size, width // size), [], size=size)

    def flatten(self, x):
        """Lay the values of each sample in one row, channel by channel."""
        count = 1
        for extent in x.shape:
            count *= extent
        return self._add("flatten", x, (count,), [])

    def relu(self, x):
        """Replace what is below zero by zero."""
        return self._add("relu", x, x.shape, [])

    def dropout(self, x, rate):
        """While training, drop this share of the values at random."""
        return self._add("dropout", x, x.shape, [], rate=rate)

    def _image(self, x, kind, size):
        if len(x.shape) != 3 or min(x.shape[1:]) < size:
            raise ValueError("%s of size %d cannot take the shape %s" % (kind, size, x.shape))
        return x.shape

    def _add(self, kind, x, output_shape, parameters, **settings):
        if x.position != len(self.layers):
            raise ValueError("%s must take what the layer before it yields: models are stacks, without branches" % kind)
        name = "%s_%d" % (kind, 1 + sum(layer.kind == kind for layer in self.layers))
        named = tuple(Parameter("%s.%s" % (name, part), shape, fan_in, out) for part, shape, fan_in, out in parameters)
        self.layers.append(Layer(kind, name, settings, x.shape, tuple(output_shape), named))
        return Value(len(self.layers), tuple(output_shape))


def record(build):
    """Run a model's `build` and return its layers as a tuple."""
    net = Net()
    output = build(net)
    if not isinstance(output, Value) or output.position != len(net.layers):
        raise ValueError("a model's build(net) must return what its last layer yields")
    return tuple(net.layers)
