"""Pages of cells, runs, studies and searches: units, thinned traces, caveats, releases."""

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from tests.browser.test_results_site import VIEWS, browser, site, visit
from tests.unit.reporting.site.everything import CAVEAT, LONG

__all__ = ["browser", "site"]
pytestmark = pytest.mark.browser


@pytest.mark.parametrize("address", [VIEWS["long cell"], f"run?run={LONG}"])
def test_a_generation_counts_tokens(browser: Browser, site: Path, address: str) -> None:
    main = visit(browser, site, address).page.locator("main")

    assert "tokens/s" in main.inner_text()
    assert "samples/s" not in (main.text_content() or "")


def test_a_thinned_trace_says_so(browser: Browser, site: Path) -> None:
    page = visit(browser, site, VIEWS["long cell"]).page
    notes = {each.locator("figcaption").inner_text(): each.locator(".about") for each in page.locator("figure").all()}

    assert "of 6 disturbed blocks 4 are shown, and have a ring" in notes["Blocks in time"].inner_text()
    assert "Every 2nd block is shown, of up to 2,011." in notes["Blocks in time"].inner_text()
    for title in ("Spread of single steps", "Steps in their order"):
        assert "Every 2nd step is shown, of up to 662." in notes[title].inner_text()
    assert page.locator("circle.ring").count() == 4
    rings = page.locator("circle.ring title").all_text_contents()
    assert [each.partition(":")[0] for each in rings] == [
        f"repeat {repeat}, block {block}" for repeat in (0, 1) for block in (100, 1_600)
    ]
    assert page.locator("path.warm title").first.text_content().startswith("repeat 0, warm-up block 0: ")  # type: ignore[union-attr]


def test_a_short_trace_is_whole(browser: Browser, site: Path) -> None:
    page = visit(browser, site, VIEWS["cell"]).page

    assert page.get_by_text("no block is marked as disturbed").count() == 1
    assert page.locator(".about", has_text="is shown, of up to").count() == 0


@pytest.mark.parametrize("view", ["studies", "run"])
def test_claims_have_their_caveats(browser: Browser, site: Path, view: str) -> None:
    row = visit(browser, site, VIEWS[view]).page.locator("main tr", has_text=f"Caveat: {CAVEAT}")

    assert row.locator("td", has_text="Caveat").locator(".chip").inner_text() == "other direction"
    assert "≈ 0.50×" in row.inner_text()
    assert "3 repeats" in row.inner_text()


def test_a_run_names_its_seed(browser: Browser, site: Path) -> None:
    page = visit(browser, site, VIEWS["run"]).page

    assert page.locator("dl.facts div", has_text="Seed").locator("dd").inner_text() == "1"


def test_a_steady_series_names_the_smallest_change(browser: Browser, site: Path) -> None:
    page = visit(browser, site, f"series?name={quote('torch-*-cpu/lenet-train-b200')}").page

    assert "No lasting change of 2 % or more was found." in page.locator("figure .about").first.inner_text()


def test_a_search_draws_each_release_and_its_changes(browser: Browser, site: Path) -> None:
    figure = visit(browser, site, VIEWS["searches"]).page.locator("figure").first

    assert figure.locator(".cut").count() == 2
    assert figure.locator(".level").count() == 7
