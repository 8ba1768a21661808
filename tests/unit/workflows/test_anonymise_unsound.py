"""`anonymise` of files that are no sound networks: one line each, and nothing is written."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from orchestrator.api import this_host
from orchestrator.errors import InputError
from orchestrator.networks import counting
from orchestrator.workflows.networks import anonymise as workflow
from orchestrator.workflows.networks.anonymise import AnonymiseOptions, anonymise
from tests import exported

Spoiling = Callable[[onnx.ModelProto], None]


def _weight(model: onnx.ModelProto) -> TensorProto:
    return model.graph.initializer[0]


def too_few_values(model: onnx.ModelProto) -> None:
    _weight(model).raw_data = b"\0\0"


def too_many_values(model: onnx.ModelProto) -> None:
    _weight(model).raw_data += b"\0" * 400


def enormous(model: onnx.ModelProto) -> None:
    _weight(model).dims[:] = [2**40, 2**40, 3, 3]


def dangling(model: onnx.ModelProto) -> None:
    model.graph.node[0].input[1] = "nowhere"


def without_a_value(model: onnx.ModelProto) -> None:
    model.graph.node.insert(0, helper.make_node("Constant", [], ["nothing"]))


def without_an_output(model: onnx.ModelProto) -> None:
    model.graph.node.insert(0, onnx.NodeProto(op_type="Constant"))


def beyond_the_end(model: onnx.ModelProto) -> None:
    tensor = _weight(model)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "beside.data"), ("offset", "999999"), ("length", "864")):
        tensor.external_data.add(key=key, value=value)


def at_no_number(model: onnx.ModelProto) -> None:
    beyond_the_end(model)
    _weight(model).external_data[1].value = "abc"


def of_a_later_format(model: onnx.ModelProto) -> None:
    model.ir_version = 9999


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (too_few_values, "is no sound network: "),
        (too_many_values, "is no sound network: "),
        (enormous, "is no sound network: "),
        (dangling, "is no sound network: "),
        (without_a_value, "the constant 'nothing' has no value; export the network again"),
        (without_an_output, "is no sound network: "),
        (beyond_the_end, "is no sound network: "),
        (at_no_number, "is no sound network: "),
        (of_a_later_format, "is no sound network: "),
    ],
)
def test_an_unsound_file_is_one_line(tmp_path: Path, spoil: Spoiling, says: str) -> None:
    """It names the file, and no fault of this program."""
    model = exported.image_network()
    spoil(model)
    (tmp_path / "beside.data").write_bytes(b"\0" * 64)
    file = exported.saved(model, tmp_path / "ours.onnx")
    before = sorted(tmp_path.iterdir())

    with pytest.raises(InputError) as refused:
        anonymise(AnonymiseOptions(file=file, speed=False), this_host())

    (line,) = str(refused.value).splitlines()
    assert says in line
    assert "fault of this program" not in line
    assert sorted(tmp_path.iterdir()) == before


def test_an_axis_of_nothing_beside_a_named_batch_stays(tmp_path: Path) -> None:
    """Some exporters write 0 for a dynamic axis of an input, and a name for that of the output."""
    model = exported.image_network(0)
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    file = exported.saved(model, tmp_path / "ours.onnx")

    made = anonymise(AnonymiseOptions(file=file, speed=False), this_host())

    assert (made.shapes, made.values) == (5, 5)


def test_a_large_network_has_its_tensors_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No message of protobuf holds more than 2 GiB, so that nothing of such a network may be made one."""
    weight = onnx.numpy_helper.from_array(np.random.default_rng(0).normal(size=(32, 32)).astype("float32"), "weight")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 32]) for name in ("x", "y")]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "weight"], ["y"])], "large", ends[:1], ends[1:], [weight]
    )
    file = exported.saved(exported.model_of(graph), tmp_path / "ours.onnx", beside=True)
    monkeypatch.setattr(workflow, "MOST_BYTES", 100)
    # The checker refuses models of more than that, which it is given as values, and reads files of any size.
    monkeypatch.setattr(onnx.checker, "MAXIMUM_PROTOBUF", 100)

    made = anonymise(AnonymiseOptions(file=file, speed=False), this_host())

    assert {path.name for path in tmp_path.iterdir()} == {
        "ours.onnx", "ours.onnx.data", "ours-anonymous.onnx", "ours-anonymous.onnx.data",
    }  # fmt: skip
    again = onnx.load(str(made.file))
    assert [tuple(each.dims) for each in again.graph.initializer] == [
        tuple(each.dims) for each in onnx.load(str(file)).graph.initializer
    ]


def test_functions_are_inlined_before_tensors_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = exported.image_network()
    model.functions.append(
        helper.make_function(
            "acme", "Twice", ["x"], ["y"], [helper.make_node("Add", ["x", "x"], ["y"])], [helper.make_opsetid("", 13)]
        )
    )
    model.opset_import.append(helper.make_opsetid("acme", 1))
    model.graph.node[1].op_type, model.graph.node[1].domain = "Twice", "acme"
    file = exported.saved(model, tmp_path / "ours.onnx", beside=True)
    inlined, held = counting.inlined, []

    def counted(model: onnx.ModelProto) -> onnx.ModelProto:
        held.append(sum(len(each.raw_data) for each in model.graph.initializer))
        return inlined(model)

    monkeypatch.setattr(counting, "inlined", counted)

    made = anonymise(AnonymiseOptions(file=file, speed=False), this_host())

    assert "Add" in {node.op_type for node in onnx.load(str(made.file)).graph.node}
    assert held[:2] == [16, 16], "the shape of a reshape alone, which lies in the file itself"
