"""A table over every operator and size, beside each framework."""

from collections.abc import Callable
from dataclasses import replace

from orchestrator.analysis.parity.work import PairParity, WorkParity
from orchestrator.domain import Cell, Mode, Workload
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.findings.tables.sweeps import sweeps
from orchestrator.results.evidence import Stored
from tests.unit.reporting import synthetic as s

WORKS = [
    Workload(name, Mode("ops"), 1, axes=(("size", size), ("seeds", 20), ("tries", 5)))
    for name, size in (("gemm", 50), ("gemm", 550), ("relu", 500))
]
CELLS = [s.cell(framework, work, repeats=1) for work in WORKS for framework in (s.MXNET, s.TORCH)]
CALLS = {("gemm", 50): 1e4, ("gemm", 550): 100.0, ("relu", 500): 2e5}
"""Calls a second in MXNET; Torch is twice as fast."""


def stored(cell: Cell) -> Stored:
    """A repeat whose calls all take equally long."""
    axes = dict(cell.workload.axes)
    rate = CALLS[cell.workload.model, axes["size"]] * (2 if cell.framework is s.TORCH else 1)
    (one,) = s.ok(cell, [rate], spread=0)
    assert one.result is not None
    return replace(one, result=one.result.model_copy(update={"latency_s": (1 / rate,) * 100}))


def report(cells: list[Cell], judge: Callable[[Cell, Cell], PairParity | None] = lambda *_: None) -> Report:
    plan = s.plan(cells)
    return compose(s.record(plan), plan, [stored(cell) for cell in cells], judge=judge)


def test_each_operator_and_size_is_a_row() -> None:
    median, mean = sweeps(report(CELLS))

    assert (median.title, mean.title) == ("ops on cpu: call, median", "ops on cpu: call, mean")
    assert median.heads == ("operator", "size", "mxnet 1.9.1", "torch 2.13.0")
    assert median.rows == mean.rows == (
        ("gemm", "50", "100 µs", "50.0 µs"),
        ("gemm", "550", "10.0 ms", "5.00 ms"),
        ("relu", "500", "5.00 µs", "2.50 µs"),
    )  # fmt: skip


def test_what_is_not_comparable_is_marked() -> None:
    def judge(one: Cell, _other: Cell) -> PairParity | None:
        return PairParity(WorkParity.NOT_COMPARABLE, "0.3 apart") if one.workload.model == "relu" else None

    median, _ = sweeps(report(CELLS, judge))

    assert median.rows[2] == ("relu", "500", "5.00 µs (not comparable)", "2.50 µs")


def test_an_axis_off_its_default_has_a_column() -> None:
    fewer = replace(WORKS[0], axes=(("size", 50), ("seeds", 4), ("tries", 5)))

    median, _ = sweeps(report([*CELLS, s.cell(s.MXNET, fewer, repeats=1)]))

    assert median.heads[:3] == ("operator", "size", "seeds")
    assert [row[2] for row in median.rows] == ["20", "20", "20", "4"]
    assert median.rows[3][3:] == ("100 µs", "–")


def test_models_have_no_such_table() -> None:
    assert list(sweeps(s.example())) == []
