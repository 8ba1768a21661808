"""The page in a real browser, from disk and with nothing else to reach."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from orchestrator.reporting import write_html
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

    def draw_all(self) -> None:
        """Scroll through, as charts are drawn when they come near."""
        for chart in self.page.locator(".chart").all():
            chart.scroll_into_view_if_needed()
        self.page.wait_for_function(
            "document.querySelectorAll('.chart').length === document.querySelectorAll('.chart[data-drawn]').length"
        )


def test_the_page_draws_every_chart_without_a_complaint_or_a_network(browser: Browser, address: str) -> None:
    visit = Visit(browser, address)
    visit.draw_all()

    assert visit.page.locator(".chart svg.main-svg").count() >= 6
    assert visit.page.locator(".chart[data-kind=throughput] .points path.point").count() >= 11
    assert visit.complaints == []
    assert visit.requests
    assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []


def test_a_table_is_sorted_by_keyboard_with_what_is_unknown_last(browser: Browser, address: str) -> None:
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


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_width_scrolls_sideways(browser: Browser, address: str, width: int, scheme: str) -> None:
    visit = Visit(browser, address, viewport={"width": width, "height": 800}, color_scheme=scheme)
    visit.draw_all()
    visit.page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")

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
        *(".verdict.slower", ".verdict.faster", ".verdict.inconclusive", "thead th", "pre", ".without > *"),
    ):
        assert contrast(page, selector) >= 4.5, selector


def test_charts_follow_the_colour_scheme(browser: Browser, address: str) -> None:
    visit = Visit(browser, address, color_scheme="light")
    visit.draw_all()
    label = visit.page.locator(".chart[data-kind=throughput] .ytick text").first
    light = label.evaluate("element => getComputedStyle(element).fill")

    visit.page.emulate_media(color_scheme="dark")

    # Charts are drawn anew, which takes a moment; it fails by running out of time.
    visit.page.wait_for_function(
        "light => getComputedStyle(document.querySelector('.chart[data-kind=throughput] .ytick text')).fill !== light",
        arg=light,
    )
    assert label.evaluate("element => getComputedStyle(element).fill") != light


def test_on_paper_everything_is_open_and_drawn(browser: Browser, address: str) -> None:
    page = Visit(browser, address).page

    assert page.pdf()[:4] == b"%PDF"

    assert page.locator("details:not([open])").count() == 0
    assert page.locator(".chart:not([data-drawn])").count() == 0


def test_every_chart_has_words_and_every_table_a_caption_and_scopes(browser: Browser, address: str) -> None:
    page = Visit(browser, address).page

    assert page.locator(".chart[role=img]:not([aria-label*=table])").count() == 0
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("th:not([scope])").count() == 0
    assert page.locator("main h2").count() == page.locator("main section").count()


def test_a_link_to_a_cell_leads_to_its_row(browser: Browser, address: str) -> None:
    page = Visit(browser, address).page

    page.locator("#problems li a").first.click()

    assert page.locator("tr:target th").inner_text().startswith("torch 2.13.0")
