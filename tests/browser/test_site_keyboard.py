"""The site over all runs by the keyboard alone: what is wanted is reached with tab, and taken with enter."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.test_results_site import VIEWS, browser, site, visit

__all__ = ["browser", "site"]
pytestmark = pytest.mark.browser
LINKS = {
    "": "Results",
    "compare": "Compare",
    "series": "Series",
    "scaling": "Scaling",
    "frontier": "Frontier",
    "pareto": "Pareto",
    "runs": "Runs",
    "nights": "Nights",
    "searches": "Searches",
    "claims": "Studies",
}
DEEPER = {
    "behind a field": ("?cols=framework", "td.heat a[href*='#/behind']"),
    "a cell of it": ("behind", "main a[href*='#/cell']"),
    "a cell of a run": ("hostile run", "main a[href*='#/cell']"),
    "the run of a cell": ("cell", "main a[href*='#/run']"),
    "a run": ("runs", "main a[href*='#/run']"),
    "a series": ("all series", "main a[href*='#/series']"),
    "the course of a cell": ("cell", "main a[href*='#/series']"),
    "a cell on a scale": ("scaling", "main a[href*='#/cell']"),
    "a cell of a study": ("studies", "main a[href*='#/cell']"),
}
MOST = 500
"""Times that tab is pressed before a test gives up."""


def reach(page: Page, selector: str) -> None:
    """Press tab until an element is focused, which must be outlined then."""
    for _ in range(MOST):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") in {"2px", "3px"}
            return
    raise AssertionError(f"no {selector} is reached by {MOST} tabs")


def enter(page: Page) -> None:
    """Press enter on a link, and wait until the heading of another view is focused."""
    target = page.evaluate("document.activeElement.getAttribute('href')")
    page.keyboard.press("Enter")
    page.wait_for_function("target => location.hash === target && document.activeElement.tagName === 'H1'", arg=target)


@pytest.mark.parametrize("path", LINKS)
def test_tab_and_enter_open_every_view(browser: Browser, site: Path, path: str) -> None:
    page = visit(browser, site, VIEWS["run"]).page
    reach(page, f"nav a[data-path='{path}']")
    enter(page)

    assert page.url.endswith(f"#/{path}")
    assert page.locator("h1").inner_text() == LINKS[path]


@pytest.mark.parametrize("place", DEEPER)
def test_tab_and_enter_lead_further(browser: Browser, site: Path, place: str) -> None:
    view, selector = DEEPER[place]
    page = visit(browser, site, VIEWS.get(view, view)).page
    reach(page, selector)
    enter(page)

    assert page.locator("h1").inner_text() not in {"Not here", "Cannot be shown"}


def test_hosts_are_compared_by_the_keyboard(browser: Browser, site: Path) -> None:
    page = visit(browser, site, VIEWS["compare"]).page
    reach(page, "select[name=kind]")
    before = page.url
    page.keyboard.type("Host")
    page.wait_for_function("before => location.href !== before", arg=before)

    assert "kind=host" in page.url
    assert page.evaluate("document.activeElement.name") == "kind"


def test_the_search_field_finds_a_cell_anywhere(browser: Browser, site: Path) -> None:
    page = visit(browser, site, VIEWS["nights"]).page
    reach(page, "#find")
    page.keyboard.type("torch b512")

    assert page.get_by_role("status").inner_text() == "1 cell and 0 runs with “torch b512”"
    reach(page, "main tbody a")
    enter(page)
    assert page.locator("h1").inner_text() == "torch 2.13.0 lenet-train-b512 on cpu"


@pytest.mark.parametrize("kind", ["PNG", "SVG", "CSV", "command"])
def test_a_figure_is_taken_by_the_keyboard(browser: Browser, site: Path, kind: str) -> None:
    page = visit(browser, site, VIEWS["pareto"]).page
    reach(page, ".take button")
    while page.evaluate("document.activeElement.textContent") != kind:
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    said = page.locator(".said", has_text=re.compile("copied|saved as"))
    said.wait_for()

    assert re.fullmatch(r"copied|saved as \S+", said.inner_text())
