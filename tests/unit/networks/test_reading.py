"""An ONNX file becomes a network, or every mistake in how it is named."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from orchestrator import limits
from orchestrator.networks.drawn_values import Drawn
from orchestrator.networks.reading import NetworkFeed, read
from orchestrator.user_files import Network, NetworkInput
from tests import exported

LENGTH = NetworkFeed({"length": 12}, {"mask": Drawn(value=1)})


def network(path: Path, asked: NetworkFeed | None = None) -> Network:
    found, mistakes = read(path, "ours", asked or NetworkFeed())
    assert mistakes == ()
    assert found is not None
    return found


def mistakes(path: Path, asked: NetworkFeed | None = None) -> list[str]:
    found, wrong = read(path, "ours", asked or NetworkFeed())
    assert found is None
    return [f"{'.'.join(each.keys)}: {each.text}" for each in wrong]


def test_a_network_has_shapes_sums_and_counts(tmp_path: Path) -> None:
    """Parameters are 3·3·3·8 + 8 + 8·10 + 10; multiply-adds 3·3·3·8·16·16 + 8·10."""
    path = exported.saved(exported.image_network(), tmp_path / "ours.onnx")

    found = network(path)

    content = path.read_bytes()
    (file,) = found.files
    assert (file.path, file.size_bytes, file.sha256) == (
        "ours.onnx",
        len(content),
        hashlib.sha256(content).hexdigest(),
    )
    assert found.sha256 == file.sha256
    assert found.inputs == (NetworkInput("image", "float32", (None, 3, 16, 16)),)
    assert (found.outputs, found.opset, found.batch, found.batch_size) == (("scores",), 13, "batch", None)
    assert found.parameters == 216 + 8 + 80 + 10
    assert found.multiply_adds == 216 * 16 * 16 + 80


def test_a_fixed_batch_is_the_first_axis(tmp_path: Path) -> None:
    found = network(exported.saved(exported.image_network(4), tmp_path / "ours.onnx"))

    assert (found.batch, found.batch_size, found.inputs[0].shape) == (None, 4, (4, 3, 16, 16))
    assert found.multiply_adds == 216 * 16 * 16 + 80, "of one sample"


def test_a_leading_axis_with_a_given_size_fixes_the_batch(tmp_path: Path) -> None:
    found = network(exported.saved(exported.image_network(), tmp_path / "ours.onnx"), NetworkFeed({"batch": 6}))

    assert (found.batch, found.batch_size, found.inputs[0].shape) == (None, 6, (6, 3, 16, 16))


def test_a_first_axis_without_a_name_is_the_batch(tmp_path: Path) -> None:
    found = network(exported.saved(exported.image_network(None), tmp_path / "ours.onnx"))

    assert (found.batch, found.inputs[0].shape) == ("batch", (None, 3, 16, 16))


def test_inputs_are_drawn_as_the_graph_and_the_entry_say(tmp_path: Path) -> None:
    """Words are rows of the table that they are looked up in; the length and the mask are given."""
    found = network(exported.saved(exported.text_network(), tmp_path / "ours.onnx"), LENGTH)

    assert found.inputs == (
        NetworkInput("words", "int64", (None, 12), below=100),
        NetworkInput("mask", "int64", (None, 12), value=1),
    )
    assert found.dimensions == (("length", 12),)
    assert found.multiply_adds == 12 * 8 * 8


def test_every_thing_that_is_not_said_is_a_mistake(tmp_path: Path) -> None:
    path = exported.saved(exported.text_network(), tmp_path / "ours.onnx")

    assert mistakes(path) == [
        "file: its input 'words' has a dynamic axis 'length' without a size",
        "file: its input 'mask' takes whole numbers, and nothing says which",
    ]


def test_what_the_network_lacks_is_a_mistake(tmp_path: Path) -> None:
    path = exported.saved(exported.image_network(), tmp_path / "ours.onnx")

    asked = NetworkFeed({"width": 3}, {"imag": Drawn(value=1), "image": Drawn(below=3)})

    assert mistakes(path, asked) == [
        "dimensions.width: the network has no dynamic axis 'width'; it has none besides the batch",
        "inputs.imag: the network has no input 'imag'; did you mean 'image'?",
        "inputs.image: 'image' takes real numbers; `below` is of whole ones",
    ]


@pytest.mark.parametrize("content", [b"", b"no network", b"\x08\x07"])
def test_what_is_no_network_is_one_mistake(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ours.onnx").write_bytes(content)

    (mistake,) = mistakes(tmp_path / "ours.onnx")

    assert mistake.startswith("file: 'ours.onnx' is no ONNX file")
    assert mistake.endswith("; export the network again")


def test_tensors_beside_the_file_belong_to_it(tmp_path: Path) -> None:
    path = exported.saved(exported.image_network(), tmp_path / "ours.onnx", beside=True)

    found = network(path)

    assert [file.path for file in found.files] == ["ours.onnx", "ours.onnx.data"]
    assert found.parameters == 216 + 8 + 80 + 10
    assert found.multiply_adds == 216 * 16 * 16 + 80
    listed = "".join(f"{file.sha256}  {file.path}\n" for file in found.files)
    assert found.sha256 == hashlib.sha256(listed.encode()).hexdigest()


def test_tensors_that_are_missing_or_elsewhere_are_mistakes(tmp_path: Path) -> None:
    path = exported.saved(exported.image_network(), tmp_path / "ours.onnx", beside=True)
    (tmp_path / "ours.onnx.data").unlink()
    named = "file: it has tensors in the file 'ours.onnx.data', which"

    assert mistakes(path) == [f"{named} is missing; put it beside the ONNX file"]

    path.write_bytes(path.read_bytes().replace(b"ours.onnx.data", b"../secret.data"))
    assert mistakes(path) == ["file: it has tensors in the file '../secret.data', which does not lie beside it"]


def test_a_text_input_cannot_be_drawn(tmp_path: Path) -> None:
    model = exported.image_network()
    model.graph.input.append(helper.make_tensor_value_info("name", TensorProto.STRING, ["batch"]))

    (mistake,) = mistakes(exported.saved(model, tmp_path / "ours.onnx"))

    assert mistake == (
        "file: its input 'name' is of the type STRING, which cannot be drawn; export it with tensors of numbers alone"
    )


def test_outputs_without_numbers_are_mistakes(tmp_path: Path) -> None:
    """Scikit-learn's exporter adds the probabilities as a sequence of maps, unless it is told not to."""
    model = exported.image_network()
    probabilities = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    model.graph.output.add(name="odds", type=helper.make_sequence_type_proto(probabilities))
    model.graph.output.append(helper.make_tensor_value_info("label", TensorProto.STRING, ["batch"]))

    first, second = mistakes(exported.saved(model, tmp_path / "ours.onnx"))

    assert first.startswith("file: its output 'odds' is of the type sequence_type, by which engines cannot be compared")
    assert first.endswith("(from scikit-learn with zipmap=False)")
    assert second.startswith("file: its output 'label' is of the type STRING")


def recurrent_network() -> onnx.ModelProto:
    """A product over inputs with the steps first, as recurrent networks have them."""
    shape = ["time", "batch", 4]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["steps", "weight"], ["states"])],
        "recurrent",
        [helper.make_tensor_value_info("steps", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, shape)],
        [onnx.numpy_helper.from_array(np.ones((4, 4), "float32"), "weight")],
    )
    return exported.model_of(graph)


def test_the_axis_called_batch_is_the_batch(tmp_path: Path) -> None:
    path = exported.saved(recurrent_network(), tmp_path / "ours.onnx")

    found = network(path, NetworkFeed({"time": 50}))
    fixed = network(path, NetworkFeed({"time": 50, "batch": 2}))

    assert mistakes(path) == ["file: its input 'steps' has a dynamic axis 'time' without a size"]
    assert (found.batch, found.batch_size, found.inputs[0].shape) == ("batch", None, (50, None, 4))
    assert (fixed.batch, fixed.batch_size, fixed.inputs[0].shape) == (None, 2, (50, 2, 4))
    assert found.multiply_adds == fixed.multiply_adds == 50 * 4 * 4, "of one sample"


@pytest.mark.parametrize(
    ("mask", "says"),
    [
        (Drawn(below=0), "'mask' takes int64; `below` is from 1 to 9223372036854775808, not 0"),
        (Drawn(value=0.5), "'mask' takes int64, whole numbers from -9223372036854775808 to 9223372036854775807"),
        (Drawn(value=float("nan")), "'mask' takes a number as `value`, not nan"),
    ],
)
def test_values_that_an_input_cannot_have_are_mistakes(tmp_path: Path, mask: Drawn, says: str) -> None:
    path = exported.saved(exported.text_network(), tmp_path / "ours.onnx")

    (mistake,) = mistakes(path, NetworkFeed({"length": 12}, {"mask": mask}))

    assert mistake.startswith(f"inputs.mask: {says}")


@pytest.mark.parametrize(
    ("kind", "drawn", "is_fine"),
    [
        (TensorProto.UINT8, Drawn(below=256), True),
        (TensorProto.UINT8, Drawn(below=257), False),
        (TensorProto.UINT8, Drawn(value=-1), False),
        (TensorProto.INT8, Drawn(value=-128), True),
        (TensorProto.BOOL, Drawn(value=1), True),
        (TensorProto.BOOL, Drawn(value=2), False),
        (TensorProto.FLOAT16, Drawn(value=0.5), True),
    ],
)
def test_values_fit_the_type_of_an_input(tmp_path: Path, kind: int, drawn: Drawn, is_fine: bool) -> None:
    model = exported.image_network()
    model.graph.input.append(helper.make_tensor_value_info("given", kind, ["batch"]))

    _, wrong = read(exported.saved(model, tmp_path / "ours.onnx"), "ours", NetworkFeed(inputs={"given": drawn}))

    assert (wrong == ()) == is_fine


def test_uncounted_operators_leave_multiply_adds_open(tmp_path: Path) -> None:
    shapes = {"x": [1, 3, 4, 4], "w": [6, 3, 3, 3], "offset": [1, 18, 2, 2]}
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    node = helper.make_node("DeformConv", list(shapes), ["y"], kernel_shape=[3, 3])
    graph = helper.make_graph([node], "one", values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])

    found = network(exported.saved(exported.model_of(graph, opset=19), tmp_path / "one.onnx"))

    assert found.multiply_adds is None


def test_contradicting_shapes_leave_multiply_adds_open(tmp_path: Path) -> None:
    """An engine may run it, or say what is wrong with it; it has no count of multiply-adds."""
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", [2, 3]), ("w", [5, 7]))
    ]
    node = helper.make_node("Einsum", ["x", "w"], ["y"], equation="ij,jk,kl->il")
    graph = helper.make_graph([node], "one", values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])

    assert network(exported.saved(exported.model_of(graph), tmp_path / "one.onnx")).multiply_adds is None


@pytest.mark.parametrize(
    ("node", "shapes", "expected"),
    [
        (helper.make_node("MatMul", ["x", "w"], ["y"]), {"x": [2, 5, 3], "w": [3, 7]}, 2 * 5 * 3 * 7),
        (helper.make_node("Gemm", ["x", "w"], ["y"], transA=1), {"x": [3, 2], "w": [3, 7]}, 2 * 3 * 7),
        (helper.make_node("Einsum", ["x", "w"], ["y"], equation="bij,jk->bik"), {"x": [2, 5, 3], "w": [3, 7]}, 210),
        (helper.make_node("ConvTranspose", ["x", "w"], ["y"]), {"x": [1, 3, 4, 4], "w": [3, 6, 2, 2]}, 48 * 24),
        (helper.make_node("Conv", ["x", "w"], ["y"], group=3), {"x": [1, 3, 4, 4], "w": [6, 1, 3, 3]}, 6 * 4 * 9),
        (
            helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=5),
            {"x": [4, 2, 3], "w": [1, 20, 3], "r": [1, 20, 5]},
            4 * 2 * (20 * 3 + 20 * 5),
        ),
    ],
)
def test_multiply_adds_of_operators(tmp_path: Path, node: object, shapes: dict[str, list[int]], expected: int) -> None:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    graph = helper.make_graph([node], "one", values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    path = exported.saved(exported.model_of(graph), tmp_path / "one.onnx")

    found = network(path)

    assert found.multiply_adds == expected // (found.batch_size or 1)


def test_an_operator_that_is_not_onnx_leaves_multiply_adds_open(tmp_path: Path) -> None:
    model = exported.image_network()
    model.graph.node[1].domain = "com.acme"

    found = network(exported.saved(model, tmp_path / "ours.onnx"))

    assert found.multiply_adds is None
    assert found.parameters == 216 + 8 + 80 + 10


def test_single_numbers_are_no_parameters(tmp_path: Path) -> None:
    model = exported.image_network()
    model.graph.initializer.append(helper.make_tensor("epsilon", TensorProto.FLOAT, [], [1e-5]))
    model.graph.initializer.append(helper.make_tensor("axes", TensorProto.INT64, [3], np.arange(3)))

    assert network(exported.saved(model, tmp_path / "ours.onnx")).parameters == 216 + 8 + 80 + 10


@pytest.mark.parametrize("size", [0, -1])
def test_a_size_of_nothing_is_a_dynamic_axis(tmp_path: Path, size: int) -> None:
    """Some exporters write 0 or -1 for an axis of any size."""
    found = network(exported.saved(exported.image_network(size), tmp_path / "ours.onnx"))

    assert (found.batch, found.batch_size) == ("batch", None)


def _in_a_circle(model: onnx.ModelProto) -> None:
    model.graph.node[0].input[0] = "active"


def _of_the_future(model: onnx.ModelProto) -> None:
    model.opset_import[0].version = 99


@pytest.mark.parametrize(("spoil", "says"), [(_in_a_circle, "in a circle"), (_of_the_future, "its opset 99 is")])
def test_an_unsound_network_is_one_mistake(tmp_path: Path, spoil: Callable[[onnx.ModelProto], None], says: str) -> None:
    model = exported.image_network()
    spoil(model)

    (line,) = mistakes(exported.saved(model, tmp_path / "ours.onnx"))

    assert says in line


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = exported.saved(exported.image_network(), tmp_path / "ours.onnx")
    monkeypatch.setattr(limits, "MAX_NETWORK_BYTES", 100)
    monkeypatch.setattr(onnx, "load", None)

    (line,) = mistakes(path)

    assert "larger than" in line


@pytest.mark.parametrize("axis", ["2*batch", "batch * 2"])
def test_a_multiple_of_the_batch_counts_once_a_sample(tmp_path: Path, axis: str) -> None:
    """Its one size is for the batch size that is measured, and multiply-adds are those of one sample."""
    dims = {"left": ["batch", 4], "right": [axis, 4]}
    graph = helper.make_graph(
        [helper.make_node("MatMul", [name, "weight"], [f"{name}_out"]) for name in dims],
        "two",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in dims.items()],
        [helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, shape) for name, shape in dims.items()],
        [onnx.numpy_helper.from_array(np.ones((4, 4), "float32"), "weight")],
    )

    found = network(
        exported.saved(exported.model_of(graph), tmp_path / "ours.onnx"), NetworkFeed(dimensions={axis: 16})
    )

    assert [each.shape for each in found.inputs] == [(None, 4), (16, 4)]
    assert (found.batch, found.batch_size) == ("batch", 8), "the one batch size that the size of the multiple allows"
    assert found.multiply_adds == 3 * 4 * 4


def test_a_multiple_of_the_batch_is_divided_evenly(tmp_path: Path) -> None:
    dims = {"left": ["batch", 4], "right": ["2*batch", 4], "third": ["3*batch", 4]}
    graph = helper.make_graph(
        [helper.make_node("Identity", [name], [f"{name}_out"]) for name in dims],
        "three",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in dims.items()],
        [helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, shape) for name, shape in dims.items()],
    )
    path = exported.saved(exported.model_of(graph), tmp_path / "ours.onnx")

    assert mistakes(path, NetworkFeed({"2*batch": 7, "3*batch": 9})) == ["dimensions.2*batch: 7 is no multiple of 2"]
    assert mistakes(path, NetworkFeed({"2*batch": 8, "3*batch": 9})) == [
        "dimensions: the sizes ask for batches of 3 and 4; let them agree on one"
    ]
