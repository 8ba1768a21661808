"""The speed-up by an option, from pairs that differ in it alone."""

from dataclasses import replace

import pytest

from orchestrator.domain import Cell, Options
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.findings.tables.option_effects import EFFECTS_HEADS, effect_rows, option_effects
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from tests.unit.reporting import synthetic as s


def cells(*options: Options) -> list[Cell]:
    return [replace(s.cell(s.MXNET, options=each), id=f"mxnet-cpu/{number}") for number, each in enumerate(options)]


def report(planned: list[Cell]) -> Report:
    plan = s.plan(planned)
    rates = [[100.0 * 2**number, 101.0 * 2**number, 102.0 * 2**number] for number in range(len(planned))]
    stored = [item for cell, each in zip(planned, rates, strict=True) for item in s.ok(cell, each)]
    return compose(s.record(plan), plan, stored)


def effects(*options: Options) -> list[tuple[str, object, object, float]]:
    found = report(cells(*options))
    (group,) = found.groups
    return [
        (each.name, each.value, each.other, pytest.approx(each.over.value, rel=0.01))
        for each in option_effects(group, found.by_id)
    ]


@pytest.mark.parametrize(("first", "ratio"), [(True, 0.5), (False, 2.0)])
def test_a_switch_is_on_over_off(first: bool, ratio: float) -> None:
    assert effects((("hybridize", first),), (("hybridize", not first),)) == [("hybridize", True, False, ratio)]


def test_words_are_compared_in_their_order() -> None:
    assert effects((("layout", "last"),), (("layout", "first"),)) == [("layout", "first", "last", 2.0)]


@pytest.mark.parametrize(
    "other",
    [
        (("hybridize", False), ("layout", "last")),
        (("env.OMP", "1"), ("hybridize", True)),
        (("hybridize", True),),
    ],
)
def test_other_pairs_say_nothing_of_one_option(other: Options) -> None:
    assert effects((("hybridize", True), ("layout", "first")), other) == []


def test_numbers_and_variables_are_no_switches() -> None:
    assert effects((("threads", 1),), (("threads", 2),)) == []
    assert effects((("env.A", "1"),), (("env.A", "2"),)) == []


@pytest.mark.parametrize("name", ["md", "html"])
def test_a_report_has_ratio_and_interval(name: str) -> None:
    found = report(cells((("hybridize", False),), (("hybridize", True),)))
    (row,) = effect_rows(found.groups[0], found.by_id)
    text = render(RUN, found, name)

    assert row[:4] == ("mxnet 1.9.1", "hybridize=true", "hybridize=false", "1.99 ×")
    assert row[4].count("–") == 1
    assert EFFECTS_HEADS[2] in text
    assert EFFECTS_HEADS[2] not in render(RUN, report(cells((("hybridize", True),))), name)


def test_the_end_of_the_first_epoch_is_shown() -> None:
    timed, steps = s.cell(s.MXNET, s.MLP_EPOCHS, epochs=3), s.cell(s.MXNET)
    plan = s.plan([timed, steps])
    found = compose(s.record(plan), plan, [*s.ok(timed, [52_000.0] * 3), *s.ok(steps, [100.0] * 3)])
    text = render(RUN, found, "md")

    assert text.count("to the end of the first epoch |") == 1
    assert "first epoch" not in render(RUN, found, "csv")


def test_an_unmeasured_cell_is_in_no_pair() -> None:
    planned = cells((("hybridize", True),), (("hybridize", False),), (("hybridize", "x"),))
    plan = s.plan(planned)
    found = compose(s.record(plan), plan, [*s.ok(planned[0], [100.0] * 3), *s.ok(planned[1], [50.0] * 3)])

    assert "hybridize=true | hybridize=false" in render(RUN, found, "md")
    assert EFFECTS_HEADS[2] in render(RUN, found, "html")
