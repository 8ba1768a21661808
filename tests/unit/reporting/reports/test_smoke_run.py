"""A smoke run in every format, and before every command that gives verdicts."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.modes.parts.settings import QUICK
from orchestrator.regression.history.read import measured_cells
from orchestrator.regression.rules import DEFAULT_GATES
from orchestrator.regression.stored_runs.comparison import compare_runs
from orchestrator.regression.stored_runs.operands import Operand
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import FORMATS, render
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.side_by_side.columns import side_by_side
from orchestrator.results.store import Run
from tests.unit.reporting import synthetic as s

MXNET, TORCH = s.cell(s.MXNET), s.cell(s.TORCH)
STORED = [*s.ok(MXNET, [100.0, 101.0, 102.0]), *s.ok(TORCH, [200.0, 201.0, 202.0])]
USUAL = s.plan([MXNET, TORCH])
SMOKE = replace(USUAL, profile=QUICK)


def report(plan: Plan, run: str = "20260102T030405Z-abcd") -> Report:
    return compose(s.record(plan, run), plan, STORED)


@pytest.mark.parametrize("name", [row.name for row in FORMATS if getattr(RUN, row.view)])
def test_every_format_says_smoke_run(name: str) -> None:
    assert "smoke run" in render(RUN, report(SMOKE), name).lower()
    assert "smoke run" not in render(RUN, report(USUAL), name).lower()


def test_json_has_the_profile_where_there_is_one() -> None:
    smoke, usual = (json.loads(render(RUN, report(plan), "json"))["data"] for plan in (SMOKE, USUAL))

    assert smoke["profile"] == {
        "name": "quick", "title": "smoke run", "warmup_steps": 1, "steps": 5, "blocks": 5, "latency_steps": 5,
        "repeats": 3, "ends_of_sizes": True,
    }  # fmt: skip
    assert "profile" not in usual


def test_the_headline_is_no_proof() -> None:
    assert report(SMOKE).headline.startswith("Smoke run, no proof: ")


def test_hosts_have_no_ratio_of_smoke_runs() -> None:
    beside = side_by_side([report(USUAL), report(SMOKE, "20260103T030405Z-abcd")])

    assert {(cell.note, cell.over_first) for group in beside.groups for cell in group.cells} == {
        ("measured in a smoke run", (None, None))
    }


def stored(folder: Path, plan: Plan) -> Run:
    run = Run(folder / "20260102T030405Z-abcd")
    run.write_record(s.record(plan))
    for each in STORED:
        assert each.result is not None
        place = run.repeat_folder(each.outcome.cell_id, each.outcome.repeat)
        place.mkdir(parents=True)
        (place / "result.json").write_text(each.result.model_dump_json(by_alias=True))
        run.write_outcome(each.outcome)
    return run


def test_a_comparison_refuses_it(tmp_path: Path) -> None:
    run = stored(tmp_path, SMOKE)

    with pytest.raises(InputError, match=f"{run.name} is a smoke run, whose figures prove nothing"):
        compare_runs(Operand("a", (run,)), Operand("b", (run,)), DEFAULT_GATES)


@pytest.mark.parametrize(("plan", "cells"), [(USUAL, 2), (SMOKE, 0)])
def test_a_history_leaves_it_out(tmp_path: Path, plan: Plan, cells: int) -> None:
    stored(tmp_path / "results", plan)

    assert len(measured_cells(tmp_path / "results", tmp_path / "cache")) == cells
