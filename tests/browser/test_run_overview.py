"""The top of a run's page in a real browser: heat map, baselines, contents, folded parts and addresses."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from orchestrator.domain import Mode, Status, Workload
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.reports.run.page import write_html
from tests.unit.reporting import synthetic

pytestmark = pytest.mark.browser
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--no-first-run"]
FRAMEWORKS = (synthetic.MXNET, synthetic.TORCH, synthetic.TENSORFLOW)
WORKS = tuple(
    Workload(model, mode, 32) for model in ("lenet", "mlp", "lstm", "rnn") for mode in (Mode.TRAIN, Mode.INFER)
)
HOSTILE = "<img src=x onerror=alert(1)>"


def compared(works: int = len(WORKS), warnings: int = 5, repeats: int = 3) -> Report:
    """A run of several frameworks, in which one of them times out in the last work."""
    draw = random.Random(1)
    cells = [synthetic.cell(framework, work, repeats=repeats) for work in WORKS[:works] for framework in FRAMEWORKS]
    plan = synthetic.plan(cells, warnings=tuple(f"warning {number} {HOSTILE}" for number in range(warnings)))
    stored = []
    for cell in cells[:-1]:
        rate = 1000 * 2 ** draw.uniform(-1.5, 1.5)
        stored += synthetic.ok(cell, [rate * draw.lognormvariate(0, 0.01) for _ in range(repeats)])
    stored += [
        synthetic.failed(cells[-1], number, Status.TIMEOUT, "no result within 600 s") for number in range(repeats)
    ]
    return compose(synthetic.record(plan), plan, stored)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def report() -> Report:
    return compared()


@pytest.fixture(scope="module")
def address(report: Report, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("run")
    return write_html(report, folder / "report", folder).as_uri()


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The index of a report of many pages."""
    folder = tmp_path_factory.mktemp("paged")
    cells = [
        synthetic.cell(synthetic.Framework("mxnet", f"1.{number}", python="3.11"), work, repeats=2)
        for work in WORKS[:4] for number in range(110)
    ]  # fmt: skip
    plan = synthetic.plan(cells)
    stored = [item for cell in cells for item in synthetic.ok(cell, [100.0, 101.0])]
    return write_html(compose(synthetic.record(plan), plan, stored), folder / "report", folder).as_uri()


def opened(browser: Browser, address: str, **settings: Any) -> Page:
    page = browser.new_context(**settings).new_page()
    page.goto(address)
    return page


def figures(page: Page) -> list[list[str]]:
    rows: list[list[str]] = page.evaluate(
        """() => [...document.querySelectorAll('.heatmap tbody tr')].map(
            row => [...row.cells].slice(1).map(cell => cell.textContent.trim()))"""
    )
    return rows


def rates(report: Report) -> list[list[float | None]]:
    by_id = report.by_id
    rows = []
    for group in report.groups:
        of_label = {place.label: by_id[place.cell_id].measurement for place in group.places}
        found = [of_label.get(framework.label) for framework in FRAMEWORKS]
        rows.append([each.throughput.value if each else None for each in found])
    return rows


def test_a_heat_map_has_ratios_to_the_fastest(browser: Browser, address: str, report: Report) -> None:
    shown = figures(opened(browser, address))

    assert len(shown) == len(WORKS)
    for texts, values in zip(shown, rates(report), strict=True):
        best = max(value for value in values if value is not None)
        for text, value in zip(texts, values, strict=True):
            if value is None:
                assert text == "timeout"
            else:
                assert float(text.removeprefix("≈ ")) == pytest.approx(value / best, abs=0.006)


@pytest.mark.parametrize("column", range(len(FRAMEWORKS)))
def test_a_reader_picks_the_baseline(browser: Browser, address: str, report: Report, column: int) -> None:
    """Every ratio and every mean is to the framework that was picked, and the address says which that is."""
    page = opened(browser, address)
    before = figures(page)
    page.get_by_label("Baseline").select_option(FRAMEWORKS[column].label)

    for texts, values in zip(figures(page), rates(report), strict=True):
        base = values[column]
        for text, value in zip(texts, values, strict=True):
            if value is not None and base is not None:
                assert float(text.removeprefix("≈ ").replace(",", "")) == pytest.approx(value / base, rel=0.01)
            elif value is not None:
                assert text == "–"
    means = page.locator(".heatmap tfoot td").all_text_contents()
    assert means[column] == "1.00"
    assert FRAMEWORKS[column].name in page.url
    again = opened(browser, page.url)
    assert figures(again) == figures(page)
    page.get_by_label("Baseline").select_option("")
    assert figures(page) == before
    assert "baseline" not in page.url


def test_the_same_color_means_the_same(browser: Browser, address: str) -> None:
    """The classes that the page comes with are those that its script would give."""
    page = opened(browser, address)
    names = "[...document.querySelectorAll('.heatmap td[data-rate]')].map(c => c.className)"
    before = page.evaluate(names)
    page.get_by_label("Baseline").select_option(FRAMEWORKS[0].label)
    page.get_by_label("Baseline").select_option("")

    assert page.evaluate(names) == before
    assert {name.split()[0] for name in before} >= {"heat0", "heat-3"}


def test_every_address_has_its_place(browser: Browser, address: str, paged: str) -> None:
    """No link leads to a place that is not on its page, from whichever page."""
    for start in (address, paged, urljoin(paged, "groups-0001.html"), urljoin(paged, "groups-0002.html")):
        links = opened(browser, start).evaluate("[...document.querySelectorAll('a[href*=\"#\"]')].map(a => a.href)")
        assert links
        by_page: dict[str, set[str]] = {}
        for link in links:
            target, place = urldefrag(link)
            by_page.setdefault(target, set()).add(unquote(place))
        for target, wanted in by_page.items():
            ids = set(opened(browser, target).evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)"))
            assert wanted - ids == set(), target


@pytest.mark.parametrize("page_name", ["index.html", "groups-0001.html", "groups-0002.html"])
@pytest.mark.parametrize("place", ["mxnet-1.7-cpu/mlp-infer-b32", "environment", "group/cpu/lenet-train-b32"])
def test_an_address_works_on_any_page(browser: Browser, paged: str, page_name: str, place: str) -> None:
    page = opened(browser, urljoin(paged, f"{page_name}#{place}"))
    page.wait_for_function(f"document.getElementById({place!r}) !== null")

    assert urldefrag(page.url)[1] == place


def test_an_address_in_a_folded_part_opens_it(browser: Browser, address: str) -> None:
    page = opened(browser, address)
    place = page.evaluate("document.querySelector('section.group > details [id]').id")
    fresh = opened(browser, f"{address}#{place}")

    assert fresh.evaluate("id => document.getElementById(id).closest('details').open", place)
    assert fresh.locator("section.group > details[open]").count() == 1


def test_many_warnings_are_folded_with_their_number(browser: Browser, address: str) -> None:
    page = opened(browser, address)
    folded = page.locator("#summary > details")

    assert folded.locator("summary").text_content() == "5 warnings"
    assert not page.get_by_text("warning 3").is_visible()
    folded.locator("summary").click()
    assert page.get_by_text(f"warning 3 {HOSTILE}").is_visible()


def test_few_warnings_are_not_folded(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, write_html(compared(2, warnings=2), tmp_path / "report", tmp_path).as_uri())

    assert page.locator("#summary .note").count() == 2
    assert page.locator("#summary > details").count() == 0


def test_a_finding_is_said_once(browser: Browser, address: str, report: Report) -> None:
    text = opened(browser, address).locator("body").text_content() or ""

    for group in report.groups:
        assert text.count(group.sentence.removeprefix("Inconclusive: ")) == 1


def test_contents_lead_to_every_section(browser: Browser, address: str) -> None:
    page = opened(browser, address)
    headings = page.locator("main > section > h2").all_text_contents()
    listed = page.locator("nav.toc a").all_text_contents()

    assert sorted(listed) == sorted(headings)
    page.locator("nav.toc").get_by_role("link", name="How to read this").click()
    assert page.locator("#reading").is_visible()


@pytest.mark.parametrize("width", [1440, 768, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_overview(browser: Browser, address: str, width: int, scheme: str) -> None:
    page = opened(browser, address, viewport={"width": width, "height": 900}, color_scheme=scheme)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.get_by_label("Baseline").select_option(FRAMEWORKS[1].label)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")

    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]

    assert [(each["id"], [node["html"] for node in each["nodes"][:3]]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []


def test_the_overview_is_reached_by_keys_alone(browser: Browser, address: str) -> None:
    page = opened(browser, address)
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.getAttribute('href') || ''"))

    assert {"filter", "baseline", "#contents"} <= reached
    assert any(each.startswith("#group/") for each in reached)


def test_print_leaves_out_contents_and_picker(browser: Browser, address: str) -> None:
    page = opened(browser, address)
    page.emulate_media(media="print")

    assert page.locator(".heatmap").is_visible()
    assert not page.locator(".pick").is_visible()
    assert not page.locator("nav.toc").is_visible()
