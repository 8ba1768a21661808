"""The pages of nights and of their history in a real browser: nothing asked for, nothing found by axe, no wide page."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from orchestrator.regression.history.series import series
from orchestrator.regression.nightly.state import Judgement
from orchestrator.reporting.formats import HTML, render
from orchestrator.reporting.inline import Link
from orchestrator.reporting.reports.history import report as history
from orchestrator.reporting.reports.night.report import NIGHT, NIGHTS
from tests.browser.test_report import Visit, browser
from tests.unit.regression.history.test_history import levels
from tests.unit.regression.nightly.night_records import a_change, a_night, record, silent_night

__all__ = ["browser"]
pytestmark = pytest.mark.browser
SERIES = history.page_name("mxnet-*-cpu/lenet-train-b200", "throughput", "far")
PAGES = ["index.html", "nights/20261122T030000Z-1f3a/index.html", "history/index.html", f"history/{SERIES}"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nightly")
    night = a_night(given_up=(record("1.3.1", Judgement.BUILD_FAILED, "no wheel"),), changes=(a_change(),))
    own = folder / "nights" / night.night
    own.mkdir(parents=True)
    (own / "index.html").write_text(render(NIGHT, night, HTML))
    (folder / "index.html").write_text(
        render(NIGHTS, ([silent_night(), night], (Link("History", "history/index.html"),)), HTML)
    )
    nights = levels((1000, 30, "1.8.0"), (930, 25, "1.9.0"), (1010, 20, "1.9.1"))
    history.write_html([one for one in series(nights) if one.is_tracked], folder / "history")
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(browser: Browser, folder: Path, name: str, scheme: str) -> None:
    address = (folder / name).as_uri()
    visit = Visit(browser, address, color_scheme=scheme)

    assert visit.violations() == []
    assert visit.complaints == []
    assert [url for url in visit.requests if url != address and not url.startswith("data:")] == []


@pytest.mark.parametrize("name", PAGES)
def test_only_tables_are_wider_than_a_phone(browser: Browser, folder: Path, name: str) -> None:
    page = Visit(browser, (folder / name).as_uri(), viewport={"width": 360, "height": 800}).page

    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_keyboard_leads_to_one_series_and_back(browser: Browser, folder: Path) -> None:
    """The keyboard leads from the page of all nights to one series and back."""
    page = Visit(browser, (folder / "index.html").as_uri()).page
    page.get_by_role("link", name="History").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/history/index.html")
    page.get_by_role("link", name="mxnet-*-cpu/lenet-train-b200").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{SERIES}")

    assert page.locator("figure.history line.change").count() == 2
    assert page.locator("figure.history .marks circle").count() == 75
    page.get_by_role("link", name="All series").click()
    page.wait_for_url("**/history/index.html")
