"""The page of a run: well formed, self-contained, bounded, and safe with foreign text."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from orchestrator.domain import Mode, Status
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.formats import render
from orchestrator.reporting.formats.html import named_texts
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.run.page import pages, write_html
from orchestrator.results.contract import Conditions, GpuConditions
from orchestrator.results.evidence import Stored
from orchestrator.results.scripts.contract import PrintedMemory, PrintedValues, ScriptResult
from tests.unit.reporting import synthetic as s
from tests.unit.reporting.formats.reports_with_texts import SCRIPT, evil


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
    assert page.stat().st_size < 160_000


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
