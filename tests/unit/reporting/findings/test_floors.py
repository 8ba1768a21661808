"""A floor, which computes nothing, is shown as a share of a step, and is in no ranking, no finding and no axis."""

import csv
import io

import pytest
from rich.console import Console

from orchestrator.catalog import idle_builders
from orchestrator.domain import Framework, Status
from orchestrator.reporting.charts.cells import charts
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import GroupFinding, Report
from orchestrator.reporting.formats import formats_of, render
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.side_by_side.columns import side_by_side
from orchestrator.reporting.reports.side_by_side.report import SIDE_BY_SIDE
from orchestrator.wording import share
from tests.envelopes import data_of
from tests.unit.reporting import synthetic as s

EMPTY = Framework("empty", "1", python="3.11")
FLOOR, MXNET, TORCH = (s.cell(framework) for framework in (EMPTY, s.MXNET, s.TORCH))
RATES = {
    FLOOR.id: [1.34e9, 1.33e9, 1.35e9],  # 149 ns a step of 200 samples
    MXNET.id: [13_400.0, 13_390.0, 13_410.0],  # 14.9 ms a step
    TORCH.id: [6_700.0, 6_690.0, 6_710.0],
}
LINE = "Harness floor: empty 1 takes 149 ns a step, 0.001 % of a step of the fastest."


def made(*, of: tuple[str, ...] = tuple(RATES), idle: tuple[str, ...] = ("empty",)) -> Report:
    """A report of three cells of one group, of which those in `of` were measured."""
    plan = s.plan([FLOOR, MXNET, TORCH])
    stored = [item for cell in plan.cells if cell.id in of for item in s.ok(cell, RATES[cell.id], spread=0)]
    stored += [
        s.failed(cell, repeat, Status.TIMEOUT, "no result within 600 s")
        for cell in plan.cells if cell.id not in of for repeat in range(3)
    ]  # fmt: skip
    return compose(s.record(plan), plan, stored, idle_builders=idle)


def printed(report: Report) -> str:
    console = Console(width=120, file=io.StringIO(), no_color=True, force_terminal=False)
    console.print(shown(RUN, report))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_the_catalog_says_which_builders_compute_nothing() -> None:
    assert idle_builders() == {"noop"}


def test_what_computes_nothing_wins_nothing() -> None:
    report = made()

    (group,) = report.groups
    assert [(place.label, place.rank and place.rank.label) for place in group.places] == [
        ("mxnet 1.9.1", "1"),
        ("torch 2.13.0", "2"),
    ]
    assert group.conclusion is GroupFinding.DECIDED
    assert group.sentence.startswith("mxnet 1.9.1 is the fastest at 13,400 samples/s, 2.00 × as fast as the next")
    assert "mxnet 1.9.1" in report.headline
    assert "empty" not in group.sentence + report.headline


def test_it_is_ranked_where_its_builder_computes() -> None:
    """The builder says so, and no name that the report knows."""
    assert made(idle=()).groups[0].places[0].label == "empty 1"


def test_its_share_of_each_step_is_told() -> None:
    (group,) = made().groups

    (floor,) = group.floors
    assert floor.step_s == pytest.approx(200 / 1.34e9, rel=1e-3)
    assert floor.share == pytest.approx(1e-5, rel=1e-3)
    assert [place.harness_share for place in group.places] == pytest.approx([1e-5, 5e-6], rel=1e-3)


@pytest.mark.parametrize("name", ["md", "table"])
def test_texts_say_it_in_a_line(name: str) -> None:
    text = printed(made()) if name == "table" else render(RUN, made(), name)

    assert LINE in " ".join(text.split())
    assert text.count("empty 1") == 1 + (name == "md") * text.count("bench/empty")
    assert "1.34 G" not in text


def test_the_csv_has_the_share_of_every_repeat() -> None:
    rows = list(csv.DictReader(io.StringIO(render(RUN, made(), "csv"))))

    shares = [(row["framework"], float(row["harness_share"]), row["parity"]) for row in rows]
    assert shares[0] == ("empty", 1, "")
    assert shares[3] == ("mxnet", pytest.approx(1e-5, rel=1e-2), "reference")
    assert shares[6][:2] == ("torch", pytest.approx(5e-6, rel=1e-2))


def test_the_json_has_it_beside_the_places() -> None:
    (group,) = data_of(render(RUN, made(), "json"))["groups"]

    assert [place["cell_id"] for place in group["places"]] == [MXNET.id, TORCH.id]
    assert [(floor["cell_id"], floor["label"]) for floor in group["floors"]] == [(FLOOR.id, "empty 1")]


def test_every_repeat_of_it_stays_a_case() -> None:
    assert render(RUN, made(), "junit").count(f'classname="{FLOOR.id}"') == 3


def test_the_page_keeps_the_floor_apart() -> None:
    """The page holds the harness floor apart from the ranking and the charts."""
    report = made()
    page = render(RUN, report, "html")

    ranking, _, rest = page.partition("Harness floor of lenet-train-b200 on cpu")
    assert f'id="{FLOOR.id}"' in rest
    assert f'id="{FLOOR.id}"' not in ranking
    assert "0.001 %" in rest
    for chart in charts([report.by_id[place.cell_id] for place in report.groups[0].places]):
        assert FLOOR.id not in {lane.cell.cell.id for lane in chart.lanes}


def test_a_failed_floor_is_reported_as_missing() -> None:
    report = made(of=(MXNET.id, TORCH.id))

    assert "Harness floor: empty 1 was not measured." in printed(report)
    assert [affected.cell_id for problem in report.problems for affected in problem.cells] == [FLOOR.id]
    assert [place.harness_share for place in report.groups[0].places] == [None, None]


def test_a_group_of_floors_alone_has_a_finding() -> None:
    plan = s.plan([FLOOR])
    ok = compose(s.record(plan), plan, s.ok(FLOOR, RATES[FLOOR.id], spread=0), idle_builders=["empty"])
    failed = compose(s.record(plan), plan, [], idle_builders=["empty"])

    assert ok.groups[0].conclusion is GroupFinding.FLOOR
    assert ok.groups[0].sentence == "Nothing here computes anything: a step of empty 1 takes 149 ns."
    assert failed.groups[0].sentence == "Nothing was measured: 3 not_run."
    for report in (ok, failed):
        assert f'id="{FLOOR.id}"' in render(RUN, report, "html")
        assert all(render(RUN, report, name) for name in formats_of(RUN))


def test_side_by_side_compares_no_hosts_by_it() -> None:
    several = side_by_side([made(), made()])

    floor = next(cell for cell in several.groups[0].cells if cell.cell_id == FLOOR.id)
    assert (floor.over_first, floor.note) == ((None, None), "computes nothing")
    console = Console(width=160, file=io.StringIO(), no_color=True)
    console.print(shown(SIDE_BY_SIDE, several))
    assert "harness floor" in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-5, "0.001 %"),
        (0.00123, "0.12 %"),
        (0.034, "3.4 %"),
        (0.62, "62 %"),
        (1.0, "100 %"),
        (1e-9, "below 0.0001 %"),
    ],
)
def test_a_share_has_two_digits(value: float, text: str) -> None:
    assert share(value) == text


def test_groups_of_floors_alone_are_told_as_measured() -> None:
    """The terminal folds groups that were not measured; a floor was."""
    cells = [s.cell(EMPTY), s.cell(EMPTY, workload=s.MLP)]
    plan = s.plan(cells)
    stored = [item for cell in cells for item in s.ok(cell, [1.3e9] * 3, spread=0)]
    shown = printed(compose(s.record(plan), plan, stored, idle_builders=("empty",)))

    assert "Nothing was measured" not in shown
    assert shown.count("a step of empty 1 takes") == 2
