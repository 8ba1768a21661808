"""The page of a regression test in a real browser: nothing asked for, nothing serious found, readable on a phone."""

import pytest
from playwright.sync_api import Browser

from orchestrator.reporting.regressions_as_html import write_html
from tests.browser.test_report import Visit, browser
from tests.unit.reporting.test_regressions import EVERY

__all__ = ["browser"]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_html(EVERY, tmp_path_factory.mktemp("regression")).as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, address: str, scheme: str) -> None:
    visit = Visit(browser, address, color_scheme=scheme)

    assert visit.violations() == []
    assert visit.complaints == []
    assert [url for url in visit.requests if url != address and not url.startswith("data:")] == []


def test_a_filter_leaves_the_rows_that_hold_its_words(browser: Browser, address: str) -> None:
    page = Visit(browser, address).page
    page.get_by_role("searchbox", name="Filter").fill("broke")

    assert page.locator("#verdicts > .scroll tbody tr:visible th").all_inner_texts() == ["cpu/mlp-train-b200"]


def test_on_a_phone_only_the_tables_are_wider_than_the_screen(browser: Browser, address: str) -> None:
    page = Visit(browser, address, viewport={"width": 360, "height": 800}).page

    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    labels = page.locator("figure .row .label").all()
    assert all(label.bounding_box()["width"] > 100 for label in labels if label.is_visible())  # type: ignore[index]
