"""Names, logs and reasons that would do harm if a page ran them, in every view of the site over all runs."""

import re
import shutil
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from tests.browser.test_results_site import VIEWS, browser, site, visit
from tests.unit.reporting.site.everything import BROKEN, ENDS, HOSTILE, SLOW, tamper

__all__ = ["browser", "site"]
pytestmark = pytest.mark.browser
ANY_END = re.compile(rf"({'|'.join(map(re.escape, ENDS))})(?=&|$)")


@pytest.fixture(scope="module")
def hostile(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site whose models, frameworks, releases, cells, hosts, matrices and reasons end in what would do harm."""
    folder = tmp_path_factory.mktemp("hostile") / "site"
    shutil.copytree(site, folder)
    tamper(folder)
    return folder


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_texts_stay_texts(browser: Browser, hostile: Path, view: str) -> None:
    address = ANY_END.sub(lambda end: end[0] + quote(HOSTILE), VIEWS[view])
    visited = visit(browser, hostile, address)
    visited.open_all()
    page = visited.page

    assert page.locator("h1").inner_text() != "Cannot be shown"
    assert page.locator("img, iframe, object, embed").count() == 0
    assert page.evaluate("[...document.scripts].every(script => script.src && !script.textContent)")
    said = page.locator("main").text_content() or ""
    assert ("<script>alert(2)</script>" in said, page.locator("h1").inner_text() == "Not here") == (
        view != "nowhere", view == "nowhere",
    )  # fmt: skip
    assert visited.complaints == []


def test_logs_and_reasons_are_shown(browser: Browser, site: Path) -> None:
    """A log has the path of its whole, and a repeat the number of its attempts."""
    page = visit(browser, site, VIEWS["hostile cell"]).page
    repeats = page.get_by_role("table", name="Repeats")

    assert "<img src=x onerror=alert(1)>" in page.locator("pre").last.text_content()  # type: ignore[operator]
    assert page.get_by_text(f"{BROKEN}/{SLOW.id}/1/log.txt").count() == 1
    assert repeats.get_by_text("failed").count() == 2
    assert repeats.get_by_text("attempt 3").count() == 2


def test_the_policy_stops_what_is_injected(browser: Browser, site: Path) -> None:
    """Scripts, styles, frames and requests that a hole would let in do nothing."""
    visited = visit(browser, site, "")
    done = visited.page.evaluate(
        """async () => {
            const script = document.createElement("script");
            script.textContent = "window.injected = true";
            document.body.append(script);
            const link = document.createElement("a");
            link.setAttribute("onclick", "window.clicked = true");
            document.body.append(link);
            link.click();
            let fetched = true;
            try { await fetch("data/none"); } catch { fetched = false; }
            const frame = document.createElement("iframe");
            frame.src = "https://example.org/";
            document.body.append(frame);
            return [window.injected ?? false, window.clicked ?? false, fetched];
        }"""
    )

    assert done == [False, False, False]
    assert [url for url in visited.requests if url.startswith("http")] == []
