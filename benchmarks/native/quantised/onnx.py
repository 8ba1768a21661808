"""The quantised form of a model's ONNX file, by standard operators, so that all engines are given the same file.

Weights become 8-bit whole numbers. They use 7 of the bits, because a CPU without VNNI adds two products in 16 bits,
which would overflow. In a `dynamic` file `DynamicQuantizeLinear` quantises inputs in each step, and each tensor of
weights has one scale, as the first engines know no others there. In a `static` file each output channel has one, and
`QuantizeLinear` and `DequantizeLinear` stand around operators, for which engines put their kernels of whole numbers.
Its batch norms are folded into the weights before them, because they would have to stay in float32 otherwise.
"""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

LARGEST_WEIGHT = 63
_LEVELS = 255
_MULTIPLYING = {"Conv": 0, "Gemm": 1, "MatMul": 1}
"""Operators with weights, and the axis of the output channels in these."""
_PICKING = ("MaxPool", "Flatten", "Transpose", "Reshape")
"""Operators that yield values which they take, and so in the same scale."""
_MIXING = ("AveragePool", "GlobalAveragePool", "Concat", "Relu")
_MICROSOFT = "com.microsoft"
"""The domain of the one operator that is not ONNX's own: ONNX has no LSTM of whole numbers."""


class _Graph:
    """The nodes of a file and its stored tensors by name, which are changed in place and written again."""

    def __init__(self, content):
        self._model = onnx.load_model_from_string(content)
        graph = self._model.graph
        self.tensors = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
        self.nodes, self.outputs = list(graph.node), [each.name for each in graph.output]

    def takers(self, value):
        """Return the nodes that take a value."""
        return [node for node in self.nodes if value in node.input]

    def sole_taker(self, value):
        """Return the one node that takes a value, or None if there are others or it is an output."""
        found = self.takers(value)
        return found[0] if len(found) == 1 and value not in self.outputs else None

    def weighted(self):
        """Return the nodes that multiply by stored weights."""
        return [node for node in self.nodes if node.op_type in _MULTIPLYING and node.input[1] in self.tensors]

    def replace(self, before, after):
        """Let the takers of one value take another."""
        for node in self.takers(before):
            node.input[:] = [after if name == before else name for name in node.input]

    def content(self, outputs=None, domains=()):
        """Return the bytes of the file, without tensors that no node takes. It has other outputs if they are given."""
        graph = self._model.graph
        taken = {name for node in self.nodes for name in node.input}
        del graph.node[:]
        graph.node.extend(self.nodes)
        del graph.initializer[:]
        for name, array in self.tensors.items():
            if name in taken:
                graph.initializer.extend([numpy_helper.from_array(numpy.array(array, order="C"), name)])
        if outputs is not None:
            del graph.output[:]
            graph.output.extend([helper.make_tensor_value_info(name, TensorProto.FLOAT, []) for name in outputs])
        self._model.opset_import.extend([helper.make_opsetid(domain, 1) for domain in domains])
        return self._model.SerializeToString()


def folded(content):
    """Return a file without dropouts and without the batch norms that follow a convolution or a dense layer."""
    graph = _Graph(content)
    for node in list(graph.nodes):
        if node.op_type == "Identity" and node.output[0] not in graph.outputs:
            graph.nodes.remove(node)
            graph.replace(node.output[0], node.input[0])
    for node in graph.weighted():
        norm = graph.sole_taker(node.output[0])
        if norm is not None and norm.op_type == "BatchNormalization" and node.op_type != "MatMul":
            _fold(graph, node, norm)
    return graph.content()


def _fold(graph, node, norm):
    scale, shift, mean, variance = (graph.tensors[name].astype("float64") for name in norm.input[1:])
    epsilon = next(each.f for each in norm.attribute if each.name == "epsilon")
    factor = scale / numpy.sqrt(variance + epsilon)
    weight = graph.tensors[node.input[1]]
    before = graph.tensors[node.input[2]] if len(node.input) > 2 else 0.0
    names = [node.output[0] + ".folded." + name for name in ("weight", "bias")]
    along = _along(factor, weight.ndim, _MULTIPLYING[node.op_type])
    graph.tensors[names[0]] = (weight * along).astype("float32")
    graph.tensors[names[1]] = (shift + (before - mean) * factor).astype("float32")
    node.input[1:] = names
    node.output[0] = norm.output[0]
    graph.nodes.remove(norm)


def _along(values, dimensions, axis):
    """Shape one value for each channel so that they lie along an axis."""
    return values.reshape([-1 if position == axis else 1 for position in range(dimensions)])


def watched(content):
    """Return a folded file that yields the least and the largest of each value whose range is needed, with their names.

    The outputs are the least of the first, its largest, the least of the second, and so on.
    """
    graph = _Graph(content)
    values = [value for value, origin in _quantised_values(graph).items() if value == origin]
    outputs = []
    for value in values:
        for kind in ("ReduceMin", "ReduceMax"):
            outputs.append("%s.%s" % (value, kind))
            graph.nodes.append(helper.make_node(kind, [value], outputs[-1:], name=outputs[-1], keepdims=0))
    return graph.content(outputs), values


def _quantised_values(graph):
    """Return the values that are quantised in a static file, each with the value whose scale it has.

    They are what operators with weights and additions take and yield, and what is pooled, joined or reshaped of them.
    An activation belongs to the operator before it. The logits stay in float32.
    """
    weighted, values = graph.weighted(), {}
    for node in graph.nodes:
        given = [name for name in node.input if name not in graph.tensors]
        if node in weighted or (node.op_type == "Add" and len(given) > 1):
            values.update((name, values.get(name, name)) for name in given)
            end = _end(graph, node)
            values[end] = end
        elif node.op_type in _PICKING + _MIXING and all(name in values for name in given):
            end = node.output[0]
            values[end] = values.get(end, values[given[0]] if node.op_type in _PICKING else end)
    return {name: origin for name, origin in values.items() if name not in graph.outputs}


def _end(graph, node):
    """Return the value of an operator behind its bias and its ReLU."""
    value = node.output[0]
    after = graph.sole_taker(value)
    if after is not None and node.op_type == "MatMul" and after.op_type == "Add":
        value = after.output[0]
        after = graph.sole_taker(value)
    return after.output[0] if after is not None and after.op_type == "Relu" else value


def static(content, ranges):
    """Return the static form of a folded file, from the (least, largest) of values by name."""
    graph = _Graph(content)
    values = _quantised_values(graph)
    grids = {value: _grid(*ranges[origin]) for value, origin in values.items()}
    for node in graph.weighted():
        _quantise_weights(graph, node, grids[node.input[0]][0])
    for value, grid in grids.items():
        graph.tensors[value + ".scale"], graph.tensors[value + ".zero"] = grid
    graph.nodes = list(_with_grids(graph, values))
    return graph.content()


def _grid(least, largest):
    """Return the scale and the zero point of 8 bits that hold a range and zero.

    The scale has three digits. Engines differ in rounding, and so their ranges become the same numbers.
    """
    least, largest = min(0.0, float(least)), max(0.0, float(largest))
    scale = float("%.3g" % ((largest - least) / _LEVELS)) or 1.0
    return numpy.array(scale, "float32"), numpy.array(min(_LEVELS, int(round(-least / scale))), "uint8")


def _with_grids(graph, values):
    """Yield the nodes in order, with each value quantised where it is made, and restored for each that takes it."""
    made = {name for node in graph.nodes for name in node.output}
    for value in values:
        if value not in made:
            yield _quantising(value)
    for node in graph.nodes:
        for position, value in enumerate(node.input):
            if value in values:
                # One for each that takes it: engines look for operators whose inputs nothing else takes.
                own = "%s.for.%s" % (value, node.output[0])
                taken = [value + ".quantised", value + ".scale", value + ".zero"]
                yield helper.make_node("DequantizeLinear", taken, [own], name=own)
                node.input[position] = own
        yield node
        for value in node.output:
            if value in values:
                yield _quantising(value)


def _quantising(value):
    output = value + ".quantised"
    return helper.make_node("QuantizeLinear", [value, value + ".scale", value + ".zero"], [output], name=output)


def _quantise_weights(graph, node, input_scale):
    """Store the weights of a node in 8 bits, and its bias in the 32 bits of the sum that it is added to."""
    axis = _MULTIPLYING[node.op_type]
    whole, scales = _whole(graph.tensors[node.input[1]], axis)
    node.input[1] = _restored(graph, node, "weight", (whole, scales), axis)
    if len(node.input) > 2:
        bias_scales = (scales * input_scale).astype("float32")
        bias = numpy.rint(graph.tensors[node.input[2]].astype("float64") / bias_scales).astype("int32")
        node.input[2] = _restored(graph, node, "bias", (bias, bias_scales), 0)


def _restored(graph, node, what, stored, axis):
    """Store whole numbers with their scales, restore them by a node before the one that takes them, return its name."""
    whole, scales = stored
    name = "%s.%s" % (node.output[0], what)
    tensors = (whole, scales, numpy.zeros(len(scales), whole.dtype))
    names = [name + end for end in (".quantised", ".scale", ".zero")]
    graph.tensors.update(zip(names, tensors))
    restoring = helper.make_node("DequantizeLinear", names, [name + ".restored"], name=name + ".restored", axis=axis)
    graph.nodes.insert(graph.nodes.index(node), restoring)
    return name + ".restored"


def _whole(weight, axis=None):
    """Return weights as whole numbers of 8 bits, and the scale of each output channel, or one scale without an axis."""
    others = tuple(position for position in range(weight.ndim) if position != axis)
    largest = numpy.abs(weight).max(axis=others)
    scales = (numpy.where(largest > 0, largest, 1.0) / LARGEST_WEIGHT).astype("float32")
    along = scales if axis is None else _along(scales, weight.ndim, axis)
    return numpy.rint(weight / along).astype("int8"), scales


def dynamic(content):
    """Return the dynamic form of a file: its dense layers and LSTMs multiply whole numbers."""
    graph = _Graph(content)
    nodes, domains = [], []
    for node in graph.nodes:
        if node.op_type in ("Gemm", "MatMul") and node.input[1] in graph.tensors:
            nodes += _dynamic_product(graph, node)
        elif node.op_type == "LSTM":
            nodes.append(_dynamic_lstm(graph, node))
            domains = [_MICROSOFT]
        else:
            nodes.append(node)
    graph.nodes = nodes
    return graph.content(domains=domains)


def _dynamic_product(graph, node):
    output = node.output[0]
    graph.tensors[output + ".whole"], graph.tensors[output + ".weight.scale"] = _whole(graph.tensors[node.input[1]])
    named = {name: "%s.%s" % (output, name) for name in ("input", "scale", "zero", "sum", "real", "factor", "product")}
    product = named["product"] if len(node.input) > 2 else output

    def made(kind, taken, yielded, **attributes):
        return helper.make_node(kind, taken, yielded, name=yielded[0], **attributes)

    yielded = [named[name] for name in ("input", "scale", "zero")]
    yield made("DynamicQuantizeLinear", [node.input[0]], yielded)
    yield made("MatMulInteger", [named["input"], output + ".whole", named["zero"]], [named["sum"]])
    yield made("Cast", [named["sum"]], [named["real"]], to=TensorProto.FLOAT)
    yield made("Mul", [named["scale"], output + ".weight.scale"], [named["factor"]])
    yield made("Mul", [named["real"], named["factor"]], [product])
    if len(node.input) > 2:
        yield made("Add", [product, node.input[2]], [output])


def _dynamic_lstm(graph, node):
    """Quantise the weights of each direction with a scale of its own."""
    name = node.output[0]
    for part, taken in zip(("weight", "recurrent"), node.input[1:3]):
        directions = [_whole(weights.T) for weights in graph.tensors[taken]]
        whole, scales = (numpy.stack(each) for each in zip(*directions))
        stored = (whole, scales, numpy.zeros(len(scales), "int8"))
        graph.tensors.update(zip([name + "." + part + end for end in (".whole", ".scale", ".zero")], stored))
    weights = [name + "." + part for part in ("weight", "recurrent")]
    taken = [node.input[0]] + [each + ".whole" for each in weights] + [node.input[3]] + [""] * 4
    taken += [each + end for each in weights for end in (".scale", ".zero")]
    made = helper.make_node("DynamicQuantizeLSTM", taken, list(node.output), name=name, domain=_MICROSOFT)
    made.attribute.extend(node.attribute)
    return made
