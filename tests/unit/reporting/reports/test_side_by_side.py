"""Runs of several hosts: beside each other in every format, and never in one comparison unsaid."""

import csv
import io
import re
from dataclasses import replace

import junitparser
import pytest
from rich.console import Console

from orchestrator.domain import Status
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import formats_of, render
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.side_by_side.columns import SideBySide, side_by_side
from orchestrator.reporting.reports.side_by_side.report import SIDE_BY_SIDE
from orchestrator.results.records import EnvironmentRecord
from tests.envelopes import data_of
from tests.unit.reporting import synthetic as s

HOME = {"hostname": "home", "cpu": "Home CPU", "cpus": 4, "cores": 2, "memory_bytes": 16_000_000_000, "kernel": "6.1",
        "engine": "28.2", "gpus": []}  # fmt: skip
FAR = {"hostname": "far", "cpu": "Far CPU", "cpus": 64, "cores": 32, "memory_bytes": 256_000_000_000, "kernel": "5.14",
       "engine": "20.10", "gpus": [{"index": 0, "name": "Far GPU"}, {"index": 1, "name": "Far GPU"}]}  # fmt: skip
TORCH, MXNET = s.cell(s.TORCH), s.cell(s.MXNET)


def _report(name: str, host: dict[str, object], rates: dict[str, float], version: int = 1, image: str = "ab") -> Report:
    """A run of torch and mxnet with three repeats each, at about these rates; what has none has failed."""
    plan = s.plan([TORCH, MXNET])
    stored = []
    for cell in (TORCH, MXNET):
        rate = rates.get(cell.framework.name)
        if rate is None:
            stored += [s.failed(cell, repeat, Status.TIMEOUT, "no result within 600 s") for repeat in range(3)]
            continue
        for item in s.ok(cell, [rate, rate * 1.01, rate * 0.99], spread=0):
            assert item.result is not None
            result = item.result.model_copy(update={"measurement_version": version})
            outcome = replace(item.outcome, image_id=f"sha256:{image * 32}")
            stored.append(replace(item, result=result, outcome=outcome))
    made = [
        EnvironmentRecord(image=each.name, status=Status.OK, image_id=f"sha256:{image * 32}") for each in plan.images
    ]
    return compose(s.record(plan, name).model_copy(update={"host": host}), plan, stored, environments=made)


def two(**changes: object) -> SideBySide:
    """Home is faster with mxnet, far with torch; on far, everything is twice as fast."""
    return side_by_side([
        _report("20260101T000000Z-home", HOME, {"torch": 1000, "mxnet": 1500}),
        _report("20260102T000000Z-far0", FAR, {"torch": 4000, "mxnet": 3000} | changes.pop("rates", {}), **changes),  # type: ignore[arg-type, operator]
    ])  # fmt: skip


def terminal(several: SideBySide, width: int = 160) -> str:
    console = Console(width=width, file=io.StringIO(), no_color=True)
    console.print(shown(SIDE_BY_SIDE, several))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _text(several: SideBySide, name: str) -> str:
    if name == "table":
        return terminal(several)
    return render(SIDE_BY_SIDE, several, name)


@pytest.mark.parametrize("name", formats_of(SIDE_BY_SIDE))
def test_every_format_names_hosts_and_cells(name: str) -> None:
    """Every format names both hosts, both runs and every cell; but those of other tools what they have room for."""
    text = _text(two(), name)
    runs = () if name in {"bencher", "openmetrics"} else ("20260101T000000Z-home", "20260102T000000Z-far0")

    cells = () if name == "github" else ("torch", "mxnet")  # it names what did not pass
    for word in ("home", "far", *runs, *cells):
        assert word in text


@pytest.mark.parametrize("name", ["table", "md", "json", "html"])
def test_ratio_between_columns_is_explained(name: str) -> None:
    """The report says what a ratio between columns means and how the hosts differ."""
    text = " ".join(_text(two(), name).replace("\\|", "|").split())

    assert "compares hosts, not frameworks" in text
    assert "CPU (Home CPU | Far CPU)" in text
    assert "Memory (16.0 GB | 256 GB)" in text
    assert "Kernel (6.1 | 5.14)" in text
    assert "Engine (28.2 | 20.10)" in text


def test_hosts_are_compared_cell_by_cell() -> None:
    """A host is compared with the first host cell by cell, and frameworks only within their run."""
    several = two()

    (group,) = several.groups
    torch, mxnet = group.cells
    assert [round(over.value, 6) if over else None for over in torch.over_first] == [None, 4.0]
    assert [round(over.value, 6) if over else None for over in mxnet.over_first] == [None, 2.0]
    ranks = [{place.cell_id: place.rank for place in run.report.groups[0].places} for run in several.runs]
    assert [ranks[0][MXNET.id].label, ranks[1][TORCH.id].label] == ["1", "1"]  # type: ignore[union-attr]


def test_every_cell_shows_its_outcome_per_host() -> None:
    """The report shows of every cell what became of it on each host."""
    shown = terminal(two(rates={"torch": None}))

    assert "3 timeout" in shown
    assert two(rates={"torch": None}).groups[0].cells[0].over_first == (None, None)


def test_cells_measured_otherwise_are_not_compared() -> None:
    """A cell that was measured in another way is shown and not compared."""
    several = two(version=2)

    assert {cell.over_first for cell in several.groups[0].cells} == {(None, None)}
    assert "measured in another way (measurement_version)" in _text(several, "md").replace("\\", "")


def test_namesake_cells_are_not_compared() -> None:
    """A cell that has the same name but is another cell is not compared."""
    smaller = replace(TORCH, system=replace(TORCH.system, cpus=1))
    plan = s.plan([smaller])
    other = compose(s.record(plan, "20260103T000000Z-0003"), plan, s.ok(smaller, [1.0, 2.0]))

    several = side_by_side([_report("20260101T000000Z-home", HOME, {"torch": 1000, "mxnet": 1500}), other])

    assert several.groups[0].cells[0].note == "planned in another way"
    assert several.groups[0].cells[0].over_first == (None, None)
    assert "not in its plan" in terminal(several)


def test_an_image_of_other_content_is_told() -> None:
    (note,) = [note for note in two(image="cd").notes if "images" in note]
    assert note == (
        "bench/torch:2.13.0-cpu and bench/mxnet:1.9.1-cpu are not the same images in all runs: "
        "what differs may be in them, not in the hosts."
    )


def test_runs_of_one_host_are_told_apart() -> None:
    """Two runs of one host are told apart by their names, and the report says that the host is one."""
    several = side_by_side([_report(f"2026010{day}T000000Z-home", HOME, {"torch": 1000}) for day in (1, 2)])

    assert [run.label for run in several.runs] == [f"home, run 2026010{day}T000000Z-home" for day in (1, 2)]
    assert "all runs are of one host, at different times" in several.notes[1]


def test_csv_has_a_row_for_every_repeat() -> None:
    """The CSV has a row for every repeat of every run, with its host."""
    rows = list(csv.DictReader(io.StringIO(render(SIDE_BY_SIDE, two(), "csv"))))

    assert len(rows) == 2 * 2 * 3
    assert {(row["run"], row["host_hostname"], row["host_cpus"]) for row in rows} == {
        ("20260101T000000Z-home", "home", "4"), ("20260102T000000Z-far0", "far", "64"),
    }  # fmt: skip
    assert rows[6]["host_gpus"] == "2 × Far GPU"


def test_json_has_reports_and_host_ratios() -> None:
    """The JSON has every report whole and the ratios between hosts."""
    found = data_of(render(SIDE_BY_SIDE, two(), "json"))

    assert [run["report"]["run"] for run in found["runs"]] == ["20260101T000000Z-home", "20260102T000000Z-far0"]
    assert [round(run["over_first"] or 1, 6) for run in found["groups"][0]["cells"][0]["runs"]] == [1, 4]


def test_junit_groups_suites_by_run_and_host() -> None:
    """The JUnit file has every suite under its run and host."""
    suites = list(junitparser.JUnitXml.fromstring(render(SIDE_BY_SIDE, two(rates={"torch": None}), "junit").encode()))

    assert [suite.hostname for suite in suites] == ["home", "far"]
    assert [(suite.tests, suite.failures) for suite in suites] == [(6, 0), (6, 3)]
    assert suites[1].name.endswith("(20260102T000000Z-far0)")


def test_words_of_hosts_do_no_harm() -> None:
    """Words that hosts say of themselves can do no harm in any format."""
    evil = {"hostname": "<script>alert(1)</script>\x1b[31m|`", "cpu": "=1+1", "cpus": "{{ 7*7 }}"}
    several = side_by_side([_report(f"2026010{day}T000000Z-home", evil, {"torch": 1000}) for day in (1, 2)])

    page = render(SIDE_BY_SIDE, several, "html")
    assert "<script>alert" not in page
    assert "{{ 7*7 }}" in page
    assert "\x1b" not in terminal(several)
    assert "'=1+1" in render(SIDE_BY_SIDE, several, "csv")
    assert not re.search(r"(?<!\\)<script", render(SIDE_BY_SIDE, several, "md"))
