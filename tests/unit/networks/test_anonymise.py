"""An anonymous network has the operators and shapes of the original, and nothing of what it has learned."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from orchestrator.networks import anonymise
from orchestrator.networks.drawing import replacement
from orchestrator.networks.refusals import Choices, refusals
from tests import exported

NOTHING = Choices()


def made_of(model: onnx.ModelProto, choices: Choices = NOTHING, seed: int = 0) -> anonymise.Anonymised:
    original = anonymise.prepared(model)
    assert refusals(original, choices) == ()
    made = anonymise.anonymised(original, choices, seed)
    assert anonymise.left(original, made) == ()
    onnx.checker.check_model(made.model, full_check=True)
    return made


def stored(model: onnx.ModelProto) -> list[Any]:
    return [numpy_helper.to_array(each) for each in model.graph.initializer]


def told(model: onnx.ModelProto) -> onnx.ModelProto:
    """The network with everything in it that tells of its house."""
    model.doc_string = "acme secret"
    model.metadata_props.add(key="acme", value="secret")
    model.graph.doc_string = "acme graph"
    model.graph.input[0].doc_string = "acme input"
    model.graph.initializer[0].doc_string = "acme tensor"
    for node in model.graph.node:
        node.name, node.doc_string = f"acme/{node.op_type}", "acme node"
    model.graph.value_info.append(helper.make_tensor_value_info("acme_value", TensorProto.FLOAT, ["acme_axis"]))
    return model


@pytest.mark.parametrize("network", [exported.image_network, exported.text_network])
def test_no_name_and_no_text_is_left(network: Any) -> None:
    model = told(network())

    made = made_of(model)

    written = made.model.SerializeToString()
    for text in ("acme", "secret", "stem", "head", "image", "scores", "words", "mask", "length", "table"):
        assert text.encode() not in written, text


@pytest.mark.parametrize("network", [exported.image_network, exported.text_network])
def test_it_computes_values_of_the_same_shapes(network: Any) -> None:
    model = network()
    made = made_of(model)
    fed = {
        "image": np.ones((2, 3, 16, 16), "f4"), "words": np.ones((2, 5), "i8"), "mask": np.ones((2, 5), "i8"),
    }  # fmt: skip
    fed = {name: fed[name] for name in made.inputs}

    before = ReferenceEvaluator(model).run(None, fed)
    after = ReferenceEvaluator(made.model).run(None, {made.inputs[name]: array for name, array in fed.items()})

    assert [each.shape for each in after] == [each.shape for each in before]
    for one, other in zip(before, after, strict=True):
        assert not np.allclose(one, other, rtol=0.1)
        assert np.isfinite(other).all()


def test_learned_tensors_are_of_the_same_scale_and_others_are_kept() -> None:
    model = exported.text_network()

    made = made_of(model)

    (table, kernel, last), (former, other, axis) = stored(made.model), stored(model)
    assert (table.shape, table.dtype) == (former.shape, former.dtype)
    assert abs(np.corrcoef(table.ravel(), former.ravel())[0, 1]) < 0.15
    assert table.std() == pytest.approx(former.std(), rel=0.15)
    assert not np.array_equal(kernel, other)
    assert np.array_equal(last, axis)
    assert [each.name for each in made.replaced] == ["table", "kernel"]
    assert [(each.name, each.why) for each in made.kept] == [("last", "a single number")]


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second, other = (
        made_of(exported.image_network(), seed=seed).model.SerializeToString() for seed in (0, 0, 1)
    )

    assert first == second != other


@pytest.mark.parametrize("kind", ["float32", "float16", "float64"])
def test_positive_tensors_stay_positive(kind: str) -> None:
    variance = np.random.default_rng(0).uniform(1e-4, 2, 1000).astype(kind)

    drawn = replacement(variance, 0)

    assert (drawn > 0).all()
    assert np.log(drawn.astype(float)).std() == pytest.approx(np.log(variance.astype(float)).std(), rel=0.1)


def test_no_number_leaves_the_range_of_the_tensor() -> None:
    """A variance with a heavy tail grows beyond float16 otherwise, layer by layer."""
    heavy = np.exp(3 * np.random.default_rng(0).standard_normal(1000)).astype("f4")

    drawn = replacement(heavy, 0)

    assert (heavy.min() <= drawn.min(), drawn.max() <= heavy.max()) == (True, True)
    assert np.isin(drawn, heavy).mean() < 0.01


def test_a_sparse_tensor_stays_sparse() -> None:
    sparse = np.random.default_rng(0).standard_normal(1000).astype("f4")
    sparse[np.random.default_rng(1).random(1000) < 0.9] = 0

    drawn = replacement(sparse, 0)

    assert (drawn == 0).mean() == pytest.approx(0.9, abs=0.05)
    assert not np.array_equal(drawn == 0, sparse == 0)


def test_infinite_values_are_left_out_of_account() -> None:
    values = np.random.default_rng(0).standard_normal(1000).astype("f4")
    values[:10] = -np.inf

    drawn = replacement(values, 0)

    assert np.isfinite(drawn).all()
    assert drawn.std() == pytest.approx(values[10:].std(), rel=0.1)


@pytest.mark.parametrize(("number", "kind"), [(0.0173, "f4"), (127, "int8"), (-128, "int8"), (3, "uint8")])
def test_a_single_learned_number_becomes_another(number: float, kind: str) -> None:
    drawn = replacement(np.full((2, 2), number, kind), 0)

    assert (drawn == drawn[0, 0]).all()
    assert drawn[0, 0] != np.asarray(number, kind)
    assert abs(float(drawn[0, 0]) - number) <= max(8, abs(number))


def _branch(name: str, seed: int) -> onnx.GraphProto:
    weight = np.random.default_rng(seed).standard_normal((16, 16)).astype("f4")
    return helper.make_graph(
        [helper.make_node("MatMul", ["image", "weight"], ["there"])],
        name,
        [],
        [helper.make_tensor_value_info("there", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weight, "weight")],
    )


def test_values_of_one_name_in_two_branches_are_told_apart() -> None:
    """Two tensors of one name would otherwise have one role, and one of them could be left."""
    chosen = helper.make_node("If", ["which"], ["y"], then_branch=_branch("a", 1), else_branch=_branch("b", 2))
    inputs = [
        helper.make_tensor_value_info("image", TensorProto.FLOAT, [16, 16]),
        helper.make_tensor_value_info("which", TensorProto.BOOL, []),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [16, 16])]
    model = exported.model_of(helper.make_graph([chosen], "two", inputs, outputs))

    made = made_of(model)

    assert [each.name for each in made.replaced] == ["weight", "weight'"]
    for which in (True, False):
        fed = {"image": np.eye(16, dtype="f4"), "which": np.array(which)}
        (before,) = ReferenceEvaluator(model).run(None, fed)
        (after,) = ReferenceEvaluator(made.model).run(None, {made.inputs[name]: each for name, each in fed.items()})
        assert after.shape == before.shape
        assert (before == after).mean() < 0.01


def test_whole_numbers_stay_in_their_range() -> None:
    weight = np.random.default_rng(0).integers(-100, 90, 1000).astype("int8")

    drawn = replacement(weight, 0)

    assert drawn.dtype == np.int8
    assert (weight.min() <= drawn.min(), drawn.max() <= weight.max()) == (True, True)
    assert (drawn == weight).mean() < 0.1


def test_equal_tensors_get_equal_numbers() -> None:
    values = np.random.default_rng(0).standard_normal((4, 4)).astype("f4")

    first, second = (replacement(values.copy(), 0) for _ in range(2))

    assert np.array_equal(first, second)
    assert not np.array_equal(first, values)


def _with_constant(name: str, value: Any) -> onnx.ModelProto:
    """A network that adds a constant to its scores."""
    model = exported.image_network()
    model.graph.node.insert(0, helper.make_node("Constant", [], ["shift"], **{name: value}))
    model.graph.node[-1].output[0] = "before"
    model.graph.node.append(helper.make_node("Add", ["before", "shift"], ["scores"]))
    return model


def test_constants_that_are_lists_are_replaced() -> None:
    made = made_of(_with_constant("value_floats", [0.1 * each for each in range(10)]))

    assert "shift" in {each.name for each in made.replaced}


def test_functions_are_put_in_place_of_their_calls() -> None:
    model = exported.image_network()
    opset = helper.make_opsetid("", exported.OPSET)
    model.functions.append(
        helper.make_function("com.acme", "Act", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], [opset])
    )
    model.opset_import.append(helper.make_opsetid("com.acme", 1))
    model.graph.node[1].op_type, model.graph.node[1].domain = "Act", "com.acme"

    made = made_of(model)

    assert [node.op_type for node in made.model.graph.node][1] == "Relu"
    assert b"acme" not in made.model.SerializeToString()


def _strange(model: onnx.ModelProto) -> onnx.ModelProto:
    model.graph.node[1].domain = "com.acme"
    return model


def _typed(model: onnx.ModelProto) -> onnx.ModelProto:
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, ["acme_axis"])
    model.graph.node[1].attribute.append(helper.make_attribute("type", kind))
    return model


def _texted(model: onnx.ModelProto) -> onnx.ModelProto:
    model.graph.node[1].attribute.append(helper.make_attribute("note", "secret"))
    return model


def _unknown(model: onnx.ModelProto) -> onnx.ModelProto:
    model.graph.node[1].op_type = "AcmeSecretGelu"
    return model


def _padded(text: str) -> onnx.ModelProto:
    model = exported.image_network()
    del model.graph.node[0].attribute[1]
    model.graph.node[0].attribute.append(helper.make_attribute("auto_pad", text))
    return model


def test_a_text_that_decides_what_is_computed_stays() -> None:
    made = made_of(_padded("SAME_UPPER"))

    assert made.model.graph.node[0].attribute[1].s == b"SAME_UPPER"


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (_unknown(exported.image_network()), "operator 'AcmeSecretGelu' is none of ONNX's in opset 13"),
        (_padded("ACME confidential"), "attribute 'auto_pad' of 'Conv' holds a text; export without it"),
        (_strange(exported.image_network()), "operator 'Relu' is one of 'com.acme', whose attributes are not known"),
        (_typed(exported.image_network()), "attribute 'type' of 'Relu' is none of ONNX's; export without it"),
        (_texted(exported.image_network()), "attribute 'note' of 'Relu' is none of ONNX's; export without it"),
        (_with_constant("value_string", "secret"), "attribute 'value_string' of 'Constant' holds a text"),
        (
            _with_constant("value", numpy_helper.from_array(np.array([0.3, 0.7] * 5, "f4"))),
            "tensor 'shift' may be learned or decide what is computed (input 1 of Add, with 2 different values)",
        ),
    ],
)
def test_what_is_not_known_is_refused(model: onnx.ModelProto, line: str) -> None:
    (said,) = refusals(anonymise.prepared(model), NOTHING)

    assert said.startswith(line)


def test_attributes_are_kept_and_counted() -> None:
    """A text, a list, a number that ONNX has by itself in no file, and a tensor that fills."""
    model = _padded("SAME_UPPER")
    filled = numpy_helper.from_array(np.array([0.5], "f4"))
    sizes = numpy_helper.from_array(np.array([2, 2]))
    model.graph.node.append(helper.make_node("Constant", [], ["sizes"], value=sizes))
    model.graph.node.append(helper.make_node("ConstantOfShape", ["sizes"], ["unused"], value=filled))
    model.graph.node.append(helper.make_node("LeakyRelu", ["active"], ["other"], alpha=0.3))
    model.graph.node.append(helper.make_node("LeakyRelu", ["stem"], ["third"], alpha=0.3))

    listed = {(f"{each.operator}.{each.name}", each.value, each.nodes) for each in made_of(model).attributes}

    assert listed == {
        ("Conv.auto_pad", "SAME_UPPER", 1),
        ("Conv.kernel_shape", "3, 3", 1),
        ("ConstantOfShape.value", "0.5", 1),
        ("LeakyRelu.alpha", "0.3", 2),
    }


@pytest.mark.parametrize(
    ("value", "choices", "line"),
    [
        (np.array(["cat"], object), {"replaced": {"shift"}}, "--replace shift: it holds strings, which no numbers"),
        (np.zeros(4, "f4"), {"replaced": {"shift"}}, "--replace shift: it holds nothing but zeros, which stay zeros"),
        (
            np.array([0.3, 0.7] * 5, "f4"),
            {"replaced": {"shift"}, "kept": {"shift"}},
            "--replace shift and --keep shift: leave one of them out",
        ),
    ],
)
def test_a_choice_that_cannot_be_carried_out_is_a_mistake(value: Any, choices: Any, line: str) -> None:
    model = anonymise.prepared(_with_constant("value", numpy_helper.from_array(value)))

    (said,) = refusals(model, Choices(**{name: frozenset(each) for name, each in choices.items()}))

    assert said.startswith(line)


@pytest.mark.parametrize("choices", [Choices(replaced=frozenset({"shift"})), Choices(kept=frozenset({"shift"}))])
def test_a_user_decides_what_cannot_be_told_apart(choices: Choices) -> None:
    values = np.array([0.3, 0.7] * 5, "f4")

    made = made_of(_with_constant("value", numpy_helper.from_array(values)), choices)

    now = numpy_helper.to_array(made.model.graph.node[0].attribute[0].t)
    assert np.array_equal(now, values) == bool(choices.kept)


def test_a_choice_of_no_tensor_is_a_mistake() -> None:
    model = anonymise.prepared(exported.image_network())

    assert refusals(model, Choices(kept=frozenset({"stm"}))) == ("--keep stm: the network stores no such tensor",)


def test_what_is_left_is_told() -> None:
    """A name or a tensor that was forgotten is found before anything is written."""
    original = anonymise.prepared(exported.image_network())
    made = anonymise.anonymised(original, NOTHING, 0)
    made.model.graph.node[1].doc_string = "stem.weight"
    made.model.graph.initializer[0].CopyFrom(original.graph.initializer[0])
    made.model.graph.initializer[0].name = made.renamed[0]

    assert anonymise.left(original, made) == (
        "the name 'stem.weight' is left",
        "the values of 'stem.weight' are left",
    )


@pytest.mark.parametrize("share", [0.55, 0.8, 0.97])
def test_mostly_one_value_is_equal_by_chance(share: float) -> None:
    """Scales of a norm may be mostly 1, and zero points mostly 128: by chance most of them are so again."""
    model = exported.image_network()
    values = np.random.default_rng(1).normal(1, 0.1, (8, 3, 3, 3)).astype("float32")
    values.ravel()[: int(share * values.size)] = 1.5
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(values, "stem.weight"))

    made = made_of(model)

    assert not np.array_equal(stored(made.model)[0], values)


def test_the_axis_that_is_called_batch_keeps_its_place() -> None:
    """Else a network with the steps first would have another batch than the original."""
    model = exported.text_network()
    for value in (*model.graph.input, *model.graph.output):
        for axis in value.type.tensor_type.shape.dim:
            axis.dim_param = {"n": "Batch", "length": "time"}.get(axis.dim_param, axis.dim_param)

    made = made_of(model)

    assert dict(made.axes) == {"Batch": "batch", "time": "axis_1"}
