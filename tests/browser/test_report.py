"""The page in a real browser, from disk and with nothing else to reach."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.reports.run.page import write_html
from tests.unit.reporting import synthetic

pytestmark = pytest.mark.browser
FLAGS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("run")
    return write_html(synthetic.example(), folder / "report", folder).as_uri()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    cells = [synthetic.cell(synthetic.Framework("mxnet", f"1.{n}", python="3.11"), repeats=2) for n in range(400)]
    cells += [synthetic.cell(framework, synthetic.MLP, repeats=3) for framework in (synthetic.MXNET, synthetic.TORCH)]
    plan = synthetic.plan(cells)
    stored = [item for cell in cells[:3] + cells[-2:] for item in synthetic.ok(cell, [100.0, 101.0])]
    folder = tmp_path_factory.mktemp("large")
    return write_html(compose(synthetic.record(plan), plan, stored), folder / "report", folder).as_uri()


class Visit:
    """A page with whatever it complained about and asked for."""

    def __init__(self, browser: Browser, address: str, **settings: Any) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page: Page = browser.new_context(**settings).new_page()
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def violations(self) -> list[tuple[str, list[str]]]:
        """Faults that axe finds in the page as it is: the rule, and the first elements that break it."""
        found = Axe().run(self.page, options={"resultTypes": ["violations"]}).response["violations"]
        return [(each["id"], [node["html"] for node in each["nodes"][:3]]) for each in found]

    def open_all(self) -> None:
        self.page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")


def test_page_draws_without_complaint_and_requests_only_itself(browser: Browser, address: str) -> None:
    visit = Visit(browser, address)

    assert visit.page.locator("figure.throughput .lane circle").count() == 23
    assert visit.complaints == []
    assert [url for url in visit.requests if url != address and not url.startswith("data:")] == []


def test_marks_lie_inside_their_chart_at_any_width(browser: Browser, address: str) -> None:
    for width in (360, 1280):
        page = Visit(browser, address, viewport={"width": width, "height": 800}).page
        outside = page.evaluate(
            """() => [...document.querySelectorAll('figure .lane > *')].filter(mark => {
                const [m, c] = [mark.getBoundingClientRect(), mark.closest('figure').getBoundingClientRect()];
                return m.width && (m.left < c.left || m.right > c.right + 0.5);
            }).length"""
        )
        assert outside == 0
        assert page.locator("figure .lane").first.bounding_box()["width"] > width / 3  # type: ignore[index]  # visible


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "large/index.html", "large/groups-0002.html"])
def test_axe_finds_nothing_serious(browser: Browser, address: str, large: str, scheme: str, name: str) -> None:
    target = address if name == "index.html" else large.replace("index.html", name.removeprefix("large/"))
    visit = Visit(browser, target, color_scheme=scheme)
    visit.open_all()

    found = Axe().run(visit.page, options={"resultTypes": ["violations"]}).response["violations"]

    serious = [each for each in found if each["impact"] in {"serious", "critical"}]
    assert [(each["id"], [node["html"] for node in each["nodes"][:3]]) for each in serious] == []
    assert [each["id"] for each in found] == []


def test_filter_keeps_cells_that_hold_every_word(browser: Browser, address: str) -> None:
    """Filtering keeps the cells that hold every word, wherever they are shown."""
    page = Visit(browser, address).page
    field = page.get_by_role("searchbox", name="Filter")

    field.focus()
    page.keyboard.type("torch lenet")

    assert page.get_by_role("status").inner_text() == "1 of 11 cells"
    assert page.locator("tr[data-cell]:visible th").all_inner_texts()[0].startswith("torch 2.13.0")
    assert page.locator("section.group:visible").count() == 1
    assert page.locator("figure.throughput .row:visible .label").all_inner_texts() == ["torch 2.13.0", ""]

    field.fill("")
    assert page.locator("tr[data-cell]:visible").count() == 11
    assert page.get_by_role("status").inner_text() == ""


def test_keyboard_reaches_pages_of_a_large_report(browser: Browser, large: str) -> None:
    """The keyboard reaches the pages of a large report, and they lead back."""
    visit = Visit(browser, large)
    page = visit.page
    assert page.locator(".finding").count() == 2

    page.locator(".finding a").last.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/groups-0002.html#**")
    assert page.locator(":target h2").inner_text().startswith("mlp-train-b32")

    page.get_by_role("link", name="Summary").click()
    page.wait_for_url("**/index.html")
    assert visit.complaints == []


def test_keyboard_sorts_a_table_with_unknown_last(browser: Browser, address: str) -> None:
    """A table is sorted by keyboard, and unknown values come last."""
    page = Visit(browser, address).page
    table = page.locator("table.ranking").first
    head = table.locator("th", has=page.get_by_role("button", name="Samples/s", exact=True))
    names = table.locator("tbody th")
    ranked = names.all_inner_texts()

    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert names.all_inner_texts() == ranked

    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "ascending"
    assert table.locator("th[aria-sort]").count() == 1
    sorted_up = names.all_inner_texts()
    assert sorted_up == [*reversed(ranked[:4]), ranked[4]]


def test_large_pages_can_be_filtered_and_sorted(browser: Browser, large: str) -> None:
    """A full page of a large report can be filtered and sorted."""
    page = Visit(browser, large.replace("index.html", "groups-0001.html")).page
    assert page.locator("tr[data-cell]").count() > 300

    shown, is_sorted = page.evaluate(
        """() => {
            const shown = [];
            const field = document.getElementById('filter');
            for (const words of ['mxnet', 'mxnet 1.39', '']) {
                field.value = words;
                field.dispatchEvent(new Event('input'));
                shown.push([...document.querySelectorAll('tr[data-cell]')].filter(row => row.offsetHeight).length);
            }
            const head = document.querySelector('table.ranking th button');
            head.click();
            return [shown, head.closest('th').hasAttribute('aria-sort')];
        }"""
    )

    of_mxnet, of_one_release, every = shown
    assert 0 < of_one_release < of_mxnet <= every
    assert is_sorted


def test_caption_stays_readable_over_a_wide_table(browser: Browser, address: str) -> None:
    """A caption can be read where its table is wider than the screen."""
    page = Visit(browser, address, viewport={"width": 380, "height": 800}).page

    table = page.locator("table.ranking").first
    box, caption = table.bounding_box(), table.locator("caption").bounding_box()
    assert box is not None
    assert caption is not None
    assert box["width"] > 380 >= caption["x"] + caption["width"]


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_width_scrolls_sideways(browser: Browser, address: str, width: int, scheme: str) -> None:
    visit = Visit(browser, address, viewport={"width": width, "height": 800}, color_scheme=scheme)
    visit.open_all()

    assert visit.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert visit.complaints == []


def contrast(page: Page, selector: str) -> float:
    """Contrast ratio of an element's text, by WCAG 2's relative luminance."""
    return float(
        page.locator(selector).first.evaluate(
            """element => {
                const numbers = text => text.match(/[0-9.]+/g).map(Number);
                const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255)
                    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
                    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
                let behind = element;
                const clear = e => numbers(getComputedStyle(e).backgroundColor)[3] === 0;
                while (behind.parentElement && clear(behind)) behind = behind.parentElement;
                const [a, b] = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor]
                    .map(color => luminance(numbers(color))).sort((x, y) => y - x);
                return (a + 0.05) / (b + 0.05);
            }"""
        )
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(browser: Browser, address: str, scheme: str) -> None:
    page = Visit(browser, address, color_scheme=scheme).page

    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 22, 26)"
    assert dark == (scheme == "dark")
    for selector in (
        *("body", "a", ".meta dt", "caption", "td small", ".chip.good", ".chip.bad", ".chip.open", ".note"),
        *(
            ".verdict.slower",
            ".verdict.faster",
            ".verdict.inconclusive",
            "thead th",
            "pre",
            ".without > *",
            ".row .value",
            ".tools label",
        ),
    ):
        assert contrast(page, selector) >= 4.5, selector


def test_charts_follow_the_colour_scheme(browser: Browser, address: str) -> None:
    page = Visit(browser, address, color_scheme="light").page
    dot = page.locator("figure.throughput circle").first
    light = dot.evaluate("element => getComputedStyle(element).fill")

    page.emulate_media(color_scheme="dark")

    assert dot.evaluate("element => getComputedStyle(element).fill") != light


def test_paper_shows_everything_open_and_uncut(browser: Browser, address: str) -> None:
    """On paper, everything is open and nothing is cut off."""
    page = Visit(browser, address, viewport={"width": 720, "height": 1000}).page

    assert page.pdf(format="A4", prefer_css_page_size=True)[:4] == b"%PDF"

    assert page.locator("details:not([open])").count() == 0
    page.emulate_media(media="print")
    assert page.locator(".tools").is_hidden()
    wide = "[...document.querySelectorAll('table')].filter(t => t.offsetWidth > document.body.clientWidth + 1).length"
    assert page.evaluate(wide) == 0


def test_charts_and_tables_are_labelled_for_screen_readers(browser: Browser, address: str) -> None:
    """Every chart has words, and every table has a caption and scopes."""
    page = Visit(browser, address).page

    assert page.locator("figure [role=img]:not([aria-label*=table])").count() == 0
    assert page.locator("figure:not(:has([role=img]))").count() == 0
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("th:not([scope])").count() == 0
    assert page.locator("main h2").count() == page.locator("main section").count()


def test_cell_link_leads_to_its_row(browser: Browser, address: str) -> None:
    page = Visit(browser, address).page

    page.locator("#problems li a").first.click()

    assert page.locator("tr:target th").inner_text().startswith("torch 2.13.0")


CELL = "mxnet-1.7-cpu/lenet-train-b200"


def test_cell_address_leads_to_its_page(browser: Browser, large: str) -> None:
    """From the index, from another page, and from an address that is put into the page that is open."""
    torch = "torch-2.13.0-cpu/mlp-train-b32"
    for name, cell in (("index.html", CELL), ("groups-0002.html", CELL), ("groups-0001.html", torch)):
        visit = Visit(browser, f"{large.replace('index.html', name)}#{cell}")
        visit.page.wait_for_selector("tr:target")
        assert visit.page.locator("tr:target").get_attribute("id") == cell
        assert visit.complaints == []

    page = Visit(browser, large).page
    page.evaluate(f"location.hash = '{CELL}'")
    page.wait_for_url("**/groups-0001.html#**")
    assert page.locator("tr:target").is_visible()


def test_unknown_address_stays_on_the_index(browser: Browser, large: str) -> None:
    page = Visit(browser, f"{large.replace('index.html', 'groups-0001.html')}#no-such/cell").page

    page.wait_for_url("**/index.html#no-such/cell")
    page.wait_for_timeout(300)
    assert page.url.endswith("/index.html#no-such/cell")
    assert page.locator("#summary").is_visible()


def test_index_filter_finds_cells_of_all_pages(browser: Browser, large: str) -> None:
    visit = Visit(browser, large)
    page = visit.page
    field = page.get_by_role("searchbox", name="Filter")

    field.fill("torch ok")
    assert page.get_by_role("status").inner_text() == "1 of 402 cells"
    page.locator("#matches a").click()
    page.wait_for_url("**/groups-0002.html#torch-2.13.0-cpu/mlp-train-b32")
    assert page.locator("tr:target").is_visible()

    page.goto(large)
    field.fill("mxnet lenet")
    assert page.get_by_role("status").inner_text() == "400 of 402 cells"
    assert page.locator("#matches li").count() == 100
    assert page.locator("#matches p").inner_text() == "And 300 more: another word finds fewer."
    assert visit.violations() == []
    field.fill("")
    assert not page.locator("#matches").is_visible()
    assert visit.complaints == []


def test_a_page_hands_its_filter_to_all_pages(browser: Browser, large: str) -> None:
    page = Visit(browser, large.replace("index.html", "groups-0001.html")).page
    link = page.get_by_role("link", name="Search all pages")
    assert not link.is_visible()

    page.get_by_role("searchbox", name="Filter").fill("torch mlp")
    link.click()

    page.wait_for_url("**/index.html?filter=torch%20mlp")
    found = page.locator("#matches li").all_inner_texts()
    assert found == ["torch 2.13.0 mlp-train-b32 on cpu: 2 ok, 1 not_run"]
