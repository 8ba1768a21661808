"""The efficiency of several GPUs, from cells of the same work on several and on one."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from orchestrator.domain import Cell, System
from orchestrator.modes.parts.settings import Scaling
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.efficiency import EFFICIENCY_HEADS, efficiencies, efficiency_rows
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from tests.unit.reporting import synthetic as s

ONE = System("1_gpu", gpus=1)
STRONG = replace(s.LENET, scaling=Scaling.STRONG)


def report(*measured: tuple[Cell, Sequence[float]]) -> Report:
    plan = s.plan([cell for cell, _ in measured])
    stored = [item for cell, rates in measured for item in s.ok(cell, list(rates))]
    return compose(s.record(plan), plan, stored)


def found(*measured: tuple[Cell, Sequence[float]]) -> list[tuple[str, str, float, float]]:
    """Cell, what it is compared with, speed-up and efficiency."""
    content = report(*measured)
    return [
        (
            each.cell.cell.id,
            each.alone.cell.id,
            pytest.approx(each.speed_up, 0.02),
            pytest.approx(each.each.value, 0.02),
        )
        for group in content.groups
        for each in efficiencies(group, content.by_id)
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
    (each,) = efficiencies(content.groups[1], content.by_id)

    assert each.each.low is not None
    assert each.each.high is not None
    assert each.each.low < each.each.value < each.each.high < 1.1


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
