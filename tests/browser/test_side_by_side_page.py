"""The page of several runs in a real browser: nothing asked for, nothing serious found, wide tables within the page."""

import pytest
from playwright.sync_api import Browser

from orchestrator.reporting.reports.run.page import write_html
from orchestrator.reporting.reports.side_by_side.report import write_html as write_hosts_html
from tests.browser.test_report import Visit, browser
from tests.unit.reporting.reports.test_side_by_side import two

__all__ = ["browser"]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder, several = tmp_path_factory.mktemp("results"), two()
    pages = [write_html(run.report, folder / run.report.run / "report") for run in several.runs]
    return write_hosts_html(several, folder / "side-by-side", pages).as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, address: str, scheme: str) -> None:
    visit = Visit(browser, address, color_scheme=scheme)

    assert visit.violations() == []
    assert visit.complaints == []
    assert [url for url in visit.requests if url != address and not url.startswith("data:")] == []


def test_page_leads_to_runs_and_is_filtered(browser: Browser, address: str) -> None:
    """The page leads to the page of each run, and its rows can be filtered."""
    page = Visit(browser, address).page
    page.get_by_role("searchbox", name="Filter").fill("torch")
    assert page.locator("table.filtered tbody tr:visible th").all_inner_texts() == ["torch 2.13.0"]

    page.get_by_role("link", name="far").click()
    page.wait_for_url("**/20260102T000000Z-far0/report/index.html")


def test_only_tables_are_wider_than_a_phone(browser: Browser, address: str) -> None:
    page = Visit(browser, address, viewport={"width": 360, "height": 800}).page

    assert page.evaluate("document.documentElement.scrollWidth") <= 360
