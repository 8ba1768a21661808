import base64
import csv
import hashlib
import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import junitparser
import pytest
from rich.console import Console

from orchestrator.domain import Mode, Status
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import formats_of, render
from orchestrator.reporting.formats.csv import harmless
from orchestrator.reporting.formats.html import named_texts
from orchestrator.reporting.formats.markdown import escape, fence
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.run.page import pages, write_html
from orchestrator.reporting.reports.run.records import COLUMNS
from orchestrator.results.contract import Conditions, GpuConditions
from orchestrator.results.evidence import Stored
from orchestrator.results.scripts.contract import PrintedMemory, PrintedValues, ScriptResult
from orchestrator.user_files import PrintedMetric, Script
from tests.envelopes import data_of
from tests.unit.reporting import synthetic as s

SCRIPT = Script(
    "bench",
    tuple(PrintedMetric(name, ".", "ms", PrintedMetric.Better.LOWER) for name in ("one", "two")),
    path="/bench.py",
)
GOLDEN = Path(__file__).parents[3] / "golden" / "reports"
EVIL = '=HYPERLINK("x")|`</script><img src=x onerror=alert(1)>&{{ 7*7 }}[red]\x1b[31m\x1b]0;t\x07\u202e'


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


@pytest.mark.parametrize("name", formats_of(RUN))
def test_every_format_holds_cells_statuses_and_skips(name: str) -> None:
    """Every cell, every status and every skip is in every format."""
    report = s.example()
    # A narrow terminal folds long words; a wide one shows them whole.
    text = terminal(report, 400) if name == "table" else render(RUN, report, name)
    plain = re.sub(r"\\(.)", r"\1", text) if name == "md" else text

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


def evil() -> Report:
    """A report in which everything that can be foreign text is."""
    cell = s.cell(s.Framework("mxnet", EVIL, python=EVIL), repeats=2)
    plan = s.plan([])
    plan = s.Plan(EVIL, 1, (), (cell,), (s.Skip(EVIL, EVIL),), (EVIL,))
    record = s.record(plan).model_copy(update={"host": {EVIL: EVIL}, "runtime": EVIL, "created_at": EVIL})
    return compose(record, plan, [*s.ok(cell, [100.0]), s.failed(cell, 1, Status.FAILED, EVIL)], lambda _: EVIL)


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


class Page(HTMLParser):
    """The parts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in {"meta", "link", "img", "br", "input"}:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in {"href", "src"}:
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_is_well_formed_and_self_contained() -> None:
    """The page is well formed, has the cell ids as anchors and links to no foreign address."""
    report = s.example()
    page = Page(dict(named_texts(pages(report, "../run")))["index.html"])

    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert {cell.cell.id for cell in report.cells} <= set(page.ids)
    assert not [link for link in page.links if link.startswith(("http", "//"))]
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside <= {re.sub("=", "%3D", each) for each in page.ids}


def test_page_shows_what_each_repeat_took() -> None:
    """The page shows of each repeat what memory, CPU time and disk space it took."""
    planned = s.cell(s.TORCH)
    (stored,) = s.ok(planned, [1000.0])
    assert stored.result is not None
    gpu = GpuConditions(energy_j=250.5, temperature_c=81, clock_hz=1_410_000_000, slowed_by=("power_limit",))
    blocks = tuple(
        block.model_copy(update={"conditions": Conditions(wall_s=1, cpu_s=1, gpus=(gpu,))})
        for block in stored.result.blocks[:2]
    )
    watched = replace(stored, result=stored.result.model_copy(update={"blocks": blocks}))
    plan = s.plan([planned])
    plain, with_gpus = (panel(render(RUN, compose(s.record(plan), plan, [each]), "html")) for each in (stored, watched))

    assert re.search(r"0 3\d\d MB 21\.5 s 750 ms 12 MB 4 kB$", plain)
    assert re.search(r"0 3\d\d MB 21\.5 s 750 ms 12 MB 4 kB 501 J 81 °C 1410 MHz power limit$", with_gpus)


def panel(page: str) -> str:
    """The last row of the panel of resources, as words."""
    found = page.split("<summary>Memory, CPU time and disk</summary>")[1].split("</table>", maxsplit=1)[0]
    return " ".join(re.sub(r"<[^>]*>", " ", found.split("<tr")[-1]).split()[1:])


def test_the_page_escapes_foreign_text() -> None:
    text = render(RUN, evil(), "html")

    assert "<img" not in text
    assert Page(text).tags.count("script") == 1
    assert "{{ 7*7 }}" in text


def test_raw_file_links_are_relative(tmp_path: Path) -> None:
    """Links to raw files are relative, and there are some only where a run folder is."""
    run = tmp_path / "a run"
    page = write_html(s.example(), tmp_path / "pages" / "x", run).read_text()

    assert 'href="../../a%20run/mxnet-1.9.1-cpu/lenet-train-b200/0/result.json"' in page
    assert "result.json" not in render(RUN, s.example(), "html").split("<script", maxsplit=1)[0]


def test_report_is_one_file(tmp_path: Path) -> None:
    """A report is one page of its own, without any other file next to it."""
    page = write_html(s.example(), tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    assert page.stat().st_size < 150_000


def test_policy_allows_only_the_pages_script() -> None:
    """The policy of the page lets its own script run and no other."""
    text = render(RUN, s.example(), "html")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()

    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text
    assert not re.search(r" on[a-z]+=", text)


def test_every_linked_target_exists() -> None:
    """Every link within the page has its target, and every file of a script is there."""
    bench, other = (replace(s.cell(s.MXNET, s.Workload(name, Mode.SCRIPT, 1)), script=SCRIPT) for name in ("a b", "c"))
    plan = replace(s.plan([s.cell(s.TORCH)]), cells=(s.cell(s.TORCH), bench, other))
    answer = ScriptResult(
        measurement_version=1, cell=bench.id, repeat=0, started_at="2026-01-02T03:04:05Z", wall_s=1.0,
        metrics={name: PrintedValues(values=(1.0,), matches=1) for name in ("one", "two")},
        memory=PrintedMemory(peak_rss_bytes=1), facts={},
    )  # fmt: skip
    (first,) = s.ok(bench, [1.0])
    stored = [Stored(first.outcome, None, answer), s.failed(bench, 1, Status.FAILED, "it broke")]
    report = compose(
        s.record(plan), plan, [*stored, *(s.failed(other, each, Status.TIMEOUT, "late") for each in (0, 1))]
    )

    page = Page(dict(named_texts(pages(report, "..")))["index.html"])

    assert {bench.id, other.id} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert {unquote(link[1:]) for link in page.links if link.startswith("#")} <= set(page.ids)
    files = {unquote(link) for link in page.links if link.startswith("../")}
    assert files == {
        f"../{bench.id}/0/result.json",
        *(f"../{bench.id}/{each}/log.txt" for each in (0, 1)),
        *(f"../{other.id}/{each}/log.txt" for each in (0, 1)),
    }


@pytest.mark.parametrize(
    "render", [lambda report: terminal(report, 120), lambda report: render(RUN, report, "md")], ids=["terminal", "md"]
)
def test_ranking_help_comes_with_a_ranking(render: Callable[[Report], str]) -> None:
    """The explanation of how to read a ranking is shown only where there is one."""
    script = replace(s.cell(s.MXNET, s.Workload("a", Mode.SCRIPT, 1)), script=SCRIPT)
    plan = replace(s.plan([s.cell(s.TORCH)]), cells=(script,))

    assert "geometric mean over the repeats" in render(s.example())
    assert "geometric mean" not in render(compose(s.record(plan), plan, [s.failed(script, 0, Status.FAILED, "broke")]))


def test_large_report_has_bounded_pages(tmp_path: Path) -> None:
    """A large report is an index with bounded pages that hold every cell."""
    cells = [s.cell(s.Framework("mxnet", f"1.{number}", python="3.11"), repeats=2) for number in range(400)]
    cells += [s.cell(framework, s.MLP, repeats=3) for framework in (s.MXNET, s.TORCH)]
    plan = s.plan(cells)
    report = compose(s.record(plan), plan, [item for cell in cells[-3:] for item in s.ok(cell, [100.0, 101.0])])

    index = write_html(report, tmp_path, tmp_path)

    pages = {path.name: Page(path.read_text()) for path in tmp_path.iterdir()}
    assert sorted(pages) == ["groups-0001.html", "groups-0002.html", "index.html"]
    held = [found for page in pages.values() for found in page.ids if found.startswith(("mxnet-", "torch-"))]
    assert sorted(held) == sorted(cell.id for cell in cells)
    assert all(page.open == [] and len(page.ids) == len(set(page.ids)) for page in pages.values())
    anchors = {f"{name}#{found}" for name, page in pages.items() for found in page.ids}
    linked = [link for link in pages["index.html"].links if link.startswith("groups-") and "#" in link]
    assert set(linked) <= anchors
    assert "groups-0002.html#group/cpu/mlp-train-b32" in linked
    assert len(linked) > 200
    assert index.stat().st_size < 200_000


def test_large_directory_ends_no_script() -> None:
    """The directory of a large report ends no script, whatever its names hold."""
    evil = s.Framework("mxnet", "1</script><img src=x>", python="3.11")
    cells = [s.cell(evil, repeats=2), *(s.cell(s.Framework("mxnet", f"1.{n}", python="3.11")) for n in range(400))]
    plan = s.plan(cells)

    index = dict(named_texts(pages(compose(s.record(plan), plan, s.ok(cells[0], [100.0, 101.0])))))["index.html"]

    data = re.search(r'<script type="application/json" id="directory">(.*?)</script>', index, re.DOTALL)
    assert data is not None
    listed = {row[0]: (page, row[1], row[2]) for page, _, _, rows in json.loads(data[1]) for row in rows}
    assert listed[cells[0].id] == ("groups-0001.html", "mxnet 1</script><img src=x>", "2 ok")
    assert len(listed) == 401
    assert "<img" not in index


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


def test_no_page_outgrows_its_bound() -> None:
    """No page grows beyond its bound, however many of anything the run has."""
    many_repeats = [s.cell(s.TORCH, repeats=9000), s.cell(s.MXNET, repeats=9000)]
    releases = [s.Framework("mxnet", f"1.{number}", python="3.11") for number in range(1500)]
    for cells in (many_repeats, [s.cell(release, repeats=1) for release in releases]):
        plan = s.plan(cells)
        stored = [s.failed(cell, 0, Status.FAILED, f"the reason of {cell.id} " * 4) for cell in cells]
        report = compose(s.record(plan), plan, stored, lambda _: "a line of a log\n" * 400)

        files = dict(named_texts(pages(report, "..")))

        assert len(files) > 2
        assert max(len(page.encode()) for page in files.values()) < 10_000_000
        assert sum(page.count(' id="mxnet-') for page in files.values()) >= len(cells) - 1
