"""The site over all runs in a real browser: every view from disk, asking for nothing from elsewhere."""

import functools
import http.server
import json
import math
import re
import statistics
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page

from orchestrator.workflows.host.host import Host
from orchestrator.workflows.publish import PublishOptions, publish
from tests.browser.test_report import Visit, browser, contrast
from tests.unit.reporting.site import everything
from tests.unit.reporting.site.everything import BROKEN, FAST, SLOW, STUDIED, SWEPT
from tests.unit.reporting.site.reading import index_of, rows

__all__ = ["browser"]
pytestmark = pytest.mark.browser
NIGHT = "20260424T030405Z-0018"
SERIES = "mxnet-*-cpu/lenet-train-b200"
VIEWS = {
    "overview": "",
    "releases": "?cols=label&rows=work",
    "behind": "behind?r=lenet&c=torch&cols=framework",
    "cell": f"cell?run={STUDIED}&id={quote(FAST.id)}",
    "hostile cell": f"cell?run={BROKEN}&id={quote(SLOW.id)}",
    "runs": "runs",
    "run": f"run?run={STUDIED}",
    "hostile run": f"run?run={BROKEN}",
    "regression test": "run?run=20260301T030405Z-slower",
    "compare": "compare",
    "hosts": "compare?kind=host",
    "all series": "series",
    "one series": f"series?name={quote(SERIES)}",
    "scaling": "scaling?f.host=bench-1",
    "frontier": "frontier",
    "pareto": "pareto",
    "nights": "nights",
    "searches": "searches",
    "studies": "claims",
    "found": "find?q=torch",
    "nowhere": "no-such-view",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    results = everything.results(folder / "results")
    known = everything.CORPUS / "nights" / "acknowledged.yaml"
    publish(PublishOptions(output=folder / "site", results=results, acknowledged=known), Host({"HOME": str(folder)}))
    return folder / "site"


def visit(browser: Browser, site: Path, view: str, **settings: object) -> Visit:
    settings = {"viewport": {"width": 1280, "height": 800}, **settings}
    visited = Visit(browser, f"{(site / 'index.html').as_uri()}#/{view}", **settings)
    settled(visited.page)
    return visited


def settled(page: Page) -> None:
    page.wait_for_selector("main h1")
    page.wait_for_timeout(150)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_draws_from_disk_alone(browser: Browser, site: Path, view: str) -> None:
    """It complains of nothing, asks for files of the site alone, and shows what it should."""
    visited = visit(browser, site, VIEWS[view])

    assert visited.complaints == []
    folder = site.as_uri()
    assert [url for url in visited.requests if not url.startswith((f"{folder}/", "data:", "blob:"))] == []
    heading = visited.page.locator("h1").inner_text()
    assert (heading == "Not here") == (view == "nowhere")
    assert heading != "Cannot be shown"
    assert visited.page.title().endswith(" · results")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_in_a_view(browser: Browser, site: Path, view: str, scheme: str) -> None:
    visited = visit(browser, site, VIEWS[view], color_scheme=scheme, viewport={"width": 1440, "height": 900})
    visited.open_all()

    assert visited.violations() == []


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_on_paper(browser: Browser, site: Path, view: str) -> None:
    visited = visit(browser, site, VIEWS[view], viewport={"width": 720, "height": 1000})
    visited.open_all()
    visited.page.emulate_media(media="print")

    assert visited.violations() == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_scrolls_no_view_sideways(browser: Browser, site: Path, view: str) -> None:
    for width in (390, 768):
        visited = visit(browser, site, VIEWS[view], viewport={"width": width, "height": 844})
        visited.open_all()

        assert visited.page.evaluate("document.documentElement.scrollWidth") <= width
        assert visited.violations() == []


@pytest.mark.parametrize("view", ["overview", "cell", "one series"])
def test_paper_shows_a_view_uncut(browser: Browser, site: Path, view: str) -> None:
    page = visit(browser, site, VIEWS[view], viewport={"width": 720, "height": 1000}).page

    assert page.pdf(format="A4", prefer_css_page_size=True)[:4] == b"%PDF"
    page.emulate_media(media="print")
    assert page.locator("header.page").is_hidden()
    assert page.locator(".take").first.is_hidden()
    wide = "[...document.querySelectorAll('table')].filter(t => t.offsetWidth > document.body.clientWidth + 1).length"
    assert page.evaluate(wide) == 0


@pytest.mark.parametrize("view", ["hostile cell", "hostile run", "runs", "overview", "studies", "hosts"])
def test_hostile_texts_stay_texts(browser: Browser, site: Path, view: str) -> None:
    visited = visit(browser, site, VIEWS[view])
    visited.open_all()
    page = visited.page

    assert page.locator("img, iframe, object, embed").count() == 0
    assert page.evaluate("[...document.scripts].every(script => script.src && !script.textContent)")
    assert "<script>alert(2)</script>" in page.locator("main").text_content()  # type: ignore[operator]
    assert visited.complaints == []


def test_logs_and_reasons_are_shown(browser: Browser, site: Path) -> None:
    page = visit(browser, site, VIEWS["hostile cell"]).page

    assert "<img src=x onerror=alert(1)>" in page.locator("pre").last.text_content()  # type: ignore[operator]
    assert page.get_by_role("table", name="Repeats").get_by_text("failed").count() == 2


def test_the_policy_stops_what_is_injected(browser: Browser, site: Path) -> None:
    """Scripts, styles, frames and requests that a hole would let in do nothing."""
    visited = visit(browser, site, "")
    done = visited.page.evaluate(
        """async () => {
            const script = document.createElement("script");
            script.textContent = "window.injected = true";
            document.body.append(script);
            const link = document.createElement("a");
            link.setAttribute("onclick", "window.clicked = true");
            document.body.append(link);
            link.click();
            let fetched = true;
            try { await fetch("data/none"); } catch { fetched = false; }
            const frame = document.createElement("iframe");
            frame.src = "https://example.org/";
            document.body.append(frame);
            return [window.injected ?? false, window.clicked ?? false, fetched];
        }"""
    )

    assert done == [False, False, False]
    assert [url for url in visited.requests if url.startswith("http")] == []


def test_a_field_is_the_ratio_of_the_figures(browser: Browser, site: Path) -> None:
    """A field of the overview is the geometric mean of the ratios that can be worked out from the columns."""
    page = visit(browser, site, "?rows=model&cols=framework&base=torch&f.host=bench-1&from=2026-05-02").page
    shown = page.locator("tbody tr", has=page.get_by_role("rowheader", name="lenet")).locator("td.heat")
    values = rows(site, "throughput")
    batches = [
        cell.removeprefix("mxnet-1.9.1-cpu/") for run, cell in values if run == SWEPT and cell.startswith("mxnet")
    ]
    logs = [
        math.log(values[SWEPT, f"mxnet-1.9.1-cpu/{work}"][0] / values[SWEPT, f"torch-2.13.0-cpu/{work}"][0])  # type: ignore[operator]
        for work in batches
    ]

    expected = math.exp(statistics.fmean(logs))
    heads = page.locator("thead th").all_inner_texts()
    place = next(number for number, head in enumerate(heads) if head.startswith("mxnet"))
    assert len(batches) == len(everything.SIZES)
    assert float(shown.nth(place).inner_text().split("×")[0]) == pytest.approx(expected, abs=0.006)


def test_a_baseline_is_chosen_by_its_head(browser: Browser, site: Path) -> None:
    page = visit(browser, site, "?cols=framework").page
    head = page.locator("thead").get_by_role("button", name="torch", exact=True)
    head.focus()
    page.keyboard.press("Enter")

    assert "base=torch" in page.url
    assert page.locator("thead th.base").inner_text().startswith("torch")
    assert page.evaluate("document.activeElement.textContent") == "torch"
    assert page.locator("tbody tr").first.locator("td").first.inner_text() == "1"


def test_a_facet_is_part_of_the_address(browser: Browser, site: Path) -> None:
    page = visit(browser, site, "").page
    page.get_by_label("Metric").select_option("peak_memory")
    page.get_by_label("Model", exact=True).select_option("dropout")
    address = page.url

    assert "metric=peak_memory" in address
    assert "f.model=dropout" in address
    assert page.get_by_role("rowheader").all_inner_texts()[0] == "dropout"
    again = visit(browser, site, address.partition("#/")[2]).page
    assert again.locator("main").inner_text() == page.locator("main").inner_text()


def test_the_keyboard_reaches_every_view(browser: Browser, site: Path) -> None:
    """Links of the top, a field, its comparisons, a cell and its run are reached with tab and enter."""
    page = visit(browser, site, "?cols=framework").page
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.dataset.path ?? null")
        if focused is not None:
            reached.add(focused)
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
            assert outline == "2px"
    assert reached == {"", "compare", "series", "scaling", "frontier", "pareto", "runs", "nights", "searches", "claims"}

    for path, target in (("heat", "#/behind"), ("cell", "#/cell"), ("run", "#/run")):
        selector = {
            "heat": "td.heat a[href*='behind']",
            "cell": "main a[href*='#/cell']",
            "run": "main a[href*='#/run']",
        }[path]
        page.locator(selector).first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url, target=target: target in url)
        settled(page)
        assert page.evaluate("document.activeElement.tagName") == "H1"


def test_the_search_field_finds_a_cell_anywhere(browser: Browser, site: Path) -> None:
    page = visit(browser, site, VIEWS["nights"]).page
    field = page.get_by_role("searchbox", name="Find")
    field.focus()
    page.keyboard.type("torch b512")

    assert page.get_by_role("status").inner_text() == "1 cell and 0 runs with “torch b512”"
    page.locator("main tbody a").first.click()
    settled(page)
    assert page.locator("h1").inner_text() == "torch 2.13.0 lenet-train-b512 on cpu"


def test_a_series_shows_its_changes(browser: Browser, site: Path) -> None:
    page = visit(browser, site, VIEWS["one series"]).page
    found = {(one["name"], one["host"]): one for one in _document(site, index_of(site)["files"]["series"])["series"]}
    of_host = next(one for (name, _), one in found.items() if name == SERIES)

    assert page.locator("figure .change").count() == len(of_host["changes"].get("throughput", []))
    assert page.locator("figure a .dot").count() == len(of_host["run"])


def test_what_failed_stands_in_the_scaling(browser: Browser, site: Path) -> None:
    page = visit(browser, site, VIEWS["scaling"]).page

    assert page.locator("figure title", has_text="512: oom_host").count() == 1
    assert page.get_by_role("table").get_by_text("oom_host").count() == 1


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}/"
        serving.shutdown()


def test_a_figure_can_be_taken_away(browser: Browser, server: str) -> None:
    """From a web server too: as a picture, as figures and as a command."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{server}#/{VIEWS['one series']}")
    settled(page)

    said = page.locator(".said").first

    def taken(kind: str) -> str:
        page.locator(".take").first.get_by_role("button", name=kind).click()
        said.filter(has_text="copied").wait_for()
        text: str = page.evaluate("navigator.clipboard.readText()")
        said.evaluate("element => { element.textContent = ''; }")
        return text

    table = taken("CSV").splitlines()
    assert table[0] == "run,begun,release,throughput,low,high"
    assert len(table) == page.locator("figure a .dot").count() + 1
    assert re.match(r'<svg [^>]*xmlns="http://www\.w3\.org/2000/svg"', taken("SVG"))
    exactly = SERIES.replace("*", "[*]")
    assert taken("command").startswith(f"orchestrator history --select '{exactly}' --metric throughput --host ")
    page.locator(".take").first.get_by_role("button", name="PNG").click()
    said.filter(has_text="copied").wait_for()
    kinds = page.evaluate("navigator.clipboard.read().then(items => items.flatMap(item => item.types))")
    assert kinds == ["image/png"]
    assert complaints == []


def test_a_site_without_its_data_says_so(browser: Browser, site: Path, tmp_path: Path) -> None:
    page = (site / "index.html").read_text()
    (tmp_path / "index.html").write_text(re.sub(r"data/i-[0-9a-f]+", "data/i-0000000000000000", page))
    (tmp_path / "app").symlink_to(site / "app")

    visited = Visit(browser, (tmp_path / "index.html").as_uri())

    assert "copy its whole folder, or publish again" in visited.page.locator("main").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fields_can_be_read_on_their_colours(browser: Browser, site: Path, scheme: str) -> None:
    page = visit(browser, site, "?cols=framework", color_scheme=scheme).page

    for step in (*(f".better-{n}" for n in range(1, 5)), *(f".worse-{n}" for n in range(1, 5)), ".even", ".open"):
        assert contrast(page, f".heat-legend {step}") >= 4.5, step


def _document(site: Path, name: str) -> dict[str, list[dict[str, object]]]:
    text = (site / "data" / f"{name}.js").read_text()
    loaded: dict[str, list[dict[str, object]]] = json.loads(text[text.index(",") + 1 : -2])
    return loaded
