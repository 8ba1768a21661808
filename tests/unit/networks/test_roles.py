"""The role of a stored tensor follows from where it goes and, where that leaves it open, from its values."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from orchestrator.networks.roles import Role, roles
from tests import exported

DRAWN = np.random.default_rng(3).standard_normal((4, 4)).astype("float32")


def network(nodes: list[Any], held: dict[str, Any]) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()],
    )
    return exported.model_of(graph)


def role(node: Any, values: Any, *further: Any) -> Role:
    """The role of the tensor `w` at a node, which yields `y`, or `z` that further nodes make `y` of."""
    (found,) = [each for each in roles(network([node, *further], {"w": values})) if each.name == "w"]
    return found.role


@pytest.mark.parametrize(
    ("node", "values", "expected"),
    [
        (helper.make_node("MatMul", ["x", "w"], ["y"]), DRAWN, Role.LEARNED),
        (helper.make_node("Add", ["x", "w"], ["y"]), DRAWN, Role.LEARNED),
        (helper.make_node("Add", ["x", "w"], ["y"]), np.float32(1e-5), Role.DECIDING),
        (helper.make_node("Mul", ["x", "w"], ["y"]), np.ones((4, 4), "f4"), Role.DECIDING),
        (helper.make_node("Add", ["x", "w"], ["y"]), np.triu(np.full((4, 4), -np.inf, "f4"), 1), Role.DECIDING),
        (helper.make_node("Mul", ["x", "w"], ["y"]), np.tril(np.ones((4, 4), "f4")), Role.DECIDING),
        (helper.make_node("Add", ["x", "w"], ["y"]), np.triu(np.full((4, 4), -100, "f4"), 1), Role.DECIDING),
        (helper.make_node("Mul", ["x", "w"], ["y"]), np.where(DRAWN > 0, 0.3, 0.7).astype("f4"), Role.UNSURE),
        (helper.make_node("Mul", ["x", "w"], ["y"]), np.float32(64**-0.5), Role.DECIDING),
        (helper.make_node("Mul", ["x", "w"], ["y"]), np.float32(14.285736), Role.UNSURE),
        (helper.make_node("Add", ["x", "w"], ["y"]), np.full((4, 4), 0.83147, "f4"), Role.UNSURE),
        (helper.make_node("Mul", ["x", "w"], ["y"]), np.array(4321), Role.DECIDING),
        (helper.make_node("Clip", ["x", "w"], ["y"]), np.float32(0), Role.DECIDING),
        (helper.make_node("Clip", ["x", "w"], ["y"]), np.float32(0.83147), Role.DECIDING),
        (helper.make_node("Reshape", ["x", "w"], ["y"]), np.array([2, 8]), Role.DECIDING),
        (helper.make_node("Resize", ["x", "", "w"], ["y"]), np.array([1, 2], "f4"), Role.DECIDING),
        (helper.make_node("Gather", ["w", "x"], ["y"]), DRAWN, Role.LEARNED),
        (helper.make_node("Gather", ["w", "x"], ["y"]), np.arange(512), Role.DECIDING),
        (helper.make_node("Gather", ["w", "x"], ["y"]), np.random.default_rng(0).permutation(512), Role.UNSURE),
        (helper.make_node("GatherND", ["w", "x"], ["y"]), DRAWN, Role.LEARNED),
        (helper.make_node("QuantizeLinear", ["x", "w"], ["y"]), np.float32(0.0173), Role.LEARNED),
        (helper.make_node("PRelu", ["x", "w"], ["y"]), np.array([0.25], "f4"), Role.LEARNED),
        (helper.make_node("Conv", ["x", "x", "w"], ["y"]), np.full(4, 0.3, "f4"), Role.LEARNED),
        (helper.make_node("Conv", ["x", "x", "w"], ["y"]), np.zeros(4, "f4"), Role.DECIDING),
        (helper.make_node("Where", ["w", "x", "x"], ["y"]), np.tril(np.ones((8, 8), bool)), Role.DECIDING),
        (helper.make_node("Where", ["w", "x", "x"], ["y"]), DRAWN > 0, Role.DECIDING),
        (helper.make_node("Where", ["w", "x", "x"], ["y"]), np.tile(DRAWN > 0, (2, 1)), Role.UNSURE),
        (helper.make_node("Strange", ["x", "w"], ["y"]), DRAWN, Role.UNSURE),
        (helper.make_node("Gather", ["w", "x"], ["y"]), np.array(["cat", "dog"], object), Role.UNSURE),
    ],
)
def test_the_role_at_one_place(node: Any, values: Any, expected: Role) -> None:
    assert role(node, values) is expected


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        (np.arange(77), Role.DECIDING),
        (np.array([1, 0, 2]), Role.DECIDING),
        (np.random.default_rng(0).integers(0, 4, 77), Role.UNSURE),
    ],
)
def test_indices_into_a_stored_table_may_be_a_code(indices: Any, expected: Role) -> None:
    nodes = [helper.make_node("Gather", ["table", "w"], ["z"]), helper.make_node("MatMul", ["x", "z"], ["y"])]

    found = {each.name: each.role for each in roles(network(nodes, {"table": DRAWN, "w": indices}))}

    assert found == {"table": Role.LEARNED, "w": expected}


@pytest.mark.parametrize("between", ["Transpose", "Identity", "Cast", "Squeeze"])
def test_what_hands_values_on_is_looked_through(between: str) -> None:
    made = {"to": TensorProto.FLOAT} if between == "Cast" else {}
    node = helper.make_node(between, ["w"], ["z"], **made)

    assert role(node, DRAWN, helper.make_node("Conv", ["x", "z"], ["y"])) is Role.LEARNED


def test_quantised_weights_and_their_scales_are_learned() -> None:
    held = {"q": np.arange(-8, 8, dtype="int8").reshape(4, 4), "s": np.array([0.1, 0.2, 0.3, 0.4], "f4")}
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s"], ["w"], axis=1),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]

    found = {each.name: each.role for each in roles(network(nodes, held))}

    assert found == {"q": Role.LEARNED, "s": Role.LEARNED}


def test_long_chains_and_diamonds_are_followed() -> None:
    """Neither the depth of a chain nor the number of ways through it counts."""
    nodes = [helper.make_node("Concat", [f"v{n}", f"v{n}"], [f"v{n + 1}"], axis=0) for n in range(60)]
    nodes += [helper.make_node("Identity", [f"v{n}"], [f"v{n + 1}"]) for n in range(60, 2_000)]
    nodes.append(helper.make_node("MatMul", ["x", "v2000"], ["y"]))

    (found,) = roles(network(nodes, {"v0": DRAWN}))

    assert found.role is Role.LEARNED


def test_one_learned_place_is_enough() -> None:
    node = helper.make_node("MatMul", ["x", "w"], ["z"])

    assert role(node, DRAWN, helper.make_node("Pad", ["z", "w"], ["y"])) is Role.LEARNED


def test_constants_and_graphs_within_nodes_are_found() -> None:
    constant = helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(DRAWN))
    inner = helper.make_graph(
        [helper.make_node("MatMul", ["x", "inside"], ["there"])],
        "branch",
        [],
        [helper.make_tensor_value_info("there", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(DRAWN, "inside")],
    )
    chosen = helper.make_node("If", ["w"], ["y"], then_branch=inner, else_branch=inner)
    nodes = [constant, helper.make_node("Add", ["x", "c"], ["z"]), chosen]

    found = {each.name: each.role for each in roles(network(nodes, {"w": np.array(True)}))}

    assert found == {"w": Role.DECIDING, "c": Role.LEARNED, "inside": Role.LEARNED}
