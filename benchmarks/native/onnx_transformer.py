"""The layers of transformers as nodes of ONNX, of elementary operators, as opset 13 has none for them.

Engines put their own kernels in the place of such patterns.
"""

import numpy
from onnx import helper

from benchmarks.vocabulary.transformer import rotary_angles

_HIDDEN = -1e4
"""The addend to the score of a step that may not be seen, whose share then is 0, also in few bits."""


class _Nodes:
    """The nodes of one layer with their stored tensors, whose names begin with that of the layer."""

    def __init__(self, given):
        self.made, self.held, self._given = [], [], given

    def stored(self, name, array):
        """Store a tensor and return its name."""
        self.held.append(("%s.%s" % (self._given.name, name), array))
        return self.held[-1][0]

    def node(self, kind, taken, name, **attributes):
        """Add a node that yields one value, and return the name of the value, which without a `name` is the layer's."""
        output = "%s.%s" % (self._given.name, name) if name else self._given.output
        self.made.append(helper.make_node(kind, taken, [output], name=output, **attributes))
        return output

    def number(self, name, value):
        """Store a number and return its name."""
        return self.stored(name, numpy.array(value, "float32"))

    def shape(self, name, *extents):
        """Store a shape and return its name. The first extent of a value is that of the batch."""
        return self.stored(name, numpy.array(extents, "int64"))


def _layer_norm(given):
    nodes = _Nodes(given)
    scale, shift = (nodes.stored(name, array) for name, array in zip(("scale", "shift"), given.tensors))
    mean = nodes.node("ReduceMean", given.taken, "mean", axes=[-1], keepdims=1)
    apart = nodes.node("Sub", [given.taken[0], mean], "apart")
    normal = nodes.node("Div", [apart, _root_of_mean_square(nodes, apart, given)], "normal")
    nodes.node("Add", [nodes.node("Mul", [normal, scale], "scaled"), shift], "")
    return nodes.made, nodes.held


def _rms_norm(given):
    nodes = _Nodes(given)
    scale = nodes.stored("scale", given.tensors[0])
    root = _root_of_mean_square(nodes, given.taken[0], given)
    nodes.node("Mul", [nodes.node("Div", [given.taken[0], root], "normal"), scale], "")
    return nodes.made, nodes.held


def _root_of_mean_square(nodes, value, given):
    squares = nodes.node("Pow", [value, nodes.number("two", 2.0)], "squares")
    mean = nodes.node("ReduceMean", [squares], "mean_square", axes=[-1], keepdims=1)
    epsilon = nodes.number("epsilon", given.layer.settings["epsilon"])
    return nodes.node("Sqrt", [nodes.node("Add", [mean, epsilon], "above_zero")], "root")


def _gelu(given):
    nodes = _Nodes(given)
    (value,) = given.taken
    share = nodes.node("Div", [value, nodes.number("root_of_two", 2**0.5)], "share")
    raised = nodes.node("Add", [nodes.node("Erf", [share], "erf"), nodes.number("one", 1.0)], "raised")
    nodes.node("Mul", [nodes.node("Mul", [value, raised], "double"), nodes.number("half", 0.5)], "")
    return nodes.made, nodes.held


def _silu(given):
    nodes = _Nodes(given)
    nodes.node("Mul", [given.taken[0], nodes.node("Sigmoid", given.taken, "share")], "")
    return nodes.made, nodes.held


def _multiply(given):
    nodes = _Nodes(given)
    nodes.node("Mul", given.taken, "")
    return nodes.made, nodes.held


def _positions(given):
    nodes = _Nodes(given)
    nodes.node("Add", given.taken + [nodes.stored("weight", given.tensors[0])], "")
    return nodes.made, nodes.held


def _first_step(given):
    nodes = _Nodes(given)
    nodes.node("Gather", given.taken + [nodes.stored("first", numpy.array(0, "int64"))], "", axis=1)
    return nodes.made, nodes.held


def _attention(given):
    nodes, layer, settings = _Nodes(given), given.layer, given.layer.settings
    time, features = layer.input_shape
    heads, shared, size = settings["heads"], settings["key_value_heads"], settings["size"]
    projected = _Projections(nodes, given)
    query = _turned(nodes, "query", projected.heads("query", given.taken[0], heads), layer)
    key = _turned(nodes, "key", projected.heads("key", given.taken[0], shared), layer)
    value = projected.heads("value", given.taken[0], shared)
    if shared != heads:
        key, value = (_repeated(nodes, name, each, layer) for name, each in (("key", key), ("value", value)))
    turned = nodes.node("Transpose", [key], "key.turned", perm=[0, 1, 3, 2])
    products = nodes.node("MatMul", [query, turned], "products")
    scores = nodes.node("Div", [products, nodes.number("root_of_size", size**0.5)], "scores")
    if settings["causal"]:
        hidden = numpy.triu(numpy.full((time, time), _HIDDEN, "float32"), 1)
        scores = nodes.node("Add", [scores, nodes.stored("hidden", hidden)], "seen")
    shares = nodes.node("Softmax", [scores], "shares", axis=-1)
    attended = nodes.node("MatMul", [shares, value], "attended")
    ordered = nodes.node("Transpose", [attended], "ordered", perm=[0, 2, 1, 3])
    joined = nodes.node("Reshape", [ordered, nodes.shape("joined.shape", -1, time, features)], "joined")
    projected.of("output", joined, "")
    return nodes.made, nodes.held


class _Projections:
    """The products of an attention with its four matrices."""

    def __init__(self, nodes, given):
        names = [parameter.name.rpartition(".")[2] for parameter in given.layer.parameters]
        self._nodes, self._tensors, self._layer = nodes, dict(zip(names, given.tensors)), given.layer

    def of(self, name, value, output):
        """Multiply a value by a matrix and add its bias, if it has one."""
        nodes, bias = self._nodes, self._tensors.get(name + "_bias")
        weight = nodes.stored(name, self._tensors[name])
        if bias is None:
            return nodes.node("MatMul", [value, weight], output)
        product = nodes.node("MatMul", [value, weight], name + ".product")
        return nodes.node("Add", [product, nodes.stored(name + "_bias", bias)], output)

    def heads(self, name, value, count):
        """Multiply a value and return it as (batch, heads, time, size)."""
        nodes, layer = self._nodes, self._layer
        projected = self.of(name, value, name + ".projected")
        shape = nodes.shape(name + ".shape", -1, layer.input_shape[0], count, layer.settings["size"])
        split = nodes.node("Reshape", [projected, shape], name + ".split")
        return nodes.node("Transpose", [split], name + ".heads", perm=[0, 2, 1, 3])


def _turned(nodes, name, value, layer):
    """Turn pairs of values by their position, as value * cosines + (-second, first) * sines."""
    if not layer.settings["rotary"]:
        return value
    time, size = layer.input_shape[0], layer.settings["size"]
    cosines, sines = (numpy.concatenate([each, each], axis=-1).astype("float32") for each in rotary_angles(time, size))
    halves = nodes.shape(name + ".halves", size // 2, size // 2)
    turning = nodes.stored(name + ".cosines", cosines)
    first, second = turning + ".first", turning + ".second"
    nodes.made.append(helper.make_node("Split", [value, halves], [first, second], name=first, axis=-1))
    crossed = nodes.node("Concat", [nodes.node("Neg", [second], name + ".negative"), first], name + ".crossed", axis=-1)
    kept = nodes.node("Mul", [value, turning], name + ".kept")
    moved = nodes.node("Mul", [crossed, nodes.stored(name + ".sines", sines)], name + ".moved")
    return nodes.node("Add", [kept, moved], name + ".rotated")


def _repeated(nodes, name, value, layer):
    """Let each head of queries have the keys or values that it shares, as a copy."""
    time, settings = layer.input_shape[0], layer.settings
    heads, shared, size = settings["heads"], settings["key_value_heads"], settings["size"]
    single = nodes.node("Unsqueeze", [value, nodes.shape(name + ".axes", 2)], name + ".single")
    copies = nodes.shape(name + ".copies", 1, 1, heads // shared, 1, 1)
    copied = nodes.node("Expand", [single, copies], name + ".copied")
    return nodes.node("Reshape", [copied, nodes.shape(name + ".all", -1, heads, time, size)], name + ".repeated")


LAYERS = {
    "attention": _attention,
    "first_step": _first_step,
    "gelu": _gelu,
    "layer_norm": _layer_norm,
    "multiply": _multiply,
    "positions": _positions,
    "rms_norm": _rms_norm,
    "silu": _silu,
}
