"""Every kind of report in every format that it has, and a clear answer for a format that it lacks."""

import csv
import io
import pkgutil
import re
from collections.abc import Callable, Set
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import InputError
from orchestrator.regression.history.series import series
from orchestrator.reporting import reports
from orchestrator.reporting.document import Kind
from orchestrator.reporting.formats import FORMATS, HTML, Format, formats_of, render
from orchestrator.reporting.reports.history.report import HISTORY
from orchestrator.reporting.reports.night.report import NIGHT, NIGHTS
from orchestrator.reporting.reports.regression.report import REGRESSION
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.search.report import SEARCH
from orchestrator.reporting.reports.side_by_side.report import SIDE_BY_SIDE
from orchestrator.reporting.reports.watch.report import WATCH
from orchestrator.workflows.outputs import chosen_format
from tests.documented import whole
from tests.unit.regression.history.test_history import levels
from tests.unit.regression.nightly.night_records import a_night
from tests.unit.regression.nightly.watch_records import a_watch
from tests.unit.regression.search.search_records import a_search
from tests.unit.reporting import clusters, synthetic
from tests.unit.reporting.reports.test_regression_report import EVERY
from tests.unit.reporting.reports.test_side_by_side import two

KINDS: dict[str, tuple[Kind[Any], Callable[[Path], Any]]] = {
    "run": (RUN, lambda _: synthetic.example()),
    "run on a cluster": (RUN, lambda _: clusters.replicated()),
    "side by side": (SIDE_BY_SIDE, lambda _: two()),
    "regression": (REGRESSION, lambda _: EVERY),
    "night": (NIGHT, lambda _: a_night()),
    "nights": (NIGHTS, lambda _: ([a_night()], ())),
    "search": (SEARCH, a_search),
    "watch": (WATCH, lambda _: a_watch()),
    "history": (HISTORY, lambda _: series(levels((100, 20, "1.8.0"), (90, 20, "1.9.1")))),
}
LACKED: dict[str, Set[str]] = {
    "regression": {"traces"},
    "night": {"short", "value", "records", "measures", "traces"},
    "nights": {"short", "full", "value", "records", "suites", "measures", "traces"},
    "search": {"value", "records", "suites", "measures", "traces"},
    "watch": {"records", "suites", "measures", "traces"},
    "history": {"suites", "traces"},
}
"""Layouts that a kind does not have, because no command shows it so; any other layout must be there."""


def test_every_kind_has_stored_values() -> None:
    """A new kind of report is walked here as soon as it exists."""
    modules = pkgutil.walk_packages(reports.__path__, f"{reports.__name__}.")
    there = {
        id(value) for each in modules for value in vars(import_module(each.name)).values() if isinstance(value, Kind)
    }
    assert {id(kind) for kind, _ in KINDS.values()} == there


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_in_every_format(kind: str, row: Format, tmp_path: Path) -> None:
    of_kind, made = KINDS[kind]
    if row.view not in LACKED.get(kind, ()):
        assert render(of_kind, made(tmp_path), row.name).strip()
    else:
        assert row.name not in formats_of(of_kind)
        with pytest.raises(KeyError, match=row.name):
            render(of_kind, None, row.name)


@pytest.mark.parametrize("kind", [name for name in KINDS if "records" not in LACKED.get(name, ())])
def test_tsv_holds_the_values_of_csv(kind: str, tmp_path: Path) -> None:
    of_kind, made = KINDS[kind]
    content = made(tmp_path)
    commas, tabs = (render(of_kind, content, name) for name in ("csv", "tsv"))

    rows = list(csv.reader(io.StringIO(tabs), "excel-tab"))
    assert rows == list(csv.reader(io.StringIO(commas)))
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(rows[0])}


def test_a_regression_has_a_row_for_each_metric() -> None:
    rows = list(csv.DictReader(io.StringIO(render(REGRESSION, EVERY, "csv"))))

    judged = [metric for pair in EVERY.pairs for metric in pair.metrics]
    alone = [pair for pair in EVERY.pairs if not pair.metrics]
    assert len(rows) == len(judged) + len(alone)
    assert [row["metric"] for row in rows if row["metric"]] == [metric.metric for metric in judged]
    assert {row["cell"] for row in rows if row["is_regression"] == "true"} == {pair.id for pair in EVERY.regressions}


def test_a_history_has_a_row_for_each_run() -> None:
    _, made = KINDS["history"]
    every = made(Path())
    rows = list(csv.DictReader(io.StringIO(render(HISTORY, every, "csv"))))

    assert len(rows) == sum(len(each.points) for each in every)
    changed = [(row["series"], row["release"], float(row["change_ratio"])) for row in rows if row["change_ratio"]]
    assert changed == [(each.name, shift.point.release, shift.ratio) for each in every for shift in each.shifts]
    assert changed


def test_the_page_of_reports_lists_every_format() -> None:
    page = whole("report.md")
    listed = re.findall(
        r"^\| `([\w-]+)` \| (.*?) ?\| ", page.partition("| format | ending |")[2].partition("\n\n")[0], re.M
    )

    endings = {each.name: ", ".join(f"`{ending}`" for ending in each.endings) for each in FORMATS if each.name != HTML}
    assert dict(listed) == endings | {HTML: ""}
    assert [name for name, _ in listed] == [each.name for each in FORMATS]


def test_commands_refuse_formats_of_other_kinds() -> None:
    listed = ", ".join(formats_of(HISTORY))
    with pytest.raises(InputError, match=f"this command writes no junit; there is {listed}"):
        chosen_format(HISTORY, None, Path("series.xml"))
