"""The page of a search in a real browser: nothing asked for, nothing found by axe, and it leads to the runs."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from orchestrator.reporting.reports.search.report import write_report
from tests.browser.test_report import Visit, browser
from tests.unit.regression.search.search_records import Host, a_search, chained, rates

__all__ = ["browser"]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("search")
    found = a_search(folder)
    for measured in found.rounds:
        (folder / measured.run).mkdir(exist_ok=True)
    return write_report(found, folder).as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, address: str, scheme: str) -> None:
    visit = Visit(browser, address, color_scheme=scheme)

    assert visit.violations() == []
    assert visit.complaints == []
    assert [url for url in visit.requests if url != address and not url.startswith("data:")] == []


def test_filter_leaves_rows_that_hold_its_words(browser: Browser, address: str) -> None:
    page = Visit(browser, address).page
    page.get_by_role("searchbox", name="Filter").fill("changed it")

    names = page.locator("#releases tbody tr:visible th").all_inner_texts()
    assert sorted(set(names)) == ["1.5.1", "1.7.0", "1.8.0"]


def test_keyboard_leads_to_the_run_of_a_round(browser: Browser, address: str) -> None:
    """The keyboard leads to the run of the blocks that show the change."""
    page = Visit(browser, address).page
    page.locator("#rounds").get_by_role("link", name="run-1", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/run-1/")


def test_only_tables_are_wider_than_a_phone(browser: Browser, address: str) -> None:
    page = Visit(browser, address, viewport={"width": 360, "height": 800}).page

    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    labels = page.locator("figure .row .label").all()
    assert all(label.bounding_box()["width"] > 100 for label in labels if label.is_visible())  # type: ignore[index]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_chain(browser: Browser, tmp_path: Path, scheme: str) -> None:
    """A chain has tables and charts of each of its spans."""
    record = chained(Host(rates(v1_6_0=0.9, v1_3_1=1.08), pythons={"3.9": 0.7}), tmp_path, every=True)
    for measured in record.rounds:
        (tmp_path / measured.run).mkdir(exist_ok=True)

    visit = Visit(browser, write_report(record, tmp_path).as_uri(), color_scheme=scheme)

    assert visit.violations() == []
    assert visit.complaints == []
    assert visit.page.locator("#releases table").count() == 3
