"""The vocabulary that model files speak, and the conventions it fixes for every framework.

A model is `build(net)`: it takes `x = net.input(...)` through calls such as `net.conv2d(x, 6, 5)` and returns logits.
`Net` records the layers; `counting` counts them, and each module of `frameworks/` makes native layers from them.

Conventions, the same in every framework:

- Shapes leave the batch out; images are channels first (channels, height, width) whatever layout runs, and sequences
  are (time, features).
- `same` padding is TensorFlow's: as many outputs as strides fit the input, and an odd row or column of zeros goes to
  the bottom or right. It is recorded as explicit `pads` (top, bottom, left, right), which a convolution may also be
  given. A max pool takes what is padded for the least of all values; an average pool sees valid positions only.
- Convolution weights are canonically (height, width, in, out), dense weights (in, out), both followed by their bias.
- A separable convolution has one (height, width, in, 1) filter for each channel and then (1, 1, in, out) weights with
  the bias, and nothing between the two.
- Batch norm is per channel of an image, or per feature: epsilon 1e-3, the running values keep 0.9 of what they were at
  each step, scale and shift are learned. The running values belong to no weights: frameworks differ in them.
- An LSTM's gates are i, f, g, o side by side in weights (in, 4 units) and (units, 4 units), with sigmoid gates and ONE
  bias, whose forget part starts at 1; a framework that stores a second one keeps it at zero.
- A bidirectional LSTM is two LSTMs, of which the second one, with the weights `backward_weight` and so on, takes the
  steps from the last to the first. Each step yields the outputs of both, the forward one first. The last output joins
  the forward one at the last step and the backward one at the first step.
- A GRU's gates are r, z, n side by side in weights (in, 3 units) and (units, 3 units), with sigmoid gates and ONE bias,
  added to the product of the input; a framework that stores a second one keeps it at zero. r multiplies the recurrent
  product (`reset_after`, as cuDNN has it) or the state before it. The state is z * h + (1 - z) * n.
- `time_distributed` runs one layer, with the same weights, on each step of (time, features), or on each row of an image
  as a sequence of (width, channels). `repeat` makes each sample a sequence of equal steps.
- `dense` multiplies flat features, or those of each step of (time, features) by the same weights.
- `flatten` yields channel-first order; a framework that runs channels last permutes the rows of the next dense layer.
- `embedding` takes whole numbers, each the row of a matrix.
- Rows of a sparse input have the same number of entries, at columns of their own, and only `dense` takes them.
- The loss is the mean softmax cross-entropy of the logits, so no model ends in a softmax, or the mean squared error.
  `l2` adds l2 times the sum of a squared weight, without bias. The loss that a step reports holds it. A model that
  predicts the next token has logits of each step.
- `dropout` is active in training only, and scales by 1 / (1 - rate) there.

Those of transformers stand in `transformer`.
"""

from collections import namedtuple

from . import inputs
from .parameters import constant, drawn
from .transformer import TransformerLayers
from .windows import explicit, rate, windows

EPSILON = 1e-3
MOMENTUM = 0.9
"""Settings of batch norm, for the addend to the variance and the share of the old value that a step keeps."""

Layer = namedtuple("Layer", "kind name settings inputs input_shape output_shape parameters")
Layer.__doc__ = """One recorded call.

    It has settings by name, positions of the values it takes, shapes without the batch (of the first value it takes,
    and of what it yields), and parameters in canonical order."""

Value = namedtuple("Value", "position shape flattened")
Value.__doc__ = """The value that a layer yields.

    It has a position, a shape without the batch, and the shape of the image if its values lie in the order of a
    flattened one, else None. The first layer yields position 1, and inputs are 0, -1, -2 and so on."""


class Net(TransformerLayers):
    """A recorder of a model as a graph of layers, which checks shapes on the way."""

    def __init__(self):
        self.layers = []
        self.inputs = []
        self.input_shape = None

    def input(self, *shape, name="inputs", kind="float", vocabulary=None, density=None):
        """Begin the model with features, (time, features) or (channels, height, width).

        A model has an input for each name. Whole numbers of kind `integer` are below `vocabulary`. Rows of kind
        `sparse` have entries in the share `density` of their features.
        """
        declared = inputs.declared(name, shape, kind, vocabulary, density)
        names = [each.name for each in self.inputs]
        if name not in names:
            names.append(name)
            self.inputs.append(declared)
        elif self.inputs[names.index(name)] != declared:
            raise ValueError("the input %s is there already, with another shape or kind; give this one a name" % name)
        self.input_shape = self.inputs[0].shape
        return Value(-names.index(name), tuple(shape), None)

    def conv2d(self, x, filters, kernel, stride=1, padding="valid", bias=True, l2=0.0):  # noqa: PLR0913, PLR0917 - a layer's settings
        """Convolve with square kernels and add a bias or none.

        `padding` is `valid`, `same`, or the zeros at the (top, bottom, left, right).
        """
        shape, pads = windows("conv2d", x, kernel, stride, padding)
        channels, area = x.shape[0], kernel * kernel
        weight = drawn("weight", (kernel, kernel, channels, filters), channels * area, filters * area)
        settings = {"filters": filters, "kernel": kernel, "stride": stride, "pads": pads, "bias": bias, "l2": rate(l2)}
        settings.update(explicit(padding))
        return self._add(
            "conv2d", (x,), (filters,) + shape, [weight] + [constant("bias", filters, 0.0)] * bias, settings
        )

    def separable_conv2d(self, x, filters, kernel, stride=1, padding="valid", bias=True):  # noqa: PLR0913, PLR0917 - a layer's settings
        """Convolve each channel by a kernel of its own, then all channels at each position, and add a bias or none."""
        shape, pads = windows("separable_conv2d", x, kernel, stride, padding)
        channels, area = x.shape[0], kernel * kernel
        parameters = [
            drawn("depthwise", (kernel, kernel, channels, 1), area, area),
            drawn("weight", (1, 1, channels, filters), channels, filters),
        ] + [constant("bias", filters, 0.0)] * bias
        settings = {"filters": filters, "kernel": kernel, "stride": stride, "pads": pads, "bias": bias}
        settings.update(explicit(padding))
        return self._add("separable_conv2d", (x,), (filters,) + shape, parameters, settings)

    def dense(self, x, units, l2=0.0, bias=True):
        """Multiply features, or those of each step, by a matrix and add a bias or none."""
        if len(x.shape) not in (1, 2):
            raise ValueError("dense takes flat features, not the shape %s; flatten first" % (x.shape,))
        features = x.shape[-1]
        parameters = [drawn("weight", (features, units), features, units)] + [constant("bias", units, 0.0)] * bool(bias)
        settings = {"units": units, "flattened": x.flattened, "l2": rate(l2), "bias": bool(bias)}
        taken = self._input_at(x.position)
        if taken and taken.kind == "sparse":
            settings["entries"] = inputs.entries(taken)
        return self._add("dense", (x,), x.shape[:-1] + (units,), parameters, settings)

    def embedding(self, x, units):
        """Look up a row of a matrix for each whole number of an input."""
        known = self._input_at(x.position)
        if known is None or known.kind != "integer" or len(x.shape) != 1:
            raise ValueError(
                "embedding takes an input of whole numbers, as net.input(40, kind='integer', vocabulary=36)"
            )
        weight = drawn("weight", (known.vocabulary, units), known.vocabulary, units)
        return self._add(
            "embedding", (x,), x.shape + (units,), [weight], {"units": units, "vocabulary": known.vocabulary}
        )

    def max_pool(self, x, size, stride=None, padding="valid"):
        """Take the greatest of each square of `size`, `stride` (by default `size`) apart, `valid` or `same`."""
        if padding not in ("valid", "same"):
            raise ValueError("max_pool pads 'valid' or 'same', not %r" % (padding,))
        stride = size if stride is None else stride
        shape, pads = windows("max_pool", x, size, stride, padding)
        return self._add("max_pool", (x,), x.shape[:1] + shape, [], {"size": size, "stride": stride, "pads": pads})

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
        self._refuse_flattened("batch_norm", x)
        parameters = [constant("scale", x.shape[0], 1.0), constant("shift", x.shape[0], 0.0)]
        return self._add("batch_norm", (x,), x.shape, parameters, {"epsilon": EPSILON, "momentum": MOMENTUM})

    def add(self, a, b):
        """Add two values of one shape, such as a shortcut to what it passes by."""
        if a.shape != b.shape:
            raise ValueError("add takes two values of one shape, not %s and %s" % (a.shape, b.shape))
        self._refuse_flattened("add", a, b)
        return self._add("add", (a, b), a.shape, [], {})

    def concatenate(self, *values):
        """Join values along their channels or features, in their order."""
        if (
            len(values) < 2
            or len(
                {(len(value.shape), value.shape[:-1] if len(value.shape) == 2 else value.shape[1:]) for value in values}
            )
            > 1
        ):
            shapes = ", ".join(str(value.shape) for value in values)
            raise ValueError("concatenate takes values that differ in channels or features alone, not %s" % shapes)
        self._refuse_flattened("concatenate", *values)
        axis = 1 if len(values[0].shape) == 2 else 0
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        return self._add("concatenate", values, shape, [], {"image": len(shape) == 3})

    def repeat(self, x, times):
        """Make a sequence of so many equal steps of flat features."""
        if len(x.shape) != 1:
            raise ValueError("repeat takes flat features, not the shape %s" % (x.shape,))
        self._refuse_flattened("repeat", x)
        return self._add("repeat", (x,), (times,) + x.shape, [], {"times": times})

    def lstm(self, x, units, sequences=False, bidirectional=False):
        """Run an LSTM over (time, features), and yield its last output, or all of them if `sequences` is set.

        If it is `bidirectional`, another one runs backward, and each output joins those of both.
        """
        return self._recurrent("lstm", x, units, sequences, (0.0, 1.0, 0.0, 0.0), bidirectional=bool(bidirectional))

    def gru(self, x, units, sequences=False, reset_after=True):
        """Run a GRU over (time, features), and yield its last output, or all of them if `sequences` is set."""
        return self._recurrent("gru", x, units, sequences, (0.0, 0.0, 0.0), reset_after=bool(reset_after))

    def time_distributed(self, x, layer, units):
        """Run `dense` on each step of a sequence, or an `lstm` or `gru` on each row of an image."""
        shapes = {2: x.shape[1:], 3: (x.shape[-1], x.shape[0])}
        wanted = {2: ("dense",), 3: ("lstm", "gru")}.get(len(x.shape), ())
        if layer not in wanted:
            raise ValueError(
                "time_distributed runs 'dense' on (time, features), 'lstm' or 'gru' on rows of an image, not %r on %s"
                % (layer, x.shape)
            )
        each = Net()
        getattr(each, layer)(each.input(*shapes[len(x.shape)]), units)
        (inner,) = each.layers
        parameters = [parameter._replace(name=parameter.name.rpartition(".")[2]) for parameter in inner.parameters]
        shape = (x.shape[0] if len(x.shape) == 2 else x.shape[1], units)
        return self._add("time_distributed", (x,), shape, parameters, {"layer": inner})

    def flatten(self, x):
        """Lay the values of each sample in one row, channel by channel."""
        count = 1
        for extent in x.shape:
            count *= extent
        value = self._add("flatten", (x,), (count,), [], {})
        return value._replace(flattened=x.shape if len(x.shape) == 3 else x.flattened)

    def relu(self, x):
        """Replace values below zero by zero."""
        return self._alike("relu", x)

    def sigmoid(self, x):
        """Map each value to 1 / (1 + exp(-value))."""
        return self._alike("sigmoid", x)

    def tanh(self, x):
        """Map each value to its hyperbolic tangent."""
        return self._alike("tanh", x)

    def softmax(self, x):
        """Map the features of each sample, or of each step, to positive shares of one."""
        if len(x.shape) == 3:
            raise ValueError("softmax takes features, or (time, features), not the shape %s" % (x.shape,))
        return self._alike("softmax", x)

    def dropout(self, x, rate):
        """While training, drop this share of the values at random."""
        return self._alike("dropout", x, rate=rate)

    def _alike(self, kind, x, **settings):
        return self._add(kind, (x,), x.shape, [], settings)._replace(flattened=x.flattened)

    def _recurrent(self, kind, x, units, sequences, start, **settings):
        if len(x.shape) != 2:
            raise ValueError("%s takes (time, features), not the shape %s" % (kind, x.shape))
        (time, features), width = x.shape, len(start) * units
        directions = ("", "backward_") if settings.get("bidirectional") else ("",)
        parameters = []
        for direction in directions:
            parameters += [
                drawn(direction + "weight", (features, width), features, width),
                drawn(direction + "recurrent", (units, width), units, width),
                constant(direction + "bias", width, *start),
            ]
        outputs = len(directions) * units
        shape = (time, outputs) if sequences else (outputs,)
        return self._add(kind, (x,), shape, parameters, dict(settings, units=units, sequences=sequences))

    def _image(self, x, kind, size):
        if len(x.shape) != 3 or min(x.shape[1:]) < size:
            raise ValueError("%s of size %d cannot take the shape %s" % (kind, size, x.shape))
        return x.shape

    def _add(self, kind, taken, output_shape, parameters, settings):
        for value in taken:
            if value.position <= 0:
                inputs.refuse_other_layers(kind, self._input_at(value.position))
        name = "%s_%d" % (kind, 1 + sum(layer.kind == kind for layer in self.layers))
        named = tuple(parameter._replace(name="%s.%s" % (name, parameter.name)) for parameter in parameters)
        positions = tuple(value.position for value in taken)
        self.layers.append(Layer(kind, name, settings, positions, taken[0].shape, tuple(output_shape), named))
        return Value(len(self.layers), tuple(output_shape), None)

    def _input_at(self, position):
        return self.inputs[-position] if position <= 0 else None

    @staticmethod
    def _refuse_flattened(kind, *values):
        if any(value.flattened for value in values):
            message = "%s cannot follow flatten, which orders values by the layout that runs; put it before"
            raise ValueError(message % kind)


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
