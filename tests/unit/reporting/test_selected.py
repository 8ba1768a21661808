"""The selected part of a report: fewer cells, the same figures and verdicts."""

from dataclasses import replace

import pytest

from orchestrator.analysis.parity.work import PairParity, WorkParity
from orchestrator.planning import Selection
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.findings.shared_texts import parity_lines
from orchestrator.reporting.formats import FORMATS, HTML, formats_of, render
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.side_by_side.columns import side_by_side
from orchestrator.reporting.reports.side_by_side.report import SIDE_BY_SIDE
from orchestrator.reporting.selected import selected
from tests.unit.reporting import synthetic as s

WHOLE = s.example()
GLOBS = [
    Selection(("mxnet-*",)),
    Selection(("tensorflow-*", "torch-*")),  # the best is left out
    Selection(("keras*",)),  # nothing is measured
    Selection((), ("lenet-*",)),
    Selection((WHOLE.cells[-1].cell.id,)),
    Selection(("mxnet-*", "torch-*"), ("*-e3",)),
]


@pytest.fixture(params=GLOBS, ids=str)
def selection(request: pytest.FixtureRequest) -> Selection:
    return request.param


def _takes(selection: Selection, report: Report) -> list[str]:
    return [cell.cell.id for cell in report.cells if selection.takes(cell.cell.id)]


def test_only_selected_cells_are_left(selection: Selection) -> None:
    part = selected(WHOLE, selection)

    ids = _takes(selection, WHOLE)
    assert 0 < len(ids) < len(WHOLE.cells)
    assert [cell.cell.id for cell in part.cells] == ids
    assert {each for group in part.groups for each in group.cell_ids} <= set(ids)
    assert {cell.cell_id for problem in part.problems for cell in problem.cells} <= set(ids)
    assert {each for problem in part.problems for log in problem.logs for each in log.cell_ids} <= set(ids)
    assert {image.name for image in part.images} <= {cell.cell.image for cell in part.cells}
    assert sum(count for _, count in part.statuses) == sum(cell.cell.repeats for cell in part.cells)


def test_places_and_ratios_are_those_of_all(selection: Selection) -> None:
    whole = {group.label: group for group in WHOLE.groups}

    for group in selected(WHOLE, selection).groups:
        before = whole[group.label]
        assert [place for place in before.places if selection.takes(place.cell_id)] == list(group.places)
        assert (group.conclusion, group.sentence.startswith(before.sentence)) == (before.conclusion, True)
        numbers = [number for number, place in enumerate(before.places) if place in group.places and place.rank]
        assert [row for row in group.ratios if row] == [
            tuple(before.ratios[row][column] for column in numbers) for row in numbers if before.ratios
        ]


def test_what_is_left_out_is_said() -> None:
    part = selected(WHOLE, Selection(("mxnet-*",)))

    assert part.warnings[-1] == ("--select leaves out 6 of 11 cells; ranks and verdicts are those of the whole run")
    assert part.groups[0].sentence.endswith(
        " 3 of the 5 cells here are left out by --select, and counted all the same."
    )
    both = selected(WHOLE, Selection(("mxnet-*",), ("mlp-*",)))
    assert "--select and --exclude leave out" in both.warnings[-1]


def test_a_selection_of_everything_changes_nothing() -> None:
    assert selected(WHOLE, Selection(("*",))) == WHOLE


@pytest.mark.parametrize("format_", formats_of(RUN))
def test_every_format_shows_the_part(selection: Selection, format_: str) -> None:
    part = selected(WHOLE, selection)

    text = render(RUN, part, format_)

    hidden = {cell.cell.image for cell in WHOLE.cells} - {cell.cell.image for cell in part.cells}
    if format_ != HTML:
        assert [image for image in hidden if f"{image.partition('/')[2].replace(':', '-')}/" in text] == []
    if view_of(format_) != "measures":  # they hold what was measured, under the names of hosts
        assert part.run in render(SIDE_BY_SIDE, side_by_side([part, part]), format_)


def view_of(name: str) -> str:
    return next(each.view for each in FORMATS if each.name == name)


def test_parity_names_no_best_that_is_hidden() -> None:
    group = WHOLE.groups[0]
    same = PairParity(WorkParity.SAME)
    best, *others = group.places
    judged = replace(group, places=(best, *(replace(place, parity=same) for place in others)))

    assert best.label in parity_lines(judged)[0]
    assert parity_lines(replace(judged, places=judged.places[1:])) == ()
