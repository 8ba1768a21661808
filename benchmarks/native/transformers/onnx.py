"""The layers of transformers as nodes of ONNX, of elementary operators, as opset 13 has none for them.

Engines know some of these patterns, and compute them by nodes of their own, which `facts.onnx.nodes` counts.
"""

import numpy
from onnx import helper

from benchmarks.vocabulary.transformer import rotary_angles

HIDDEN = -1e4
"""The addend to the score of a step that may not be seen, whose share then is 0, also in few bits."""


class Nodes:
    """The nodes of one layer with their stored tensors, whose names begin with that of the layer."""

    def __init__(self, given):
        self.made, self.held, self._given = [], [], given

    def named(self, name):
        """Return the name of something of the layer."""
        return "%s.%s" % (self._given.name, name)

    def stored(self, name, array):
        """Store a tensor and return its name."""
        self.held.append((self.named(name), array))
        return self.held[-1][0]

    def node(self, kind, taken, name, **attributes):
        """Add a node that yields one value, and return the name of the value, which without a `name` is the layer's."""
        output = self.named(name) if name else self._given.output
        self.made.append(helper.make_node(kind, taken, [output], name=output, **attributes))
        return output

    def number(self, name, value):
        """Store a number and return its name."""
        return self.stored(name, numpy.array(value, "float32"))

    def shape(self, name, *extents):
        """Store a shape and return its name. The first extent of a value is that of the batch."""
        return self.stored(name, numpy.array(extents, "int64"))


def _layer_norm(given):
    nodes = Nodes(given)
    scale, shift = (nodes.stored(name, array) for name, array in zip(("scale", "shift"), given.tensors))
    mean = nodes.node("ReduceMean", given.taken, "mean", axes=[-1], keepdims=1)
    apart = nodes.node("Sub", [given.taken[0], mean], "apart")
    normal = nodes.node("Div", [apart, _root_of_mean_square(nodes, apart, given)], "normal")
    nodes.node("Add", [nodes.node("Mul", [normal, scale], "scaled"), shift], "")
    return nodes.made, nodes.held


def _rms_norm(given):
    nodes = Nodes(given)
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
    nodes = Nodes(given)
    (value,) = given.taken
    share = nodes.node("Div", [value, nodes.number("root_of_two", 2**0.5)], "share")
    raised = nodes.node("Add", [nodes.node("Erf", [share], "erf"), nodes.number("one", 1.0)], "raised")
    nodes.node("Mul", [nodes.node("Mul", [value, raised], "double"), nodes.number("half", 0.5)], "")
    return nodes.made, nodes.held


def _silu(given):
    nodes = Nodes(given)
    nodes.node("Mul", [given.taken[0], nodes.node("Sigmoid", given.taken, "share")], "")
    return nodes.made, nodes.held


def _multiply(given):
    nodes = Nodes(given)
    nodes.node("Mul", given.taken, "")
    return nodes.made, nodes.held


def _positions(given):
    nodes = Nodes(given)
    nodes.node("Add", given.taken + [nodes.stored("weight", given.tensors[0])], "")
    return nodes.made, nodes.held


def _first_step(given):
    nodes = Nodes(given)
    nodes.node("Gather", given.taken + [nodes.stored("first", numpy.array(0, "int64"))], "", axis=1)
    return nodes.made, nodes.held


def _attention(given):
    nodes, layer, settings = Nodes(given), given.layer, given.layer.settings
    time, heads, shared = layer.input_shape[0], settings["heads"], settings["key_value_heads"]
    projected = Projections(nodes, given, time)
    query, key = projected.heads("query", given.taken[0], heads), projected.heads("key", given.taken[0], shared)
    value = projected.heads("value", given.taken[0], shared)
    if settings["rotary"]:
        query, key = (_at_every_step(nodes, *each, layer) for each in (("query", query), ("key", key)))
    if shared != heads:
        key, value = (repeated(nodes, name, each, layer, time) for name, each in (("key", key), ("value", value)))
    hidden = None
    if settings["causal"]:
        hidden = nodes.stored("hidden", numpy.triu(numpy.full((time, time), HIDDEN, "float32"), 1))
    attended(nodes, projected, (query, key, value), hidden, (-1, time))
    return nodes.made, nodes.held


def attended(nodes, projected, taken, hidden, joined):
    """Let queries see values by their keys, all (batch, heads, steps, size), and join the heads to what a layer yields.

    `hidden` names the addend to the scores of what may not be seen, and `joined` has the first two extents of the value
    that is joined.
    """
    (query, key, value), layer = taken, projected.layer
    across = nodes.node("Transpose", [key], "key.turned", perm=[0, 1, 3, 2])
    products = nodes.node("MatMul", [query, across], "products")
    scores = nodes.node("Div", [products, nodes.number("root_of_size", layer.settings["size"] ** 0.5)], "scores")
    if hidden is not None:
        scores = nodes.node("Add", [scores, hidden], "seen")
    shares = nodes.node("Softmax", [scores], "shares", axis=-1)
    seen = nodes.node("MatMul", [shares, value], "attended")
    ordered = nodes.node("Transpose", [seen], "ordered", perm=[0, 2, 1, 3])
    shape = nodes.shape("joined.shape", *joined, layer.input_shape[1])
    projected.of("output", nodes.node("Reshape", [ordered, shape], "joined"), "")


class Projections:
    """The products of an attention with its four matrices, of so many steps, or with 0 of as many as there are."""

    def __init__(self, nodes, given, steps):
        names = [parameter.name.rpartition(".")[2] for parameter in given.layer.parameters]
        self._nodes, self._tensors = nodes, dict(zip(names, given.tensors))
        self.layer, self._extents = given.layer, (-1, steps) if steps else (0, 0)

    def of(self, name, value, output):
        """Multiply a value by a matrix and add its bias, if it has one."""
        nodes, bias = self._nodes, self._tensors.get(name + "_bias")
        weight = nodes.stored(name, self._tensors[name])
        if bias is None:
            return nodes.node("MatMul", [value, weight], output)
        product = nodes.node("MatMul", [value, weight], name + ".product")
        return nodes.node("Add", [product, nodes.stored(name + "_bias", bias)], output)

    def heads(self, name, value, count):
        """Multiply a value and return it as (batch, heads, steps, size)."""
        nodes = self._nodes
        projected = self.of(name, value, name + ".projected")
        shape = nodes.shape(name + ".shape", *self._extents, count, self.layer.settings["size"])
        split = nodes.node("Reshape", [projected, shape], name + ".split")
        return nodes.node("Transpose", [split], name + ".heads", perm=[0, 2, 1, 3])


def _at_every_step(nodes, name, value, layer):
    """Turn a value whose steps are all of those that a layer has."""
    time, size = layer.input_shape[0], layer.settings["size"]
    tables = (numpy.concatenate([each, each], axis=-1).astype("float32") for each in rotary_angles(time, size))
    named = zip((name + ".cosines", name + ".sines"), tables)
    return turned(nodes, name, value, size, [nodes.stored(*each) for each in named])


def turned(nodes, name, value, size, tables):  # noqa: PLR0913 - a value with its size, and what it is turned by
    """Turn pairs of values by their position, as value * cosines + (-second, first) * sines."""
    cosines, sines = tables
    halves = nodes.shape(name + ".halves", size // 2, size // 2)
    first, second = (nodes.named("%s.%s" % (name, part)) for part in ("first", "second"))
    nodes.made.append(helper.make_node("Split", [value, halves], [first, second], name=first, axis=-1))
    crossed = nodes.node("Concat", [nodes.node("Neg", [second], name + ".negative"), first], name + ".crossed", axis=-1)
    kept = nodes.node("Mul", [value, cosines], name + ".kept")
    moved = nodes.node("Mul", [crossed, sines], name + ".moved")
    return nodes.node("Add", [kept, moved], name + ".rotated")


def repeated(nodes, name, value, layer, steps):
    """Let each head of queries have the keys or values that it shares, as a copy."""
    settings = layer.settings
    heads, shared, size = settings["heads"], settings["key_value_heads"], settings["size"]
    single = nodes.node("Unsqueeze", [value, nodes.shape(name + ".axes", 2)], name + ".single")
    copies = nodes.shape(name + ".copies", 1, 1, heads // shared, 1, 1)
    copied = nodes.node("Expand", [single, copies], name + ".copied")
    return nodes.node(
        "Reshape", [copied, nodes.shape(name + ".all", 0 if steps < 0 else -1, heads, steps, size)], name + ".repeated"
    )


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
