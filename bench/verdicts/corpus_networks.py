"""Networks of `bench/corpus.yaml` as ONNX files, written anew for each measurement."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 14, 8


def write(name: str, folder: Path) -> None:
    """Write the network of that name as `NAME.onnx` into a folder."""
    model = helper.make_model(NETWORKS[name](), opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, folder / f"{name}.onnx")


def gru_step() -> onnx.GraphProto:
    """Return a GRU of 256 units that sees a single step of 256 features."""
    units, features = 256, 256
    draw = np.random.default_rng(0)
    held = {
        "weight": draw.normal(0, features**-0.5, (1, 3 * units, features)),
        "recurrent": draw.normal(0, units**-0.5, (1, 3 * units, units)),
        "bias": draw.normal(0, 0.1, (1, 6 * units)),
    }
    node = helper.make_node("GRU", ["steps", "weight", "recurrent", "bias"], ["", "state"], hidden_size=units)
    return helper.make_graph(
        [node],
        "gru_step",
        [helper.make_tensor_value_info("steps", TensorProto.FLOAT, [1, 1, features])],
        [helper.make_tensor_value_info("state", TensorProto.FLOAT, [1, 1, units])],
        [numpy_helper.from_array(array.astype("float32"), key) for key, array in held.items()],
    )


def resizes() -> onnx.GraphProto:
    """Return two resizes of an image, the second by cubic interpolation, and a rounding up of what they yield."""
    scales = [numpy_helper.from_array(np.array([1, 1, 2, 2], "f4"), name) for name in ("first", "second")]
    nodes = [
        helper.make_node("Resize", ["image", "", "first"], ["larger"], mode="linear"),
        helper.make_node("Resize", ["larger", "", "second"], ["largest"], mode="cubic"),
        helper.make_node("Ceil", ["largest"], ["whole"]),
    ]
    return helper.make_graph(
        nodes,
        "resizes",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 64, 64])],
        [helper.make_tensor_value_info("whole", TensorProto.FLOAT, [1, 3, 256, 256])],
        scales,
    )


NETWORKS: Mapping[str, Callable[[], onnx.GraphProto]] = {"gru_step": gru_step, "resizes": resizes}
