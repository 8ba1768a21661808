"""Hostile text at every place where a report has text from elsewhere: each format stays whole, and shows it as text."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from orchestrator.analysis.parity.work import PairParity, WorkParity
from orchestrator.domain import Cell, Mode, Outcome, Skip, Status, Workload
from orchestrator.events import BuildFinished, Notice, RepeatFinished
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import formats_of, render
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.live import plain
from orchestrator.reporting.reports.run import RUN
from orchestrator.results.evidence import Stored
from orchestrator.results.scripts.contract import PrintedMemory, PrintedValues, ScriptResult
from orchestrator.studies import Claim, LeftOutPart, PublishedValue, StandIn, Study
from orchestrator.user_files import PrintedMetric, Script
from tests.effort import examples
from tests.envelopes import data_of
from tests.unit.reporting import synthetic as s

NASTY = (
    *("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1"),
    *("]]>", "<![CDATA[", "&#0;", "&lt;", "<!--", "-->", "</details>", "</pre>", "</script>", "<img src=x onerror=a>"),
    *("\x00", "\x08", "\x0b", "\x0c", "\x1b[31m", "\x1b]8;;http://x\x07", "\x1b", "\x7f", "\x85", "\x9b31m"),
    *("\ud800", "\udfff", "\ufffe", "\uffff", "\u202e", "\u2066", "\u200f", "\u2028", "\u2029"),
    *("```", "````\n# x", "| a | b |", "[x](javascript:a)", "[red]", "[/]", "{{ 7*7 }}", "{% x %}"),
    *("'\"", "\\", "a\n\n# b"),
    "x" * 20_000,
)  # fmt: skip
hostile = st.lists(st.sampled_from(NASTY) | st.text(max_size=8), min_size=1, max_size=4).map("".join)
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printing(text: str) -> Cell:
    """A cell of a script, with a figure in a unit of its own."""
    cell = s.cell(s.MXNET, Workload(text, Mode.SCRIPT, 1), repeats=2)
    return replace(
        cell,
        script=Script(text, (PrintedMetric("figure", ".", text, PrintedMetric.Better.HIGHER),), path=f"/{text}"),
        id=f"s/{text}",
    )


def printed(cell: Cell, text: str) -> Stored:
    answer = ScriptResult(
        measurement_version=1, cell=cell.id, repeat=0, started_at="2026-01-02T03:04:05Z", wall_s=1.0,
        metrics={"figure": PrintedValues(values=(1.0,), matches=1)}, memory=PrintedMemory(peak_rss_bytes=1),
        facts={"said": text.encode("utf-8", "replace").decode()},
    )  # fmt: skip
    return Stored(Outcome(cell.id, 0, Status.OK), None, answer)


def study_of(text: str, cells: Sequence[Cell]) -> Study:
    value, ids = PublishedValue(2.0), [cell.id for cell in cells]
    claims = (Claim(text, text, "throughput", ids[0], ids[1], value, text, caveats=(text,)),)
    return Study(text, text, "https://example.org", (StandIn(text, text, text),), (LeftOutPart(text, text),), claims)


def report_of(text: str) -> Report:
    """Two cells that are compared, one that failed, a script, a claim: every name, reason and log is the text."""
    framework = replace(s.MXNET, name=text, version=text, python=text, packages=((text, text),), image=text)
    options = ((text, text),)
    workload = Workload(text, Mode.TRAIN, 10, text)
    cells = [
        replace(s.cell(framework, workload, options=options, repeats=2), id=f"{number}/{text}", image=text)
        for number in range(3)
    ]
    script = printing(text)
    plan = replace(
        s.plan([]), name=text, cells=(*cells, script), skips=(Skip(text, text),), warnings=(text,), parity=True,
        study=study_of(text, cells),
    )  # fmt: skip
    record = s.record(plan).model_copy(update={"run": text, "host": {text: text}, "runtime": text, "created_at": text})
    failing = [s.failed(cells[2], repeat, Status.FAILED, text) for repeat in range(2)]
    measured = [
        replace(each, outcome=replace(each.outcome, cell_id=cell.id, log=text, disturbance=text))
        for cell in cells[:2]
        for each in s.ok(s.cell(s.MXNET, repeats=2), [100.0, 90.0])
    ]
    stored = [*measured, *failing, printed(script, text)]
    apart = PairParity(WorkParity.NOT_COMPARABLE, text, known_fault=text, note=text)
    # The reason is left out of the log's end, so that there is one.
    return compose(record, plan, stored, lambda _: f"{text}\nthe end", judge=lambda _one, _other: apart)


REPEATS = 3 * 2 + 2


def of_terminal(report: Report) -> str:
    console = Console(width=120, file=io.StringIO(), no_color=True, force_terminal=False)
    console.print(shown(RUN, report))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@settings(max_examples=examples(25))
@given(hostile)
def test_junit_is_xml_with_every_case(text: str) -> None:
    """JUnit is XML with a case for every repeat and skip."""
    xml = render(RUN, report_of(text), "junit")

    suites = ElementTree.fromstring(xml.encode())
    assert len(list(suites.iter("testcase"))) == REPEATS + 2
    assert {each.tag for each in suites.iter()} <= {
        "testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out", "system-err",
    }  # fmt: skip
    assert not CONTROLS.search(xml)
    assert not re.search("[\ufffe\uffff]", xml), "which no XML may hold"


@settings(max_examples=examples(25))
@given(hostile)
def test_csv_has_no_formula_and_all_columns(text: str) -> None:
    """No field of the CSV is a formula, and every row has every column."""
    found = render(RUN, report_of(text), "csv")

    heads, *rows = csv.reader(io.StringIO(found))
    assert len(rows) == REPEATS + 2
    assert {len(row) for row in rows} == {len(heads)}
    for field in (field for row in (heads, *rows) for field in row):
        assert not field.startswith(("=", "+", "-", "@", "\t", "\r")), field
        assert "\n" not in field
    assert not CONTROLS.search(found)
    found.encode()


@settings(max_examples=examples(25))
@given(hostile)
def test_markdown_keeps_columns_and_adds_no_markup(text: str) -> None:
    """Markdown tables keep their columns, and no text becomes markup."""
    found = render(RUN, report_of(text), "md")

    assert not CONTROLS.search(found)
    found.encode()
    outside, fence = [], ""
    for line in found.split("\n"):
        mark = re.fullmatch(r"(`{3,})(text)?", line)
        if fence or (mark and mark[2]):
            fence = "" if line == fence else fence or (mark[1] if mark else "")
        else:
            outside.append(line)
    assert fence == "", "every block of code ends"
    columns, summaries = None, 0
    for line in outside:
        is_row = line.startswith("|")
        if is_row:
            columns = columns or len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))
            assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == columns, line
        columns = columns if is_row else None
        if line.startswith("<"):  # a block of HTML, where a backslash is one
            html = re.fullmatch(r"<details><summary>([^<>]*)</summary>|</details>", line)
            assert html, line
            assert not re.search(r"&(?!(amp|lt|gt|quot|#x27);)", html[1] or ""), line
            summaries += html[1] is not None
            continue
        bare = re.sub(r"\\.", "", line)
        assert not re.search(r"[<`\[]", bare.removeprefix("> ")), line
        assert not line.startswith("#") or re.match(r"#{1,2} \S", line)
    assert summaries == 1


class Page(HTMLParser):
    """The tags and attributes of a page, which must nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()
        self.open: list[str] = []
        self.scripts = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {(tag, name) for name, _ in attrs} | {(tag, "")}
        self.scripts += tag == "script"
        for name, value in attrs:
            assert name not in {"href", "src"} or not re.match(r"(?i)\s*(javascript:|data:[^,]|https?:)", value or "")
        if tag not in {"meta", "link", "img", "br", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


HARMLESS = Page(render(RUN, report_of("harmless"), "html"))


@settings(max_examples=examples(15))
@given(hostile)
def test_page_gains_no_tag_or_attribute(text: str) -> None:
    """The page has no tag and no attribute that the page of a harmless report lacks."""
    found = render(RUN, report_of(text), "html")

    page = Page(found)
    assert page.open == []
    assert page.found <= HARMLESS.found
    assert page.scripts == HARMLESS.scripts
    assert not CONTROLS.search(found)
    found.encode()


@settings(max_examples=examples(25))
@given(hostile)
def test_the_terminal_gets_nothing_that_steers_it(text: str) -> None:
    found = of_terminal(report_of(text))

    assert not CONTROLS.search(found)
    found.encode()


@settings(max_examples=examples(25))
@given(hostile)
def test_json_is_writable_and_steers_nothing(text: str) -> None:
    """The JSON can be written and steers no terminal."""
    found = render(RUN, report_of(text), "json")

    found.encode()
    assert not CONTROLS.search(found)
    assert data_of(found)["run"] == text


@given(hostile)
def test_a_line_of_progress_is_one_line(text: str) -> None:
    outcome = Outcome(text, 0, Status.FAILED, text, disturbance=text)
    for event in (Notice(text), BuildFinished(text, 1.0, reason=text), RepeatFinished(outcome, None)):
        said = plain.line(event, 1)
        assert "\n" not in said
        assert not CONTROLS.search(said)


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text[:20]))
def test_every_format_shows_each_text_alone(text: str) -> None:
    """Each hostile text alone is shown by every format."""
    report = report_of(text)

    for name in formats_of(RUN):
        render(RUN, report, name).encode()
    of_terminal(report).encode()
