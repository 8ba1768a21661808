"""The file of a decoder in ONNX that goes on from keys and values, of prompts and of single tokens alike.

It takes the next tokens (batch, steps), the position of the first of them, and the keys and values of all steps before.
It yields the most likely token after them, its logits, and the keys and values with those of these steps. These grow by
a `Concat`, as in decoders that are exported for engines, so that the number of steps is no fixed extent.
"""

import numpy
from onnx import TensorProto, helper, numpy_helper

from benchmarks.native import onnx
from benchmarks.native.transformers import onnx as onnx_transformer
from benchmarks.vocabulary.transformer import rotary_angles

TOKENS, POSITION, CHOSEN = "tokens", "position", "next"


def held(layers):
    """Return the names of the keys and values that go in, each with that under which it comes out, and its extents.

    The extents are the number of heads and their size.
    """
    attentions = [layer for layer in layers if layer.kind == "attention"]
    return [
        ("%s.past.%s" % (layer.name, name), "%s.present.%s" % (layer.name, name), _extents(layer))
        for layer in attentions
        for name in ("key", "value")
    ]


def file(layers, weights, batch_size):
    """Return the bytes of a model that can generate, with its weights, given as canonical arrays by parameter name."""
    nodes, tensors, named = [], [], {0: TOKENS}
    around = _Around(layers)
    nodes += around.made
    tensors += around.held
    for number, layer in enumerate(layers, 1):
        taken, named[number] = [named[position] for position in layer.inputs], layer.name
        own = [weights[each.name] for each in layer.parameters]
        made, stored = _nodes(onnx.Given(layer, layer.name, taken, named[number], own), around, number == len(layers))
        nodes += made
        tensors += stored
    chosen = helper.make_node("ArgMax", [onnx.OUTPUT], [CHOSEN], name=CHOSEN, axis=-1, keepdims=1)
    graph = helper.make_graph(
        nodes + [chosen],
        "decoder",
        [_integers(TOKENS, (batch_size, "steps")), _integers(POSITION, (1,))]
        + [_kept(past, batch_size, extents, "before") for past, _, extents in held(layers)],
        [_integers(CHOSEN, (batch_size, 1)), _floats(onnx.OUTPUT, (batch_size, layers[-1].output_shape[-1]))]
        + [_kept(present, batch_size, extents, "all") for _, present, extents in held(layers)],
        [numpy_helper.from_array(numpy.array(array, order="C"), name) for name, array in tensors],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", onnx.OPSET)], producer_name="benchmarks")
    model.ir_version = onnx.IR_VERSION
    return model.SerializeToString()


def _extents(layer):
    return layer.settings["key_value_heads"], layer.settings["size"]


def _integers(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.INT64, list(shape))


def _floats(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def _kept(name, batch_size, extents, steps):
    return _floats(name, (batch_size, extents[0], steps, extents[1]))


def _nodes(given, around, last):
    if given.layer.kind == "attention":
        return _attention(given, around)
    if given.layer.kind == "positions":
        return _positions(given, around)
    if not last:
        return onnx.LAYERS[given.layer.kind](given)
    # The score of a token is asked of the last step alone.
    step = given.name + ".last_step"
    taken = helper.make_node("Gather", given.taken + ["around.minus_one"], [step], name=step, axis=1)
    made, stored = onnx.LAYERS[given.layer.kind](given._replace(taken=[step], output=onnx.OUTPUT))
    return [taken] + made, stored


class _Around(onnx_transformer.Nodes):
    """The inputs that all layers share: the positions of the next steps, what each of them sees, and its angles."""

    def __init__(self, layers):
        super().__init__(onnx.Given(None, "around", [], "", []))
        self.stored("minus_one", numpy.array(-1, "int64"))
        steps = self.node("Gather", [self.node("Shape", [TOKENS], "shape"), self.shape("one", 1)], "steps", axis=0)
        self.begin, self.end = POSITION, self.node("Add", [POSITION, steps], "end")
        self.first = self.shape("first", 0)
        self.hidden = self._hidden()
        self._tables = {}
        for layer in layers:
            if layer.kind == "attention" and layer.settings["rotary"]:
                self._turns(layer)

    def turns(self, layer):
        """Return the names of the cosines and sines of the next steps."""
        return self._tables[_rotation(layer)]

    def _turns(self, layer):
        """Take those of the next steps from the tables of all positions, which layers of one shape share."""
        time, size = rotation = _rotation(layer)
        if rotation in self._tables:
            return
        names = []
        for name, table in zip(("cosines", "sines"), rotary_angles(time, size)):
            own = "%s.%d.%d" % (name, time, size)
            whole = self.stored(own, numpy.concatenate([table, table], axis=-1).astype("float32"))
            names.append(self.node("Slice", [whole, self.begin, self.end, self.first], own + ".next"))
        self._tables[rotation] = tuple(names)

    def _hidden(self):
        """Return the addend to the scores (steps, steps so far), which hides what comes after a step."""
        given = ((self.begin, "from"), (self.end, "to"))
        begin, end = (self.node("Squeeze", [each, self.first], name) for each, name in given)
        zero, one = self.stored("zero", numpy.array(0, "int64")), self.stored("unit", numpy.array(1, "int64"))
        queries = self.node("Range", [begin, end, one], "queries")
        column = self.node("Unsqueeze", [queries, self.shape("column", 1)], "queries.column")
        keys = self.node("Range", [zero, end, one], "keys")
        later = self.node("Greater", [keys, column], "later")
        addends = [self.number("hides", onnx_transformer.HIDDEN), self.number("shows", 0.0)]
        return self.node("Where", [later] + addends, "hidden")


def _rotation(layer):
    return layer.input_shape[0], layer.settings["size"]


def _positions(given, around):
    nodes = onnx_transformer.Nodes(given)
    weight = nodes.stored("weight", given.tensors[0])
    own = nodes.node("Slice", [weight, around.begin, around.end, around.first], "next")
    nodes.node("Add", given.taken + [own], "")
    return nodes.made, nodes.held


def _attention(given, around):
    nodes, layer, settings = onnx_transformer.Nodes(given), given.layer, given.layer.settings
    heads, shared, size = settings["heads"], settings["key_value_heads"], settings["size"]
    projected = onnx_transformer.Projections(nodes, given, steps=0)  # 0 stands for as many as there are
    query = projected.heads("query", given.taken[0], heads)
    key = projected.heads("key", given.taken[0], shared)
    value = projected.heads("value", given.taken[0], shared)
    if settings["rotary"]:
        tables = around.turns(layer)
        query, key = (onnx_transformer.turned(nodes, *each, size, tables) for each in (("query", query), ("key", key)))
    key, value = (
        nodes.node("Concat", ["%s.past.%s" % (layer.name, name), each], "present." + name, axis=2)
        for name, each in (("key", key), ("value", value))
    )
    if shared != heads:
        key, value = (
            onnx_transformer.repeated(nodes, *each, layer, steps=-1) for each in (("key", key), ("value", value))
        )
    onnx_transformer.attended(nodes, projected, (query, key, value), around.hidden, joined=(0, 0))
    return nodes.made, nodes.held
