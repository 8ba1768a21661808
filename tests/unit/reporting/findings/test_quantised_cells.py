"""Quantised cells of a group: shown with their ratio, and never ranked beside cells in float32."""

from dataclasses import replace

from orchestrator.analysis.parity.sides import UNQUANTISED, quantisation
from orchestrator.analysis.parity.work import PairParity, WorkParity
from orchestrator.domain import Cell
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.groups import Judge
from orchestrator.reporting.findings.model import Group, GroupFinding
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from tests.unit.reporting import synthetic as s


def judge(one: Cell, other: Cell) -> PairParity:
    kinds = {quantisation(one.options), quantisation(other.options)}
    if kinds == {UNQUANTISED}:
        return PairParity(WorkParity.SAME)
    return PairParity(WorkParity.QUANTISED if len(kinds) > 1 else WorkParity.QUANTISED_ALIKE, note="moved a little")


def unchecked(_one: Cell, _other: Cell) -> PairParity:
    return PairParity(WorkParity.NOT_CHECKED, "parity was switched off")


def grouped(*kinds_and_rates: tuple[str, float], by: Judge = judge) -> Group:
    """The group of one framework after another, each with its quantisation and its rate."""
    frameworks = (s.MXNET, s.TORCH, s.TENSORFLOW)
    cells, stored = [], []
    for framework, (kind, rate) in zip(frameworks, kinds_and_rates, strict=False):
        plain = s.cell(framework)
        cell = plain if kind == UNQUANTISED else replace(plain, options=(("quantisation", kind),))
        cells.append(cell)
        stored += s.ok(cell, [rate, rate + 1], spread=0)
    plan = s.plan(cells)
    return compose(s.record(plan), plan, stored, judge=by).groups[0]


def test_a_quantised_cell_never_wins_against_float32() -> None:
    group = grouped(("static", 500.0), ("none", 100.0), ("none", 200.0))

    assert [place.label for place in group.places] == ["tensorflow 2.21.0", "torch 2.13.0", "mxnet 1.9.1"]
    assert [place.rank is not None for place in group.places] == [True, True, False]
    assert group.conclusion is GroupFinding.DECIDED


def test_it_does_not_win_without_a_check_either() -> None:
    group = grouped(("static", 500.0), ("none", 100.0), ("none", 200.0), by=unchecked)

    assert [place.label for place in group.places] == ["tensorflow 2.21.0", "torch 2.13.0", "mxnet 1.9.1"]
    assert [place.rank is not None for place in group.places] == [True, True, False]


def test_it_keeps_its_ratio_and_its_verdict() -> None:
    place = grouped(("static", 500.0), ("none", 100.0), ("none", 200.0)).places[2]

    assert place.to_best is not None
    assert round(place.to_best.value, 1) == 2.5
    assert place.parity is not None
    assert (place.parity.work, place.parity.note) == (WorkParity.QUANTISED, "moved a little")
    assert place.verdict == "quantised"


def test_what_is_over_its_bar_stays_not_comparable() -> None:
    def broken(_one: Cell, _other: Cell) -> PairParity:
        return PairParity(WorkParity.NOT_COMPARABLE, "logits are 0.4 apart")

    assert grouped(("static", 500.0), ("none", 100.0), by=broken).places[1].verdict == "not comparable"


def test_the_finding_names_quantised_cells_apart() -> None:
    sentence = grouped(("static", 500.0), ("none", 100.0), ("none", 200.0)).sentence

    assert sentence.endswith("Quantised otherwise than tensorflow 2.21.0, and not ranked: mxnet 1.9.1.")


def test_every_layout_of_a_run_says_quantised() -> None:
    """The word stands in the column of verdicts, on the page as in a terminal."""
    cells = [s.cell(s.MXNET), replace(s.cell(s.TORCH), options=(("quantisation", "static"),))]
    plan = s.plan(cells)
    report = compose(s.record(plan), plan, [*s.ok(cells[0], [1.0, 2.0]), *s.ok(cells[1], [3.0, 4.0])], judge=judge)

    texts = [render(RUN, report, name) for name in ("table", "md", "html")]
    assert all("quantised" in text for text in texts)


def test_quantised_cells_of_one_kind_are_ranked_with_each_other() -> None:
    group = grouped(("static", 500.0), ("static", 100.0))

    assert [place.rank is not None for place in group.places] == [True, True]
    assert group.conclusion is GroupFinding.DECIDED


def test_two_kinds_of_quantisation_are_not_ranked() -> None:
    assert grouped(("static", 500.0), ("dynamic", 100.0)).conclusion is GroupFinding.NOT_COMPARABLE
