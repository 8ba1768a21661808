"""The efficiency of several GPUs, from cells of the same work on several and on one."""

import csv
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from orchestrator.domain import Cell, System
from orchestrator.modes.parts.settings import Scaling
from orchestrator.planning import Selection
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.findings.tables.efficiency import EFFICIENCY_HEADS, efficiency_rows
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.selected import selected
from tests.unit.reporting import synthetic as s

ONE = System("1_gpu", gpus=1)
STRONG = replace(s.LENET, scaling=Scaling.STRONG)


def report(*measured: tuple[Cell, Sequence[float]]) -> Report:
    plan = s.plan([cell for cell, _ in measured])
    stored = [item for cell, rates in measured for item in s.ok(cell, list(rates))]
    return compose(s.record(plan), plan, stored)


def found(*measured: tuple[Cell, Sequence[float]]) -> list[tuple[str, str, float, float]]:
    """Cell, what it is compared with, speed-up and efficiency."""
    return [
        (each.cell_id, each.one_gpu_cell_id, pytest.approx(each.speed_up, 0.02), pytest.approx(each.value, 0.02))
        for group in report(*measured).groups
        for each in group.efficiencies
    ]


ALONE, FOUR = s.cell(s.TORCH, system=ONE), s.cell(s.TORCH, system=s.GPU)
DIVIDED = s.cell(s.TORCH, STRONG, system=s.GPU)
RATES = (100.0, 101.0, 102.0)


def test_efficiency_is_speed_up_by_device() -> None:
    """Four GPUs that train three times as fast as one have an efficiency of 0.75, whichever way they share a batch."""
    rates = [3 * rate for rate in RATES]

    assert found((ALONE, RATES), (FOUR, rates), (DIVIDED, rates)) == [
        (FOUR.id, ALONE.id, 3.0, 0.75), (DIVIDED.id, ALONE.id, 3.0, 0.75),
    ]  # fmt: skip


def test_the_interval_is_that_of_the_ratio() -> None:
    content = report((ALONE, RATES), (FOUR, [390.0, 400.0, 410.0]))
    (each,) = content.groups[1].efficiencies

    assert each.low is not None
    assert each.high is not None
    assert each.low < each.value < each.high < 1.1


def test_gpus_in_turn_change_no_efficiency() -> None:
    """The cell on one GPU had the slow one more often. On GPUs of mean speed four train 3.6 times as fast."""
    slowness = {"GPU-0": 1.2, "GPU-1": 1 / 1.2}
    other = s.cell(s.MXNET, system=ONE)
    stored = [
        replace(each, outcome=replace(each.outcome, ran_on=gpu))
        for cell, turn in ((ALONE, (0, 0, 0, 1)), (other, (0, 1, 1, 0)))
        for each, gpu in zip(
            s.ok(cell, [100 / slowness[f"GPU-{number}"] for number in turn], spread=0.001),
            [f"GPU-{number}" for number in turn],
            strict=True,
        )
    ]
    plan = s.plan([ALONE, other, FOUR])
    content = compose(s.record(plan), plan, [*stored, *s.ok(FOUR, [360.0] * 4, spread=0.001)])
    (each,) = content.groups[1].efficiencies

    assert each.value == pytest.approx(0.9, rel=0.01)
    assert each.high is not None
    assert each.high < 0.93, "differences between GPUs widen no interval"


@pytest.mark.parametrize(
    "other",
    [
        s.cell(s.MXNET, system=ONE),
        s.cell(s.TORCH, s.MLP, system=ONE),
        s.cell(s.TORCH, system=s.CPU),
        s.cell(s.TORCH, system=replace(ONE, gpu="A100*")),
        s.cell(s.TORCH, system=ONE, options=(("compile", False),)),
        s.cell(s.TORCH, system=ONE, epochs=3),
    ],
    ids=["framework", "model", "cpu", "kind of gpu", "option", "duration"],
)
def test_other_work_is_no_baseline(other: Cell) -> None:
    assert found((other, RATES), (FOUR, RATES)) == []


def test_an_unmeasured_cell_has_no_efficiency() -> None:
    assert found((ALONE, ()), (FOUR, RATES)) == []


@pytest.mark.parametrize("name", ["md", "html"])
def test_a_report_shows_it_where_both_exist(name: str) -> None:
    both = report((ALONE, RATES), (FOUR, [400.0] * 3))
    (row,) = efficiency_rows(both.groups[1], both.by_id)

    assert row[:4] == ("torch 2.13.0", "4", "weak", ALONE.id)
    assert EFFICIENCY_HEADS[5] in render(RUN, both, name)
    assert EFFICIENCY_HEADS[5] not in render(RUN, report((FOUR, RATES)), name)


def test_programs_get_it_where_both_exist() -> None:
    """JSON has every pair, CSV the first on the row of each repeat; without a pair neither has a key of it."""
    both, alone = report((ALONE, RATES), (FOUR, [400.0] * 3)), report((FOUR, RATES))
    (pair,) = json.loads(render(RUN, both, "json"))["data"]["groups"][1]["efficiencies"]
    rows = [row for row in csv.DictReader(render(RUN, both, "csv").splitlines()) if row["cell_efficiency"]]

    assert (pair["cell_id"], pair["one_gpu_cell_id"]) == (FOUR.id, ALONE.id)
    assert pair["value"] == pytest.approx(pair["speed_up"] / 4)
    assert [row["cell"] for row in rows] == [FOUR.id] * 3
    assert float(rows[0]["cell_efficiency"]) == pytest.approx(pair["value"])
    assert rows[0]["cell_one_gpu"] == ALONE.id
    assert all("efficienc" not in render(RUN, alone, name) for name in ("json", "csv"))


def test_a_selected_cell_keeps_its_efficiency() -> None:
    """It was found over all cells, and the one on one GPU need not be shown."""
    both = report((ALONE, RATES), (FOUR, [400.0] * 3), (DIVIDED, [400.0] * 3))

    (group,) = selected(both, Selection((FOUR.id,))).groups

    assert [each.cell_id for each in group.efficiencies] == [FOUR.id]
