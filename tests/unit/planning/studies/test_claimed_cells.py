# ruff: noqa: E501 — each message stands on one line, as it is printed
"""The cells that claims name, found while a matrix is planned."""

import json
from dataclasses import replace

import pytest

from orchestrator import matrix, planning
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.modes.parts.settings import QUICK
from orchestrator.results.records import plan_from_json, plan_to_json
from tests.unit.planning.conftest import Planner

MATRIX = """\
frameworks: [mxnet==1.9.1, mxnet==0.1]
models: [lenet, {name: mlp, batch_size: [32, 64]}]
options: {mxnet: {hybridize: [true, false]}}
systems: {cpu: {}, one: {cpus: 1}}
exclude: [{model: mlp, batch_size: 64, system: one}]
claims:
"""
CLAIM = """\
  - name: %s
    text: a claim
    metric: throughput
    both: {%s}
    of: {%s}
    over: {%s}
    published: {ratio: 2}
    source: table 1
"""
COMMON = "framework: mxnet==1.9.1, model: mlp, system: cpu, hybridize: true"


def _ids(plan: Plan) -> list[tuple[str, str]]:
    return [(claim.of, claim.over) for claim in plan.study.claims] if plan.study else []


def test_claims_get_the_ids_of_their_cells(plan: Planner) -> None:
    planned = plan(MATRIX + CLAIM % ("batch", COMMON, "batch_size: 64", "batch_size: 32"))

    assert _ids(planned) == [("mxnet-1.9.1-cpu/mlp-train-b64", "mxnet-1.9.1-cpu/mlp-train-b32")]


def test_a_claim_may_name_skipped_cells(plan: Planner) -> None:
    """A claim may name a cell that the plan leaves out."""
    common = "model: mlp, batch_size: 64, hybridize: true"
    excluded = CLAIM % ("excluded", f"framework: mxnet==1.9.1, {common}", "system: one", "system: cpu")
    unsupported = CLAIM % ("old", f"system: cpu, {common}", "framework: mxnet==0.1", "framework: mxnet==1.9.1")

    planned = plan(MATRIX + excluded + unsupported)

    skipped = {skip.cell_id for skip in planned.skips}
    assert [of in skipped for of, _ in _ids(planned)] == [True, True]


def test_a_selection_keeps_every_claim(plan: Planner) -> None:
    text = MATRIX + CLAIM % ("batch", COMMON, "batch_size: 64", "batch_size: 32")

    assert _ids(plan(text, select=("*lenet*",))) == _ids(plan(text))


def test_every_claim_without_one_cell_is_reported(plan: Planner) -> None:
    text = MATRIX
    text += CLAIM % ("several", "framework: mxnet==1.9.1, model: mlp, system: cpu", "batch_size: 64", "hybridize: true")
    text += CLAIM % ("none", COMMON, "batch_size: 65", "batch_size: 32")
    text += CLAIM % ("same", COMMON, "batch_size: 32", "batch_size: [32, 65]")

    lines = plan.refusal(text).split("\n")

    assert lines == [
        "m.yaml:7:5: claims: several: of: names 2 cells; add what distinguishes them: mxnet-1.9.1-cpu/mlp-train-b64 and mxnet-1.9.1-cpu/mlp-train-b64-hybridize=false",
        "m.yaml:7:5: claims: several: over: names 2 cells; add what distinguishes them: mxnet-1.9.1-cpu/mlp-train-b32 and mxnet-1.9.1-cpu/mlp-train-b64",
        "m.yaml:15:5: claims: none: of: names no cell of this matrix; by all but `batch_size` it would be mxnet-1.9.1-cpu/mlp-train-b32 and mxnet-1.9.1-cpu/mlp-train-b64",
        "m.yaml:23:5: claims: same: both of its cells are mxnet-1.9.1-cpu/mlp-train-b32",
    ]


def test_a_smoke_run_keeps_its_claims(plan: Planner) -> None:
    """A smoke run keeps the claims of the matrix, on the cells that it has itself."""
    plan.models["mlp"] = replace(plan.models["mlp"], quick={"batch_size": 4})
    plan.path.write_text("version: 1\n" + MATRIX + CLAIM % ("batch", COMMON, "batch_size: 64", "batch_size: 32"))
    loaded = matrix.load(plan.path, plan.known, plan.models)

    planned = planning.plan(loaded, plan.known, plan.models, profile=QUICK)

    assert _ids(planned) == [("mxnet-1.9.1-cpu/mlp-train-b4", "mxnet-1.9.1-cpu/mlp-train-b4")]


def test_a_stored_plan_keeps_its_claims(plan: Planner) -> None:
    planned = plan(MATRIX + CLAIM % ("batch", COMMON, "batch_size: 64", "batch_size: 32"))

    assert plan_from_json(json.loads(json.dumps(plan_to_json(planned)))) == planned


def test_a_plan_without_study_stores_no_study(plan: Planner) -> None:
    """A plan without a study is stored as it was before there were studies."""
    assert "study" not in plan_to_json(plan("models: [lenet]"))


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("of", "../x", "claim 'batch': `of` and `over` are not two ids of cells"),
        ("metric", "speed", "claim 'batch': 'speed' is no metric such as"),
        ("published", {"ratio": -1.0}, "claim 'batch': the published ratio is no positive number"),
        ("published", {"ratio": "x"}, "study.claims.0.published.ratio"),
    ],
)
def test_an_impossible_stored_claim_is_refused(plan: Planner, key: str, value: object, problem: str) -> None:
    """A stored claim such as no matrix gives is refused with the reason."""
    document = plan_to_json(plan(MATRIX + CLAIM % ("batch", COMMON, "batch_size: 64", "batch_size: 32")))
    document["study"]["claims"][0][key] = value

    with pytest.raises(InputError) as caught:
        plan_from_json(document)

    assert problem in str(caught.value)


def test_a_stored_link_is_one_of_the_web(plan: Planner) -> None:
    document = plan_to_json(plan(MATRIX + CLAIM % ("batch", COMMON, "batch_size: 64", "batch_size: 32")))
    document["study"]["link"] = "javascript:alert(1)"

    with pytest.raises(InputError, match="the link of the study does not begin with https:// or http://"):
        plan_from_json(document)
