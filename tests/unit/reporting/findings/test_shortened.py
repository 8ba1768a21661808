"""Notes of a report on cells that were measured with less than usual."""

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.domain import Cell, Duration
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.results.evidence import Stored
from tests.unit.reporting import synthetic as s

CELL = s.cell(s.MXNET)


def reported(cell: Cell, steps: int = 150, repeats: int = 3) -> Report:
    cell = replace(cell, repeats=repeats)
    plan = s.plan([cell])
    return compose(s.record(plan), plan, _with_steps(s.ok(cell, [100.0] * repeats), steps))


def _with_steps(stored: Sequence[Stored], steps: int) -> list[Stored]:
    return [
        Stored(
            each.outcome, each.result and each.result.model_copy(update={"latency_s": each.result.latency_s[:steps]})
        )
        for each in stored
    ]


def test_a_usual_cell_is_not_named() -> None:
    assert reported(CELL).warnings == ()


def test_each_setting_is_shown_beside_the_usual() -> None:
    short = replace(CELL, duration=Duration(blocks=3, latency_steps=100), parity_batch=16)

    (warning,) = reported(short, steps=100).warnings
    assert warning == (
        f"{CELL.id}: measured with less than usual: 3 timed blocks (10), 100 single steps in each repeat (150), "
        "parity on a batch of 16 (128)"
    )


def test_one_evaluation_alone_is_told() -> None:
    late = s.cell(s.MXNET, s.MLP_EPOCHS, epochs=3)
    late = replace(late, duration=replace(late.duration, evaluate_every_epoch=False))

    assert reported(late).warnings == (
        f"{late.id}: measured with less than usual: test data evaluated after the last epoch alone",
    )


def test_missing_percentiles_are_named() -> None:
    short = replace(CELL, duration=Duration(latency_steps=5))

    (warning,) = reported(short, steps=5).warnings
    assert warning.endswith("5 single steps in each repeat (150), 15 steps in all, too few for p99")
    (warning,) = reported(short, steps=1).warnings
    assert warning.endswith("3 steps in all, too few for p90 and p99 and for an interval of the median")


def test_no_latency_pass_gives_no_percentiles() -> None:
    (warning,) = reported(replace(CELL, duration=Duration(latency_steps=0)), steps=0).warnings

    assert warning.endswith("0 single steps in each repeat (150), no percentiles, without single steps")


def test_a_p99_of_few_steps_is_a_dash() -> None:
    short = replace(CELL, duration=Duration(latency_steps=5))
    few, usual = render(RUN, reported(short, steps=5), "md"), render(RUN, reported(CELL), "md")

    def p99(text: str) -> str:
        lines = [line.split(" | ") for line in text.splitlines() if line.startswith("|")]
        place = next(line.index("Step p99") for line in lines if "Step p99" in line)
        return next(line[place] for line in lines if line[-1].startswith("3 ok"))

    assert p99(few) == "–"
    assert p99(usual) == "2.62 s"
