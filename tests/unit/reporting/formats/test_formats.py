import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import junitparser
import pytest
from rich.console import Console

from orchestrator.domain import Mode, Status
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import FORMATS, GITHUB, render
from orchestrator.reporting.formats.csv import harmless
from orchestrator.reporting.formats.markdown import escape, fence
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.run.records import COLUMNS
from tests.envelopes import data_of
from tests.unit.reporting import synthetic as s
from tests.unit.reporting.formats.reports_with_texts import SCRIPT, evil

OF_OTHER_TOOLS = {"measures", "traces"}
"""Layouts that hold what was measured, and no skips; `test_interchange.py` has their tests."""
GOLDEN = Path(__file__).parents[3] / "golden" / "reports"


def terminal(report: Report, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), no_color=True, force_terminal=False)
    console.print(shown(RUN, report))
    assert isinstance(console.file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


@pytest.mark.parametrize(
    ("name", "shown_as"),
    [
        ("example.md", lambda report: render(RUN, report, "md")),
        ("example.csv", lambda report: render(RUN, report, "csv")),
        ("example.json", lambda report: render(RUN, report, "json")),
        ("example.xml", lambda report: render(RUN, report, "junit")),
        ("example-80.txt", lambda report: terminal(report, 80)),
        ("example-120.txt", lambda report: terminal(report, 120)),
    ],
)
def test_a_report_reads_as_it_did(name: str, shown_as: Callable[[Report], str]) -> None:
    """`UPDATE_GOLDEN=1 pytest …` writes the files anew; look at what changed before you commit it."""
    text = shown_as(s.example())
    if os.environ.get("UPDATE_GOLDEN") == "1":
        (GOLDEN / name).write_text(text)

    assert text == (GOLDEN / name).read_text()


@pytest.mark.parametrize(
    "name", [each.name for each in FORMATS if each.view not in OF_OTHER_TOOLS and each.name != GITHUB]
)
def test_every_format_holds_cells_statuses_and_skips(name: str) -> None:
    """Every cell, every status and every skip is in every format."""
    report = s.example()
    # A narrow terminal folds long words; a wide one shows them whole.
    text = terminal(report, 400) if name == "table" else render(RUN, report, name)
    plain = re.sub(r"\\(.)", r"\1", text) if name in {"md", "github-comment"} else text

    for status, _ in report.statuses:
        assert status.value in plain
    for skip in report.skips:
        assert skip.cell_id in plain
        assert skip.reason in plain
    for cell in report.cells:
        assert cell.cell.id in plain or cell.label in plain
    for problem in report.problems:
        for cell in problem.cells:
            assert cell.cell_id in plain


@pytest.mark.parametrize("name", ["md", "html", "table"])
def test_shared_reason_is_shown_once_with_log(name: str) -> None:
    """A reason that hit ten cells is shown once, with its log."""
    cells = [s.cell(s.Framework("mxnet", f"1.{number}", python="3.11"), repeats=1) for number in range(10)]
    plan = s.plan(cells)
    stored = [s.failed(cell, 0, Status.BUILD_FAILED, "the reason") for cell in cells]
    report = compose(s.record(plan), plan, stored, lambda _: "end of the log\nthe reason")
    text = terminal(report, 200) if name == "table" else render(RUN, report, name)
    text = text.partition('id="problems"')[2] or text  # a page gives each repeat its reason before that

    assert text.count("the reason") == 2  # as the reason, and where the log ends with it
    assert text.count("end of the log\n") == 1
    named = [cell for cell in cells if cell.id in text]
    assert len(named) == (3 if name == "table" else 10)
    assert ("and 7 more cells; 10 repeats in all" in text) is (name == "table")


def test_no_format_for_people_lets_control_sequences_through() -> None:
    report = evil()

    for text in (
        terminal(report, 100),
        render(RUN, report, "md"),
        render(RUN, report, "csv"),
        render(RUN, report, "junit"),
        render(RUN, report, "html"),
    ):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_terminal_markup_in_a_text_stays_text() -> None:
    assert "[red]" in terminal(evil(), 200)


def test_no_csv_text_field_starts_a_formula() -> None:
    for row in csv.DictReader(io.StringIO(render(RUN, evil(), "csv"))):
        for value in row.values():
            assert not value.startswith(("=", "+", "-", "@", "\t")), row
    (first, *_) = csv.DictReader(io.StringIO(render(RUN, evil(), "csv")))
    assert first["version"].startswith("'=HYPERLINK")


def test_every_format_shows_the_bounds_of_a_p99() -> None:
    """Three repeats of 150 steps bound it; two `ok` ones, 300 steps, do not."""
    report, name = s.example(), "mxnet-1.9.1-cpu/lenet-train-b200"
    document = data_of(render(RUN, report, "json"))
    latency = {each["cell"]["id"]: (each["measurement"] or {}).get("latency") for each in document["cells"]}
    low, high = latency[name]["p99_bounds_s"]
    shown = f"{1000 * low:.1f}–{1000 * high:.1f}"
    short = latency["torch-2.13.0-cpu/lenet-train-b200"]

    assert (latency[name]["n"], short["n"], short["p99_bounds_s"]) == (450, 300, None)
    assert shown in terminal(report, 80)
    assert f"| {shown} ms |" in render(RUN, report, "md")
    assert f"<small>{shown} ms</small>" in render(RUN, report, "html")
    row = next(csv.DictReader(io.StringIO(render(RUN, report, "csv"))))
    assert (float(row["cell_latency_p99_low_s"]), float(row["cell_latency_p99_high_s"])) == (low, high)


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "  -1+1"])
def test_formula_text_gets_an_apostrophe(text: str) -> None:
    """A text that would be a formula gets an apostrophe in the CSV."""
    cell = s.cell(s.TORCH, repeats=1)
    plan = s.plan([cell])
    report = compose(s.record(plan), plan, [s.failed(cell, 0, Status.FAILED, text)])

    (row,) = csv.DictReader(io.StringIO(render(RUN, report, "csv")))

    assert row["reason"] == f"'{text.strip()}"


def test_a_negative_number_is_left_as_it_is() -> None:
    assert harmless(-1.5) == -1.5
    assert harmless("-1.5") == "'-1.5"
    assert harmless("a-b") == "a-b"


def test_csv_has_a_row_per_repeat() -> None:
    """The CSV has a row per planned repeat and per skip, with the figures of that repeat."""
    report = s.example()
    rows = list(csv.DictReader(io.StringIO(render(RUN, report, "csv"))))

    assert len(rows) == sum(count for _, count in report.statuses) + len(report.skips)
    assert tuple(rows[0]) == COLUMNS
    torch = [row for row in rows if row["cell"] == "torch-2.13.0-cpu/lenet-train-b200"]
    assert [row["status"] for row in torch] == ["ok", "ok", "timeout"]
    assert torch[0]["latency_p99_s"] != torch[1]["latency_p99_s"]
    assert torch[2]["samples_per_s"] == ""
    found = report.by_id["torch-2.13.0-cpu/lenet-train-b200"].repeats[0].measurement
    assert found is not None
    assert float(torch[0]["samples_per_s"]) == found.samples_per_s


def test_csv_and_json_have_epoch_times() -> None:
    """The CSV and the JSON have the total time of epoch runs and the time of every epoch."""
    report = s.example()
    rows = [row for row in csv.DictReader(io.StringIO(render(RUN, report, "csv"))) if row["model"] == "mlp"]
    by_cell = {(row["cell"], row["repeat"]): row for row in rows}
    (timed, once) = (by_cell[f"{name}-cpu/mlp-train-b256", "0"] for name in ("mxnet-1.9.1", "torch-2.13.0"))
    epoch_s = [float(each) for each in timed["epoch_s"].split()]

    assert len(epoch_s) == 3
    assert float(timed["epochs_after_first_s"]) == pytest.approx(sum(epoch_s[1:]))
    assert float(timed["epochs_total_s"]) > sum(epoch_s)
    assert (len(once["epoch_s"].split()), once["epochs_after_first_s"]) == (1, "")
    assert by_cell["mxnet-1.9.1-cpu/mlp-train-b32", "0"]["epoch_s"] == ""
    cells = {cell["cell"]["id"]: cell for cell in data_of(render(RUN, report, "json"))["cells"]}
    measured = cells[timed["cell"]]["repeats"][0]["measurement"]
    assert measured["epochs"]["epoch_s"] == epoch_s


def test_json_is_strict_without_raw_samples() -> None:
    """The JSON is strict and leaves raw samples to their files."""
    value = data_of(render(RUN, s.example(), "json"))

    assert value["schema"] == 1
    assert "step_s" not in render(RUN, s.example(), "json")
    assert [cell["cell"]["id"] for cell in value["cells"]] == [cell.cell.id for cell in s.example().cells]


def test_markdown_tables_keep_their_columns() -> None:
    """Markdown tables keep their columns, whatever a reason holds."""
    lines = render(RUN, evil(), "md").split("## Skipped")[1].split("## Environment")[0].splitlines()
    rows = [line for line in lines if line.startswith("|")]

    assert len(rows) == 3
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a|b", r"a\|b"), ("<b>", r"\<b\>"), ("oom_host", "oom_host"), ("_x_", r"\_x\_"), ("a\nb\tc", "a b c")],
)
def test_markdown_shows_special_characters_as_they_are(text: str, expected: str) -> None:
    assert escape(text) == expected


def test_fence_is_longer_than_backticks_inside() -> None:
    """A fence is longer than any run of backticks inside it."""
    assert fence("a ```` b").splitlines()[0] == "`````text"


@pytest.mark.parametrize(
    "render", [lambda report: terminal(report, 120), lambda report: render(RUN, report, "md")], ids=["terminal", "md"]
)
def test_ranking_help_comes_with_a_ranking(render: Callable[[Report], str]) -> None:
    """The explanation of how to read a ranking is shown only where there is one."""
    script = replace(s.cell(s.MXNET, s.Workload("a", Mode.SCRIPT, 1)), script=SCRIPT)
    plan = replace(s.plan([s.cell(s.TORCH)]), cells=(script,))

    assert "geometric mean over the repeats" in render(s.example())
    assert "geometric mean" not in render(compose(s.record(plan), plan, [s.failed(script, 0, Status.FAILED, "broke")]))


def test_junit_has_a_case_per_repeat() -> None:
    """JUnit has a case for every repeat and every skip, with a typed result."""
    report = s.example()
    xml = junitparser.JUnitXml.fromstring(render(RUN, report, "junit").encode())

    cases = [case for suite in xml for case in suite]
    assert len(cases) == sum(count for _, count in report.statuses) + len(report.skips)
    kinds = Counter(type(case.result[0]).__name__ if case.result else "passed" for case in cases)
    assert kinds == {"passed": 23, "Error": 6, "Failure": 1, "Skipped": 4}
    (timeout,) = [case for case in cases for found in case.result if found.type == "timeout"]
    assert (timeout.classname, timeout.name) == ("torch-2.13.0-cpu/lenet-train-b200", "repeat 2")
    assert (timeout.time, timeout.result[0].message) == (3.0, "no result within 600 s")
    assert "Traceback" in timeout.system_err
    assert (xml.tests, xml.errors, xml.failures, xml.skipped) == (34, 6, 1, 4)


def test_junit_takes_what_the_matrix_expects_for_passed() -> None:
    cell = s.cell(s.TORCH, repeats=1, expect=Status.OOM_DEVICE)
    plan = s.plan([cell])
    report = compose(s.record(plan), plan, [s.failed(cell, 0, Status.OOM_DEVICE, "too small")])

    (suite,) = junitparser.JUnitXml.fromstring(render(RUN, report, "junit").encode())
    (case,) = suite
    assert case.result == []
    assert case.system_out.startswith("oom_device, as the matrix expects: too small")


def test_junit_spells_out_control_characters() -> None:
    cell = s.cell(s.TORCH, repeats=1)
    cell = replace(cell, id="torch\x1b[31m\ud800/x")
    plan = s.plan([cell])

    text = render(RUN, compose(s.record(plan), plan, []), "junit")

    (suite,) = junitparser.JUnitXml.fromstring(text.encode())
    assert next(iter(suite)).classname == "torch\\x1b[31m\\xd800/x"


def test_a_disturbed_repeat_is_marked_where_it_stands() -> None:
    cell = s.cell(s.TORCH, repeats=2)
    plan = s.plan([cell])
    first, second = s.ok(cell, [100.0, 101.0])
    stored = [replace(first, outcome=replace(first.outcome, disturbance="others used 0.9 CPUs")), second]
    report = compose(s.record(plan), plan, stored)

    page = render(RUN, report, "html")
    assert page.count("<b>1</b> disturbed") == 1
    assert page.count('<span class="chip open">disturbed</span>') == 1
    rows = list(csv.DictReader(io.StringIO(render(RUN, report, "csv"))))
    assert [row["disturbance"] for row in rows] == ["others used 0.9 CPUs", ""]
    assert render(RUN, report, "junit").count("disturbed: others used 0.9 CPUs") == 1
