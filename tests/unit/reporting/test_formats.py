import csv
import io
import json
import os
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from orchestrator.domain import Status
from orchestrator.reporting import FORMATS, Report, document, html_text, table, write_html
from orchestrator.reporting.as_csv import COLUMNS, csv_text
from orchestrator.reporting.as_html import chart_data
from orchestrator.reporting.as_markdown import escape, fence
from tests.unit.reporting import synthetic as s

GOLDEN = Path(__file__).parents[2] / "golden" / "reports"
EVIL = '=HYPERLINK("x")|`</script><img src=x onerror=alert(1)>&{{ 7*7 }}[red]\x1b[31m\x1b]0;t\x07\u202e'


def terminal(report: Report, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), no_color=True, force_terminal=False)
    console.print(table(report))
    assert isinstance(console.file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


@pytest.mark.parametrize(
    ("name", "render"),
    [
        ("example.md", FORMATS["md"]),
        ("example.csv", FORMATS["csv"]),
        ("example.json", FORMATS["json"]),
        ("example-80.txt", lambda report: terminal(report, 80)),
        ("example-120.txt", lambda report: terminal(report, 120)),
    ],
)
def test_a_report_reads_as_it_did(name: str, render: Callable[[Report], str]) -> None:
    """`UPDATE_GOLDEN=1 pytest …` writes the files anew; look at what changed before you commit it."""
    text = render(s.example())
    if os.environ.get("UPDATE_GOLDEN") == "1":
        (GOLDEN / name).write_text(text)

    assert text == (GOLDEN / name).read_text()


@pytest.mark.parametrize("name", [*FORMATS, "table"])
def test_every_cell_every_status_and_every_skip_is_in_every_format(name: str) -> None:
    report = s.example()
    # A narrow terminal folds long words; a wide one shows them whole.
    text = terminal(report, 400) if name == "table" else FORMATS[name](report)
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
def test_a_reason_that_hit_ten_cells_is_told_once_with_its_log(name: str) -> None:
    cells = [s.cell(s.Framework("mxnet", f"1.{number}", python="3.11"), repeats=1) for number in range(10)]
    plan = s.plan(cells)
    stored = [s.failed(cell, 0, Status.BUILD_FAILED, "the reason") for cell in cells]
    report = document(s.record(plan), plan, stored, lambda _: "end of the log\nthe reason")
    text = terminal(report, 200) if name == "table" else FORMATS[name](report)
    text = text.split('id="repeats"')[0]  # the page's list of every repeat gives each its reason

    assert text.count("the reason") == 2  # as the reason, and where the log ends with it
    assert text.count("end of the log\n") == 1
    for cell in cells:
        assert cell.id in text


def evil() -> Report:
    """A report in which everything that can be foreign text is."""
    cell = s.cell(s.Framework("mxnet", EVIL, python=EVIL), repeats=2)
    plan = s.plan([])
    plan = s.Plan(EVIL, 1, (), (cell,), (s.Skip(EVIL, EVIL),), (EVIL,))
    record = s.record(plan).model_copy(update={"host": {EVIL: EVIL}, "runtime": EVIL, "created_at": EVIL})
    return document(record, plan, [*s.ok(cell, [100.0]), s.failed(cell, 1, Status.FAILED, EVIL)], lambda _: EVIL)


def test_no_format_for_people_lets_control_sequences_through() -> None:
    report = evil()

    for text in (terminal(report, 100), FORMATS["md"](report), FORMATS["csv"](report), html_text(report)):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_terminal_markup_in_a_text_stays_text() -> None:
    assert "[red]" in terminal(evil(), 200)


def test_no_text_field_of_the_csv_starts_a_formula() -> None:
    for row in csv.DictReader(io.StringIO(csv_text(evil()))):
        for value in row.values():
            assert not value.startswith(("=", "+", "-", "@", "\t")), row
    (first, *_) = csv.DictReader(io.StringIO(csv_text(evil())))
    assert first["version"].startswith("'=HYPERLINK")


def test_the_csv_has_a_row_per_planned_repeat_and_skip_with_figures_of_that_repeat() -> None:
    report = s.example()
    rows = list(csv.DictReader(io.StringIO(csv_text(report))))

    assert len(rows) == sum(count for _, count in report.statuses) + len(report.skips)
    assert tuple(rows[0]) == COLUMNS
    torch = [row for row in rows if row["cell"] == "torch-2.13.0-cpu/lenet-train-b200"]
    assert [row["status"] for row in torch] == ["ok", "ok", "timeout"]
    assert torch[0]["latency_p99_s"] != torch[1]["latency_p99_s"]
    assert torch[2]["samples_per_s"] == ""
    found = report.by_id["torch-2.13.0-cpu/lenet-train-b200"].repeats[0].measurement
    assert found is not None
    assert float(torch[0]["samples_per_s"]) == found.samples_per_s


def test_the_csv_and_the_json_have_the_total_time_of_epoch_runs_and_every_epoch() -> None:
    report = s.example()
    rows = [row for row in csv.DictReader(io.StringIO(csv_text(report))) if row["model"] == "mlp"]
    by_cell = {(row["cell"], row["repeat"]): row for row in rows}
    (timed, once) = (by_cell[f"{name}-cpu/mlp-train-b256", "0"] for name in ("mxnet-1.9.1", "torch-2.13.0"))
    epoch_s = [float(each) for each in timed["epoch_s"].split()]

    assert len(epoch_s) == 3
    assert float(timed["epochs_after_first_s"]) == pytest.approx(sum(epoch_s[1:]))
    assert float(timed["epochs_total_s"]) > sum(epoch_s)
    assert (len(once["epoch_s"].split()), once["epochs_after_first_s"]) == (1, "")
    assert by_cell["mxnet-1.9.1-cpu/mlp-train-b32", "0"]["epoch_s"] == ""
    cells = {cell["cell"]["id"]: cell for cell in json.loads(FORMATS["json"](report))["cells"]}
    measured = cells[timed["cell"]]["repeats"][0]["measurement"]
    assert measured["epochs"]["epoch_s"] == epoch_s


def test_the_json_is_strict_and_leaves_raw_samples_to_their_files() -> None:
    value = json.loads(FORMATS["json"](s.example()), parse_constant=pytest.fail)

    assert value["schema"] == 1
    assert "step_s" not in FORMATS["json"](s.example())
    assert [cell["cell"]["id"] for cell in value["cells"]] == [cell.cell.id for cell in s.example().cells]


def test_markdown_tables_keep_their_columns_whatever_a_reason_holds() -> None:
    lines = FORMATS["md"](evil()).split("## Skipped")[1].split("## Environment")[0].splitlines()
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


def test_a_fence_is_longer_than_any_run_of_backticks_inside() -> None:
    assert fence("a ```` b").splitlines()[0] == "`````text"


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in {"meta", "link", "img", "br"}:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in {"href", "src"}:
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_with_cell_ids_as_anchors_and_no_foreign_address() -> None:
    report = s.example()
    page = Page(html_text(report, "../run"))

    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert {cell.cell.id for cell in report.cells} <= set(page.ids)
    assert not [link for link in page.links if link.startswith(("http", "//"))]
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside <= {re.sub("=", "%3D", each) for each in page.ids}


def test_the_page_escapes_foreign_text() -> None:
    text = html_text(evil())

    assert "<img" not in text
    assert Page(text).tags.count("script") == 3
    assert "{{ 7*7 }}" in text


def test_links_to_raw_files_are_relative_and_there_only_where_a_run_folder_is(tmp_path: Path) -> None:
    run = tmp_path / "a run"
    page = write_html(s.example(), tmp_path / "pages" / "x", run).read_text()

    assert 'href="../../a%20run/mxnet-1.9.1-cpu/lenet-train-b200/0/result.json"' in page
    assert "result.json" not in html_text(s.example()).split("<script", maxsplit=1)[0]


def test_the_script_is_written_once_beside_the_pages(tmp_path: Path) -> None:
    page = write_html(s.example(), tmp_path)
    script = tmp_path / "plotly.min.js"
    before = script.stat().st_mtime_ns

    write_html(s.example(), tmp_path)
    assert script.stat().st_mtime_ns == before

    script.write_text("cut short")
    write_html(s.example(), tmp_path)
    assert script.stat().st_size > 1_000_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html", "plotly.min.js"]
    assert page.stat().st_size < 150_000


def test_charts_of_a_large_run_draw_a_bounded_number_of_steps() -> None:
    cells = [s.cell(s.Framework("mxnet", f"1.{number}", python="3.11"), repeats=2) for number in range(300)]
    plan = s.plan(cells)
    stored = [item for cell in cells[:250] for item in s.ok(cell, [100.0, 101.0])]
    many = [
        s.Stored(item.outcome, item.result.model_copy(update={"latency_s": item.result.latency_s * 20}))
        for item in stored
        if item.result
    ]

    data = chart_data(document(s.record(plan), plan, many))

    (drawn,) = data.values()
    assert len(drawn) == 250
    assert sum(len(cell["steps_ms"]) for cell in drawn) <= 60_000
