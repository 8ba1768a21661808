"""Sizes and axes of models: what a matrix asks for, what cells are called, and what is wrong."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator import matrix, planning, resources
from orchestrator.catalog import load, load_models
from orchestrator.devices import Allocation
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.modes.parts.load import Scenario
from orchestrator.planning.parity import checks
from orchestrator.running.parity.content import content_of
from orchestrator.running.requests import request_for

CATALOG = load(resources.IMAGES / "catalog")
MODELS = load_models(resources.BENCHMARKS / "models")
HEAD = "version: 1\nframeworks: [noop==1]\n"
STACK = '''"""A stack."""

TITLE = "A stack"
INPUT_SHAPE = (8,)
CLASSES = 3
BATCH_SIZE = 4
SAMPLES = 64
OPTIMIZER = {"name": "sgd", "learning_rate": 0.1}
SIZES = {"tiny": {"width": 4, "depth": 1}, "base": {"width": 16, "depth": 3}}


def build(net, width, depth):
    """As deep as the size."""
    x = net.input(*INPUT_SHAPE)
    for _ in range(depth):
        x = net.relu(net.dense(x, width))
    return net.dense(x, CLASSES)
'''


def planned(folder: Path, text: str) -> Plan:
    path = folder / "m.yaml"
    path.write_text(HEAD + text)
    return planning.plan(matrix.load(path, CATALOG, MODELS), CATALOG, MODELS)


def works(plan: Plan) -> list[str]:
    return [cell.id.rpartition("/")[2] for cell in plan.cells]


def test_first_size_is_the_default(tmp_path: Path) -> None:
    (cell,) = planned(tmp_path, "models: [encoder]").cells

    assert cell.id.endswith("/encoder-train-b8-size=tiny")
    assert dict(cell.workload.axes) == dict(MODELS["encoder"].sizes["tiny"])


def test_sizes_and_axes_are_crossed(tmp_path: Path) -> None:
    plan = planned(tmp_path, "models: [{name: encoder, size: [tiny, small], sequence: [128, 32]}]")

    names = ["size=tiny", "size=tiny-sequence=32", "size=small", "size=small-sequence=32"]
    assert works(plan) == [f"encoder-train-b8-{name}" for name in names]
    assert [dict(cell.workload.axes)["sequence"] for cell in plan.cells] == [128, 32, 128, 32]
    assert [dict(cell.workload.axes)["width"] for cell in plan.cells] == [128, 128, 512, 512]


def test_rules_name_sizes_and_axes(tmp_path: Path) -> None:
    rules = "exclude: [{model: encoder, size: small}, {sequence: 32}]"
    plan = planned(tmp_path, f"models: [{{name: encoder, size: [tiny, small], sequence: [128, 32]}}]\n{rules}")

    assert works(plan) == ["encoder-train-b8-size=tiny"]
    assert len(plan.skips) == 3


def test_include_adds_a_size(tmp_path: Path) -> None:
    include = "include: [{framework: noop==1, system: cpu, model: encoder, size: base, heads: 6}]"

    assert works(planned(tmp_path, f"models: [lenet]\n{include}")) == [
        "lenet-train-b200",
        "encoder-train-b8-size=base-heads=6",
    ]


def test_each_size_has_a_parity_check(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("version: 1\nframeworks: [torch==2.13.0]\nmodels: [{name: decoder, size: [tiny, small]}]\n")

    asked = checks(planning.plan(matrix.load(path, CATALOG, MODELS), CATALOG, MODELS))

    assert [dict(each.axes)["depth"] for each in asked] == [2, 8]
    assert len({each.id for each in asked}) == 2


@pytest.mark.parametrize(
    ("models", "mistake"),
    [
        ("{name: encoder, size: tinny}", "encoder has no size 'tinny'; did you mean 'tiny'?"),
        ("{name: encoder, heads: 5}", "encoder: attention divides 128 features evenly by its heads, not by 5"),
        ("{name: lenet, size: tiny}", "lenet has no sizes; drop this"),
        ("{name: lenet, sequence: 4}", "lenet has no sizes; drop this"),
        ("{name: encoder, shared_heads: 1}", "encoder has no axis 'shared_heads'"),
    ],
)
def test_wrong_sizes_are_refused_with_their_place(tmp_path: Path, models: str, mistake: str) -> None:
    with pytest.raises(InputError) as failure:
        planned(tmp_path, f"models: [{models}]")

    (line,) = str(failure.value).splitlines()
    assert line.startswith(str(tmp_path / "m.yaml:3:"))
    assert line.endswith(mistake)


def test_own_model_has_sizes(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "stack.py").write_text(STACK)

    plan = planned(tmp_path, "models_folder: mine\nmodels: [{name: stack, size: [tiny, base], width: [16]}]")

    assert works(plan) == ["stack-train-b4-size=tiny-width=16", "stack-train-b4-size=base"]


@pytest.mark.parametrize(
    ("before", "after", "mistake"),
    [
        ('"depth": 1}', '"deep": 1}', "SIZES: tiny: no axis 'deep'; there are width, depth, heads"),
        ('"depth": 1}', '"heads": 1}', "SIZES: base has other axes than the first size"),
        ('"depth": 1}', '"depth": 0}', "SIZES: tiny: depth must be a whole number from 1"),
        ('"tiny": {', '"Tiny": {', "SIZES: 'Tiny' should be lowercase letters"),
        ("build(net, width, depth)", "build(net, width)", "build takes the arguments net, width, depth"),
    ],
)
def test_wrong_sizes_of_a_file_are_refused(tmp_path: Path, before: str, after: str, mistake: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "stack.py").write_text(STACK.replace(before, after))

    with pytest.raises(InputError, match="not a model") as failure:
        planned(tmp_path, "models_folder: mine\nmodels: [stack]")

    assert mistake in str(failure.value)


def test_work_of_a_size_is_known(tmp_path: Path) -> None:
    counted: dict[str, Any] = {}
    for cell in planned(tmp_path, "models: [{name: encoder, size: [tiny, base]}]").cells:
        counted[cell.workload.size] = MODELS["encoder"].multiply_adds_of(dict(cell.workload.axes))

    assert counted == {"tiny": 58_737_024, "base": 11_174_217_984}


def test_matrix_of_today_plans() -> None:
    path = resources.ROOT / "matrix-today.yaml"
    plan = planning.plan(matrix.load(path, CATALOG, MODELS), CATALOG, MODELS)

    sized = [cell for cell in plan.cells if cell.workload.model != "lenet"]
    assert {(cell.workload.model, cell.workload.size) for cell in sized} == {("encoder", "tiny"), ("decoder", "tiny")}
    engines = {"onnxruntime", "openvino"}
    assert {cell.workload.mode for cell in sized if cell.framework.name in engines} == {"infer", "generate", "requests"}
    every = {cell.framework.name for cell in plan.cells}
    generating = {(cell.workload.model, cell.framework.name) for cell in plan.cells if cell.workload.generation}
    assert generating == {("decoder", name) for name in every}
    loads = {
        (cell.workload.model, cell.framework.name): cell.workload.load for cell in plan.cells if cell.workload.load
    }
    assert loads.keys() == {("encoder", name) for name in every}
    assert {(load.scenario, load.rate, load.latency_limit_s) for load in loads.values()} == {(Scenario.SERVER, 20, 0.1)}
    assert {skip.reason.partition(" (")[0] for skip in plan.skips} == {
        "engines infer alone",
        "the encoder shows a load",
        "encoder cannot generate: attention_1 sees what comes after a step",
    }


def test_matrix_of_today_has_8_bits_beside_float32() -> None:
    path = resources.ROOT / "matrix-today.yaml"
    plan = planning.plan(matrix.load(path, CATALOG, MODELS), CATALOG, MODELS)

    quantised = [
        (cell.framework.name, cell.workload.model, dict(cell.options).get("quantisation")) for cell in plan.cells
    ]
    assert {each for each in quantised if each[1] == "lenet"} == {
        (name, "lenet", kind) for name in ("torch", "onnxruntime") for kind in ("none", "static")
    }
    assert {kind for _, model, kind in quantised if model != "lenet"} <= {"none", None}


def test_requests_have_every_axis(tmp_path: Path) -> None:
    cell = planned(tmp_path, "models: [{name: decoder, sequence: 16}]").cells[0]

    request = request_for(cell, 0, "noop", 0, Allocation(cpus=(0,), gpus=()), pinned=True)

    assert request.axes == dict(MODELS["decoder"].sizes["tiny"]) | {"sequence": 16}


def test_answers_of_other_sizes_are_others(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("version: 1\nframeworks: [torch==2.13.0]\nmodels: [{name: decoder, sequence: [64, 16]}]\n")
    asked = checks(planning.plan(matrix.load(path, CATALOG, MODELS), CATALOG, MODELS))

    contents = {content_of(check, 0, [], (None, (), None)) for check in asked}

    assert len(contents) == len(asked) == 2
