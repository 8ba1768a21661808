"""The page of a regression test in a real browser: nothing asked for, nothing serious found, readable on a phone."""

import pytest
from playwright.sync_api import Browser

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.model import Regression, SideRecord
from orchestrator.reporting.reports.regression.report import write_html
from tests.browser.test_report import Visit, browser
from tests.unit.reporting.reports.test_regression_report import EVERY, a_metric, a_pair, a_test

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


def test_filter_leaves_rows_that_hold_its_words(browser: Browser, address: str) -> None:
    page = Visit(browser, address).page
    page.get_by_role("searchbox", name="Filter").fill("broke")

    assert page.locator("#verdicts > .scroll tbody tr:visible th").all_inner_texts() == ["cpu/mlp-train-b200"]


def test_only_tables_are_wider_than_a_phone(browser: Browser, address: str) -> None:
    page = Visit(browser, address, viewport={"width": 360, "height": 800}).page

    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    labels = page.locator("figure .row .label").all()
    assert all(label.bounding_box()["width"] > 100 for label in labels if label.is_visible())  # type: ignore[index]


LONG = "cpu/resnet20-train-b128-" + "-".join(f"env.MALLOC_TRIM_THRESHOLD_{n}=-1" for n in range(3))
DOUBTFUL = a_test(
    *(a_pair("mlp", a_metric(Verdict.INCONCLUSIVE), verdict=Verdict.INCONCLUSIVE) for _ in range(3)),
    a_pair(LONG, a_metric(Verdict.INCONCLUSIVE, 0.98, low=0.2, high=3.1, reason="see /" + "long" * 30)),
    warnings=(f"{LONG}: something was unlike",),
    baseline=SideRecord(text="mxnet==1.5.1," + "numpy" * 12, label="mxnet 1.5.1 " + "numpy" * 12, python="3.11.7"),
)


@pytest.mark.parametrize("found", [EVERY, DOUBTFUL])
def test_no_word_or_chip_widens_a_narrow_page(
    browser: Browser, found: Regression, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """At 390 px the chip that says what is not shown to be as good was wider than the screen."""
    page = Visit(
        browser, write_html(found, tmp_path_factory.mktemp("page")).as_uri(), viewport={"width": 390, "height": 844}
    ).page
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    beyond = page.evaluate(
        """() => [...document.querySelectorAll('body *')]
            .filter(part => !part.closest('.scroll') && part.getBoundingClientRect().right > 391)
            .map(part => part.outerHTML.slice(0, 90))"""
    )
    assert beyond == []
