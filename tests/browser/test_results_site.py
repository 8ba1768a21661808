"""The site over all runs in a real browser: every view from disk, asking for nothing from elsewhere."""

import json
import math
import re
import statistics
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page

from orchestrator.workflows.host.host import Host
from orchestrator.workflows.site.publish import PublishOptions, publish
from tests.browser.test_report import Visit, browser, contrast
from tests.unit.reporting.site import everything
from tests.unit.reporting.site.everything import BROKEN, FAST, LONG, SLOW, STUDIED, SWEPT, TESTED, TOKENS
from tests.unit.reporting.site.reading import index_of, rows

__all__ = ["browser"]
pytestmark = pytest.mark.browser
SCHEMES = ("light", "dark")
NIGHT = "20260424T030405Z-0018"
SERIES = "mxnet-*-cpu/lenet-train-b200"
VIEWS = {
    "overview": "",
    "releases": "?cols=label&rows=work",
    "behind": "behind?r=lenet&c=torch&cols=framework",
    "cell": f"cell?run={STUDIED}&id={quote(FAST.id)}",
    "hostile cell": f"cell?run={BROKEN}&id={quote(SLOW.id)}",
    "long cell": f"cell?run={LONG}&id={quote(TOKENS.id)}",
    "runs": "runs",
    "run": f"run?run={STUDIED}",
    "hostile run": f"run?run={BROKEN}",
    "regression test": f"run?run={TESTED}",
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


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_in_a_view(browser: Browser, site: Path, view: str, scheme: str) -> None:
    visited = visit(browser, site, VIEWS[view], color_scheme=scheme, viewport={"width": 1440, "height": 900})
    visited.open_all()

    assert visited.violations() == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_on_paper(browser: Browser, site: Path, view: str, scheme: str) -> None:
    """Paper is white, whatever the scheme of the screen is."""
    visited = visit(browser, site, VIEWS[view], color_scheme=scheme, viewport={"width": 720, "height": 1000})
    visited.open_all()
    visited.page.emulate_media(media="print")

    assert visited.violations() == []
    assert visited.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_scrolls_no_view_sideways(browser: Browser, site: Path, view: str, scheme: str) -> None:
    for width in (390, 768):
        visited = visit(browser, site, VIEWS[view], color_scheme=scheme, viewport={"width": width, "height": 844})
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


def test_a_series_shows_its_changes(browser: Browser, site: Path) -> None:
    page = visit(browser, site, VIEWS["one series"]).page
    found = {(one["name"], one["host"]): one for one in _document(site, index_of(site)["files"]["series"])["series"]}
    of_host = next(one for (name, _), one in found.items() if name == SERIES)

    assert page.locator("figure .change").count() == len(of_host["changes"].get("throughput", []))
    assert page.locator("figure a .dot").count() == len(of_host["run"])


def test_series_are_filtered_by_axis_host_and_date(browser: Browser, site: Path) -> None:
    """A date leaves points out, and so does an axis; the address keeps all of it, and the word that is searched for."""

    def listed(shown: Page) -> dict[str, int]:
        found = [row.locator("th, td").all_inner_texts() for row in shown.locator("main tbody tr").all()]
        return {name: int(runs) for name, _, runs, *_ in found}

    page = visit(browser, site, "series").page
    whole = listed(page)
    page.get_by_text("More filters").click()
    page.get_by_label("Framework", exact=True).select_option("mxnet")
    of_framework = listed(page)
    page.get_by_label("Only series with").fill("lenet")
    page.get_by_label("From", exact=True).fill("2026-04-10")
    later = listed(page)

    assert len(whole) > len(of_framework)
    assert of_framework == {SERIES: whole[SERIES]}
    assert 1 < later[SERIES] < whole[SERIES]
    assert {"f.framework=mxnet", "from=2026-04-10", "q=lenet"} <= set(page.url.partition("?")[2].split("&"))
    again = visit(browser, site, page.url.partition("#/")[2]).page
    assert listed(again) == later
    hosts = page.get_by_label("Host", exact=True)
    hosts.select_option(
        next(each for each in hosts.locator("option").all_text_contents() if each not in {"all", "bench-1"})
    )
    assert listed(page) == {}
    assert "remove a filter" in page.locator("main").inner_text()


def test_what_failed_stands_in_the_scaling(browser: Browser, site: Path) -> None:
    page = visit(browser, site, VIEWS["scaling"]).page

    assert page.locator("figure title", has_text="512: oom_host").count() == 1
    assert page.get_by_role("table").get_by_text("oom_host").count() == 1


def test_a_site_without_its_data_says_so(browser: Browser, site: Path, tmp_path: Path) -> None:
    page = (site / "index.html").read_text()
    (tmp_path / "index.html").write_text(re.sub(r"data/i-[0-9a-f]+", "data/i-0000000000000000", page))
    (tmp_path / "app").symlink_to(site / "app")

    visited = Visit(browser, (tmp_path / "index.html").as_uri())

    assert "copy its whole folder, or publish again" in visited.page.locator("main").inner_text()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_fields_can_be_read_on_their_colours(browser: Browser, site: Path, scheme: str) -> None:
    page = visit(browser, site, "?cols=framework", color_scheme=scheme).page

    for step in (*(f".better-{n}" for n in range(1, 5)), *(f".worse-{n}" for n in range(1, 5)), ".even", ".open"):
        assert contrast(page, f".heat-legend {step}") >= 4.5, step


def _document(site: Path, name: str) -> dict[str, list[dict[str, object]]]:
    text = (site / "data" / f"{name}.js").read_text()
    loaded: dict[str, list[dict[str, object]]] = json.loads(text[text.index(",") + 1 : -2])
    return loaded
