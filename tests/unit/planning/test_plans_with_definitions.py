"""Frameworks' own definitions of a model in a plan: whose cells run one, and what these are called."""

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.planning import Selection, checks, narrowed
from orchestrator.reporting.findings.shared_texts import labels
from orchestrator.user_files import ModelDefinition

IN_MXNET = ModelDefinition("lenet", "mxnet", "def start(workload): ...", "ab" * 32)
TEXT = "frameworks: [mxnet==1.9.1, torch==2.13.0]\nmodels: [lenet, mlp]\noptions: {mxnet: {hybridize: [true, false]}}"


@pytest.fixture
def with_definition(plan: Any) -> Any:
    """The planner, whose own model `lenet` has a definition for MXNet."""
    plan.models = {**plan.models, "lenet": replace(plan.models["lenet"], definitions=(IN_MXNET,))}
    return plan


def test_only_its_builders_cells_run_a_definition(with_definition: Any) -> None:
    """A framework's own definition is run by the cells of its builder and by no others."""
    found = with_definition(TEXT)

    assert {cell.id: cell.definition for cell in found.cells} == {
        "mxnet-1.9.1-cpu/lenet-train-b200-definition=own": IN_MXNET.sha256,
        "mxnet-1.9.1-cpu/lenet-train-b200-hybridize=false-definition=own": IN_MXNET.sha256,
        "mxnet-1.9.1-cpu/mlp-train-b32": "",
        "mxnet-1.9.1-cpu/mlp-train-b32-hybridize=false": "",
        "torch-2.13.0-cpu/lenet-train-b200": "",
        "torch-2.13.0-cpu/mlp-train-b32": "",
    }
    assert found.definitions == (IN_MXNET,)
    assert found.definition("lenet", IN_MXNET.sha256) is IN_MXNET
    assert found.definition("mlp", IN_MXNET.sha256) is found.definition("lenet", "") is None
    assert [check.definition for check in checks(found) if "lenet" in check.id] == [IN_MXNET.sha256] * 2 + [""]


def test_a_narrowed_plan_keeps_only_its_definitions(with_definition: Any) -> None:
    """A part of a plan has the definitions of that part and no others."""
    found = with_definition(TEXT)

    assert narrowed(found, Selection(("mxnet*lenet*",))).definitions == (IN_MXNET,)
    assert narrowed(found, Selection(("torch*",))).definitions == ()
    assert with_definition(TEXT, select=("*mlp*",)).definitions == ()


def test_labels_always_name_an_own_definition(with_definition: Any) -> None:
    """A label names a cell's own definition, even if no other setting distinguishes the cells."""
    found = with_definition(TEXT, select=("*lenet*",), exclude=("*hybridize*",))

    assert labels(found.cells) == ("mxnet 1.9.1 · own definition", "torch 2.13.0")
