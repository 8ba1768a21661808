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
from orchestrator.reporting.reports.beside import SideBySide, side_by_side
from orchestrator.reporting.reports.side_by_side import SIDE_BY_SIDE
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
def test_every_format_names_both_hosts_both_runs_and_every_cell(name: str) -> None:
    text = _text(two(), name)

    for word in ("home", "far", "20260101T000000Z-home", "20260102T000000Z-far0", "torch", "mxnet"):
        assert word in text


@pytest.mark.parametrize("name", ["table", "md", "json", "html"])
def test_it_is_said_what_a_ratio_between_columns_means_and_how_the_hosts_differ(name: str) -> None:
    text = " ".join(_text(two(), name).replace("\\|", "|").split())

    assert "compares hosts, not frameworks" in text
    assert "CPU (Home CPU | Far CPU)" in text
    assert "Memory (16.0 GB | 256 GB)" in text
    assert "Kernel (6.1 | 5.14)" in text
    assert "Engine (28.2 | 20.10)" in text


def test_a_host_is_compared_with_the_first_cell_by_cell_and_frameworks_only_within_their_run() -> None:
    several = two()

    (group,) = several.groups
    torch, mxnet = group.cells
    assert [round(over.value, 6) if over else None for over in torch.over_first] == [None, 4.0]
    assert [round(over.value, 6) if over else None for over in mxnet.over_first] == [None, 2.0]
    ranks = [{place.cell_id: place.rank for place in run.report.groups[0].places} for run in several.runs]
    assert [ranks[0][MXNET.id].label, ranks[1][TORCH.id].label] == ["1", "1"]  # type: ignore[union-attr]


def test_of_every_cell_stands_what_became_of_it_on_each_host() -> None:
    shown = terminal(two(rates={"torch": None}))

    assert "3 timeout" in shown
    assert two(rates={"torch": None}).groups[0].cells[0].over_first == (None, None)


def test_what_was_measured_in_another_way_is_shown_and_not_compared() -> None:
    several = two(version=2)

    assert {cell.over_first for cell in several.groups[0].cells} == {(None, None)}
    assert "measured in another way (measurement_version)" in _text(several, "md").replace("\\", "")


def test_a_cell_of_one_name_that_is_another_cell_is_not_compared() -> None:
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


def test_two_runs_of_one_host_are_told_apart_by_their_names_and_it_is_said() -> None:
    several = side_by_side([_report(f"2026010{day}T000000Z-home", HOME, {"torch": 1000}) for day in (1, 2)])

    assert [run.label for run in several.runs] == [f"home, run 2026010{day}T000000Z-home" for day in (1, 2)]
    assert "all runs are of one host, at different times" in several.notes[1]


def test_the_csv_has_a_row_for_every_repeat_of_every_run_with_its_host() -> None:
    rows = list(csv.DictReader(io.StringIO(render(SIDE_BY_SIDE, two(), "csv"))))

    assert len(rows) == 2 * 2 * 3
    assert {(row["run"], row["host_hostname"], row["host_cpus"]) for row in rows} == {
        ("20260101T000000Z-home", "home", "4"), ("20260102T000000Z-far0", "far", "64"),
    }  # fmt: skip
    assert rows[6]["host_gpus"] == "2 × Far GPU"


def test_the_json_has_every_report_whole_and_the_ratios_between_hosts() -> None:
    found = data_of(render(SIDE_BY_SIDE, two(), "json"))

    assert [run["report"]["run"] for run in found["runs"]] == ["20260101T000000Z-home", "20260102T000000Z-far0"]
    assert [round(run["over_first"] or 1, 6) for run in found["groups"][0]["cells"][0]["runs"]] == [1, 4]


def test_the_junit_has_every_suite_under_its_run_and_host() -> None:
    suites = list(junitparser.JUnitXml.fromstring(render(SIDE_BY_SIDE, two(rates={"torch": None}), "junit").encode()))

    assert [suite.hostname for suite in suites] == ["home", "far"]
    assert [(suite.tests, suite.failures) for suite in suites] == [(6, 0), (6, 3)]
    assert suites[1].name.endswith("(20260102T000000Z-far0)")


def test_what_hosts_say_of_themselves_can_do_no_harm() -> None:
    evil = {"hostname": "<script>alert(1)</script>\x1b[31m|`", "cpu": "=1+1", "cpus": "{{ 7*7 }}"}
    several = side_by_side([_report(f"2026010{day}T000000Z-home", evil, {"torch": 1000}) for day in (1, 2)])

    page = render(SIDE_BY_SIDE, several, "html")
    assert "<script>alert" not in page
    assert "{{ 7*7 }}" in page
    assert "\x1b" not in terminal(several)
    assert "'=1+1" in render(SIDE_BY_SIDE, several, "csv")
    assert not re.search(r"(?<!\\)<script", render(SIDE_BY_SIDE, several, "md"))
