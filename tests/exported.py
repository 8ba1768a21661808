"""Small exported networks, written with ONNX's own helpers and not by what writes models of the vocabulary."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 13, 7


def _values(*shape: int, seed: int = 0) -> Any:
    return (np.random.default_rng(seed).standard_normal(shape) * 0.1).astype("float32")


def model_of(graph: Any, opset: int = OPSET) -> onnx.ModelProto:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="acme exporter")
    model.ir_version = IR_VERSION
    return model


def image_network(batch: int | str | None = "batch") -> onnx.ModelProto:
    """A convolution, a pool and a dense layer over images of 3 × 16 × 16, with 10 scores."""
    nodes = [
        helper.make_node("Conv", ["image", "stem.weight", "stem.bias"], ["stem"], kernel_shape=[3, 3], pads=[1] * 4),
        helper.make_node("Relu", ["stem"], ["active"]),
        helper.make_node("GlobalAveragePool", ["active"], ["pooled"]),
        helper.make_node("Reshape", ["pooled", "flat"], ["features"]),
        helper.make_node("Gemm", ["features", "head.weight", "head.bias"], ["scores"]),
    ]
    held = {
        "stem.weight": _values(8, 3, 3, 3, seed=1),
        "stem.bias": _values(8, seed=2),
        "head.weight": _values(8, 10, seed=3),
        "head.bias": _values(10, seed=4),
        "flat": np.array([-1, 8]),
    }
    graph = helper.make_graph(
        nodes,
        "acme classifier",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, 3, 16, 16])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [batch, 10])],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    return model_of(graph)


def text_network() -> onnx.ModelProto:
    """Words with a mask of whole numbers, both of a dynamic length, and two outputs."""
    nodes = [
        helper.make_node("Gather", ["table", "words"], ["embedded"]),
        helper.make_node("MatMul", ["embedded", "kernel"], ["projected"]),
        helper.make_node("Cast", ["mask"], ["seen"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["seen", "last"], ["column"]),
        helper.make_node("Mul", ["projected", "column"], ["states"]),
        helper.make_node("ReduceMean", ["states"], ["pooled"], axes=[1], keepdims=0),
    ]
    held = {"table": _values(100, 8, seed=1), "kernel": _values(8, 8, seed=2), "last": np.array([2])}
    graph = helper.make_graph(
        nodes,
        "acme encoder",
        [
            helper.make_tensor_value_info("words", TensorProto.INT64, ["n", "length"]),
            helper.make_tensor_value_info("mask", TensorProto.INT64, ["n", "length"]),
        ],
        [
            helper.make_tensor_value_info("states", TensorProto.FLOAT, ["n", "length", 8]),
            helper.make_tensor_value_info("pooled", TensorProto.FLOAT, ["n", 8]),
        ],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    return model_of(graph)


def half_network() -> onnx.ModelProto:
    """A dense layer in float16."""
    return _product(TensorProto.FLOAT16, _values(16, 10).astype("float16"))


def quantised_network() -> onnx.ModelProto:
    """A dense layer over inputs that are quantised to 8 bits."""
    model = _product(TensorProto.FLOAT, _values(16, 10))
    model.graph.initializer.append(numpy_helper.from_array(np.array(0.02, "float32"), "scale"))
    model.graph.initializer.append(numpy_helper.from_array(np.array(128, "uint8"), "zero"))
    model.graph.node[0].input[0] = "rough"
    model.graph.node.insert(0, helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["whole"]))
    model.graph.node.insert(1, helper.make_node("DequantizeLinear", ["whole", "scale", "zero"], ["rough"]))
    return model


def boxes_network() -> onnx.ModelProto:
    """Boxes in large units beside scores, of which those below 0 are masked by −∞."""
    model = _product(TensorProto.FLOAT, _values(16, 10))
    numbers = {"unit": 1e6, "none": -np.inf, "zero": 0}
    held = [numpy_helper.from_array(np.array(each, "float32"), name) for name, each in numbers.items()]
    model.graph.initializer.extend(held)
    model.graph.node.extend(
        [
            helper.make_node("Mul", ["y", "unit"], ["boxes"]),
            helper.make_node("Less", ["y", "zero"], ["low"]),
            helper.make_node("Where", ["low", "none", "y"], ["scores"]),
        ]
    )
    del model.graph.output[:]
    model.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 10]) for name in ("boxes", "scores")
    )
    return model


def _product(kind: int, weight: Any) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "weight"], ["y"])],
        "acme product",
        [helper.make_tensor_value_info("x", kind, ["batch", weight.shape[0]])],
        [helper.make_tensor_value_info("y", kind, ["batch", weight.shape[1]])],
        [numpy_helper.from_array(weight, "weight")],
    )
    return model_of(graph)


def masked_words() -> onnx.ModelProto:
    """The same network with the names of the pages: an axis `sequence`, and an input `attention_mask`."""
    model = text_network()
    for node in model.graph.node:
        for place, name in enumerate(node.input):
            node.input[place] = "attention_mask" if name == "mask" else name
    for value in (*model.graph.input, *model.graph.output):
        value.name = "attention_mask" if value.name == "mask" else value.name
        for axis in value.type.tensor_type.shape.dim:
            axis.dim_param = "sequence" if axis.dim_param == "length" else axis.dim_param
    return model


def saved(model: onnx.ModelProto, path: Path, *, beside: bool = False) -> Path:
    """Save a network, with its tensors in a file `NAME.data` beside it if so asked."""
    if beside:
        onnx.save(model, path, save_as_external_data=True, location=f"{path.name}.data", size_threshold=64)
    else:
        onnx.save(model, path)
    return path
