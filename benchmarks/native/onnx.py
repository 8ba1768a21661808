"""The file of a recorded model in ONNX, as inference computes it: one operator for a layer where ONNX has one.

The opset is that of the oldest engine, so that all engines are given the same file. It has a fixed batch, as an engine
plans its memory by the shapes that it knows.
"""

import re
from collections import namedtuple

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.native.transformers import onnx as onnx_transformer

OPSET, IR_VERSION = 13, 7
"""Those of ONNX 1.8, which ONNX Runtime 1.7 and OpenVINO 2022.1 read."""
OUTPUT = "logits"
_KINDS = {"float": TensorProto.FLOAT, "integer": TensorProto.INT64}

Given = namedtuple("Given", "layer name taken output tensors")
Given.__doc__ = """The parts that the nodes of a layer are made of.

    It has the layer, the name of its nodes, the names of the values that it takes and yields, and its weights in the
    order of its parameters."""


def file(layers, inputs, weights, batch_size, yielded=False):
    """Return the bytes of a model with its weights, given as canonical arrays by parameter name.

    Its inputs have their own names, and its output is `logits`. With `yielded` every layer yields an output, by its
    name, and the last one the logits too.
    """
    named, nodes, tensors, shapes = _names(layers, inputs), [], [], {}
    for number, layer in enumerate(layers, 1):
        taken = [named[position] for position in layer.inputs]
        given = Given(layer, layer.name, taken, named[number], [weights[each.name] for each in layer.parameters])
        made, held = LAYERS[layer.kind](given)
        nodes += made
        tensors += [numpy_helper.from_array(numpy.array(array, order="C"), name) for name, array in held]
        shapes[named[number]] = layer.output_shape
    outputs = list(shapes) if yielded else [OUTPUT]
    made = helper.make_graph(
        nodes,
        "model",
        [_value(each.name, _KINDS[each.kind], (batch_size,) + each.shape) for each in inputs],
        [_value(name, TensorProto.FLOAT, (batch_size,) + shapes[name]) for name in outputs],
        tensors,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="benchmarks")
    model.ir_version = IR_VERSION
    return model.SerializeToString()


def _names(layers, inputs):
    names = {-number: each.name for number, each in enumerate(inputs)}
    names.update((number, layer.name) for number, layer in enumerate(layers, 1))
    names[len(layers)] = OUTPUT
    return names


def _value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, list(shape))


def _node(kind, taken, output, **attributes):
    return helper.make_node(kind, taken, [output], name=output, **attributes)


def _plain(kind, **attributes):
    """Return what makes one node without weights of a layer."""
    return lambda given: ([_node(kind, given.taken, given.output, **attributes)], [])


def _pads(settings):
    top, bottom, left, right = settings["pads"]
    return [top, left, bottom, right]


def _conv2d(given):
    settings = given.layer.settings
    held = [(given.name + ".weight", given.tensors[0].transpose(3, 2, 0, 1))]
    held += [(given.name + ".bias", array) for array in given.tensors[1:]]
    return [
        _convolution(given.taken, held, given.output, settings["kernel"], settings["stride"], _pads(settings))
    ], held


def _convolution(taken, held, output, kernel, stride, pads, group=1):  # noqa: PLR0913, PLR0917 - the settings of a node
    return _node(
        "Conv", taken + [name for name, _ in held], output, group=group,
        kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads,
    )  # fmt: skip


def _separable_conv2d(given):
    settings, channels, between = given.layer.settings, given.layer.input_shape[0], given.name + ".channels"
    first = [(given.name + ".depthwise", given.tensors[0].transpose(2, 3, 0, 1))]
    second = [(given.name + ".weight", given.tensors[1].transpose(3, 2, 0, 1))]
    second += [(given.name + ".bias", array) for array in given.tensors[2:]]
    kernel, stride = settings["kernel"], settings["stride"]
    nodes = [
        _convolution(given.taken, first, between, kernel, stride, _pads(settings), group=channels),
        _convolution([between], second, given.output, 1, 1, [0] * 4),
    ]
    return nodes, first + second


def _dense(given):
    if not given.layer.settings["bias"]:
        weight = (given.name + ".weight", given.tensors[0])
        return [_node("MatMul", given.taken + [weight[0]], given.output)], [weight]
    if len(given.layer.input_shape) == 2:
        return _dense_of_each_step(given)
    held = [(given.name + ".weight", given.tensors[0]), (given.name + ".bias", given.tensors[1])]
    return [_node("Gemm", given.taken + [name for name, _ in held], given.output)], held


def _dense_of_each_step(given):
    held = [(given.name + ".weight", given.tensors[0]), (given.name + ".bias", given.tensors[1])]
    product = given.name + ".product"
    return [
        _node("MatMul", given.taken + [held[0][0]], product),
        _node("Add", [product, held[1][0]], given.output),
    ], held


def _max_pool(given):
    settings = given.layer.settings
    size, stride = [settings["size"]] * 2, [settings["stride"]] * 2
    return _plain("MaxPool", kernel_shape=size, strides=stride, pads=_pads(settings))(given)


def _average_pool(given):
    size = [given.layer.settings["size"]] * 2
    return _plain("AveragePool", kernel_shape=size, strides=size)(given)


def _global_average_pool(given):
    pooled = given.name + ".pooled"
    return [_node("GlobalAveragePool", given.taken, pooled), _node("Flatten", [pooled], given.output)], []


def _batch_norm(given):
    """Normalise by the running values, which are those of the start, as in every framework."""
    channels = given.layer.input_shape[0]
    arrays = (given.tensors[0], given.tensors[1], numpy.zeros(channels, "float32"), numpy.ones(channels, "float32"))
    held = [(given.name + "." + name, array) for name, array in zip(("scale", "shift", "mean", "variance"), arrays)]
    taken = given.taken + [name for name, _ in held]
    return [_node("BatchNormalization", taken, given.output, epsilon=given.layer.settings["epsilon"])], held


def _concatenate(given):
    axis = 1 if given.layer.settings["image"] else len(given.layer.output_shape)
    return _plain("Concat", axis=axis)(given)


def _repeat(given):
    axes, shape = given.name + ".axes", given.name + ".shape"
    held = [
        (axes, numpy.array([1], "int64")),
        (shape, numpy.array((1,) + given.layer.output_shape, "int64")),
    ]
    step = given.name + ".step"
    return [_node("Unsqueeze", given.taken + [axes], step), _node("Expand", [step, shape], given.output)], held


def _embedding(given):
    weight = given.name + ".weight"
    return [_node("Gather", [weight] + given.taken, given.output)], [(weight, given.tensors[0])]


_GATES = {"lstm": ("ifgo", "iofg"), "gru": ("rzn", "zrn")}
"""Order of the gates in canonical weights, and in those of ONNX. Its names of them are others."""
_BACKWARD = "backward_"
"""The beginning of names of the weights of the second direction, which in ONNX lie in the tensors of the first."""
_QUANTISING = re.compile("QuantizeLinear|(MatMul|Conv)Integer|^Q(Linear|Attention|Gemm)|MatMulNBits")
"""Operators of networks that compute in whole numbers, of ONNX and of ONNX Runtime; not those that store them."""


def _lstm(given):
    if given.layer.settings["bidirectional"]:
        return _bidirectional_lstm(given)
    return _recurrent(given, "LSTM")


def _gru(given):
    return _recurrent(given, "GRU", linear_before_reset=int(given.layer.settings["reset_after"]))


def _recurrent(given, kind, **attributes):
    """Run over steps that come first, as ONNX has them, with gates in its order and a second bias of zeros."""
    units, sequences = given.layer.settings["units"], given.layer.settings["sequences"]
    held = _gates(given, *_GATES[given.layer.kind])
    steps, every, last = (given.name + end for end in (".steps", ".every", ".last"))
    nodes = [_node("Transpose", given.taken, steps, perm=[1, 0, 2])]
    taken = [steps] + [name for name, _ in held]
    nodes.append(helper.make_node(kind, taken, [every, last], name=every, hidden_size=units, **attributes))
    axis = (given.name + ".direction", numpy.array([1 if sequences else 0], "int64"))
    if not sequences:
        return nodes + [_node("Squeeze", [last, axis[0]], given.output)], held + [axis]
    one = given.name + ".one"
    nodes += [_node("Squeeze", [every, axis[0]], one), _node("Transpose", [one], given.output, perm=[1, 0, 2])]
    return nodes, held + [axis]


def _bidirectional_lstm(given):
    """Run both ways over steps that come first, and join what both yield."""
    units, sequences = given.layer.settings["units"], given.layer.settings["sequences"]
    held = _gates(given, *_GATES["lstm"])
    steps, every, last, ordered = (given.name + end for end in (".steps", ".every", ".last", ".ordered"))
    nodes = [_node("Transpose", given.taken, steps, perm=[1, 0, 2])]
    taken = [steps] + [name for name, _ in held]
    rule = {"hidden_size": units, "direction": "bidirectional"}
    nodes.append(helper.make_node("LSTM", taken, [every, last], name=every, **rule))
    # ONNX yields (time, direction, batch, units), and (direction, batch, units) of the last outputs.
    order = (every, [2, 0, 1, 3]) if sequences else (last, [1, 0, 2])
    nodes.append(_node("Transpose", [order[0]], ordered, perm=order[1]))
    shape = (given.name + ".shape", numpy.array((-1,) + given.layer.output_shape, "int64"))
    return nodes + [_node("Reshape", [ordered, shape[0]], given.output)], held + [shape]


def _gates(given, ours, theirs):
    """Return the weights of a recurrent layer in ONNX's layout, each with the name of its tensor.

    A tensor holds the weights of each direction.
    """
    held = []
    for number, name in enumerate(("weight", "recurrent", "bias")):
        directions = [_ordered(array, ours, theirs) for array in given.tensors[number::3]]
        if name == "bias":
            directions = [numpy.concatenate([bias, numpy.zeros_like(bias)]) for bias in directions]
        held.append((given.name + "." + name, numpy.stack([array.T for array in directions])))
    return held


def _ordered(array, before, after):
    """Put the gates along the last axis from one order into another."""
    parts = dict(zip(before, numpy.split(array, len(before), axis=-1)))
    return numpy.concatenate([parts[gate] for gate in after], axis=-1)


def _time_distributed(given):
    inner = given.layer.settings["layer"]
    if inner.kind == "dense":
        return _dense_of_each_step(given)
    channels, height, width = given.layer.input_shape
    rows, flat, last = (given.name + end for end in (".rows", ".sequences", ".outputs"))
    to_flat = (given.name + ".flat", numpy.array([-1, width, channels], "int64"))
    to_rows = (given.name + ".shape", numpy.array([-1, height, inner.settings["units"]], "int64"))
    own = given._replace(layer=inner, taken=[flat], output=last)
    nodes, held = LAYERS[inner.kind](own)
    before = [
        _node("Transpose", given.taken, rows, perm=[0, 2, 3, 1]),
        _node("Reshape", [rows, to_flat[0]], flat),
    ]
    return before + nodes + [_node("Reshape", [last, to_rows[0]], given.output)], held + [to_flat, to_rows]


LAYERS = {
    "conv2d": _conv2d,
    "separable_conv2d": _separable_conv2d,
    "dense": _dense,
    "max_pool": _max_pool,
    "average_pool": _average_pool,
    "global_average_pool": _global_average_pool,
    "batch_norm": _batch_norm,
    "add": _plain("Add"),
    "concatenate": _concatenate,
    "repeat": _repeat,
    "embedding": _embedding,
    "lstm": _lstm,
    "gru": _gru,
    "time_distributed": _time_distributed,
    "flatten": _plain("Flatten"),
    "relu": _plain("Relu"),
    "sigmoid": _plain("Sigmoid"),
    "tanh": _plain("Tanh"),
    "softmax": _plain("Softmax", axis=-1),
    "dropout": _plain("Identity"),
}
LAYERS.update(onnx_transformer.LAYERS)


def weights(content, layers):
    """Return the weights in the bytes of a model, as canonical arrays by parameter name."""
    held = {each.name: numpy_helper.to_array(each) for each in onnx.load_model_from_string(content).graph.initializer}
    read = {}
    for layer in layers:
        kind = layer.settings["layer"].kind if layer.kind == "time_distributed" else layer.kind
        for parameter in layer.parameters:
            owner, _, name = parameter.name.rpartition(".")
            direction = int(name.startswith(_BACKWARD))
            name = name[len(_BACKWARD) :] if direction else name
            turned = _canonical(kind, name, held[owner + "." + name], direction)
            read[parameter.name] = numpy.ascontiguousarray(turned)
    return read


def _canonical(kind, name, array, direction):
    if kind in _GATES:
        ours, theirs = _GATES[kind]
        array = array[direction]
        return _ordered(array[: len(array) // 2] if name == "bias" else array.T, theirs, ours)
    if array.ndim == 4:
        return array.transpose((2, 3, 0, 1) if name == "depthwise" else (2, 3, 1, 0))
    return array


def described(path):
    """Return the facts of a file: its opset, and in what it computes if that is less than float32."""
    model = onnx.load(path, load_external_data=False)
    reduced = _reduced(model.graph)
    return dict({"opset": _opset(model)}, **({"arithmetic": reduced} if reduced else {}))


def _reduced(graph):
    """Return `int8` for a graph that quantises values, `float16` or `bfloat16` for one that computes with such tensors.

    Weights that are stored so and cast before they are used are computed with in float32.
    """
    if any(_QUANTISING.search(node.op_type) for node in graph.node):
        return "int8"
    cast = {name for node in graph.node if node.op_type == "Cast" for name in node.input}
    kinds = {each.data_type for each in graph.initializer if each.name not in cast}
    kinds.update(each.type.tensor_type.elem_type for each in list(graph.input) + list(graph.output))
    kinds.update(each.i for node in graph.node if node.op_type == "Cast" for each in node.attribute)
    names = (("float16", onnx.TensorProto.FLOAT16), ("bfloat16", getattr(onnx.TensorProto, "BFLOAT16", None)))
    return next((name for name, kind in names if kind in kinds), None)


def opset_of(content):
    """Return the opset of the bytes of a model."""
    return _opset(onnx.load_model_from_string(content))


def _opset(model):
    return max([each.version for each in model.opset_import if each.domain in ("", "ai.onnx")], default=0)
