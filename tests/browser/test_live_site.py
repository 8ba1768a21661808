"""The served site in a real browser, while a run is measured beside it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from orchestrator.domain import Outcome, Status
from orchestrator.events import (
    BuildStarted,
    CellToRun,
    ImageToMake,
    Notice,
    RepeatFinished,
    RepeatStarted,
    RunStarted,
    Transferred,
    ignore,
)
from orchestrator.reporting.live.recorded import recorded
from tests.browser.test_report import Visit, browser
from tests.unit.reporting.site.everything import HOSTILE
from tests.until import LIMIT_S, is_stopped, until

__all__ = ["browser"]
pytestmark = pytest.mark.browser
MATRIX = "version: 1\nname: live\nframeworks: [noop==1]\nmodels: [mlp, lenet]\nmodes: [infer]\nsteps: 20\nrepeats: {}\n"
ONE, TWO = "noop-1-cpu/mlp-infer-b32", "noop-1-cpu/lenet-infer-b200"
LINE = f"loading {HOSTILE}".replace("\u2028", " ")


def orchestrator(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "HOME": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-m", "orchestrator", *arguments], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@contextmanager
def served(folder: Path, *options: str) -> Iterator[str]:
    """Serve `results` of a folder on a free port, and give the address that is printed."""
    (folder / "results").mkdir(exist_ok=True)
    server = orchestrator(folder, "serve", "--port", "0", *options)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert address.startswith("http://"), server.communicate()
        yield address
    finally:
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=LIMIT_S)
    assert server.returncode == 0, errors


def measured(folder: Path, repeats: int = 2) -> subprocess.Popen[str]:
    (folder / "matrix.yaml").write_text(MATRIX.format(repeats))
    return orchestrator(folder, "run", "--runtime", "host", "--no-parity")


def pause(run: subprocess.Popen[str], results: Path) -> None:
    """Stop a run in the middle of a repeat, so that no page is too slow to see it."""

    def events() -> list[str]:
        lines = [line for path in results.glob("*/events.jsonl") for line in path.read_text().splitlines()]
        return [json.loads(line)["event"] for line in lines]

    def is_in_a_repeat() -> bool:
        if events()[4:][-1:] != ["repeat_started"]:
            return False
        run.send_signal(signal.SIGSTOP)
        until(lambda: is_stopped(run.pid))
        if events()[-1] == "repeat_started":
            return True
        run.send_signal(signal.SIGCONT)
        return False

    until(is_in_a_repeat)


def visit(browser: Browser, address: str, **settings: object) -> Visit:
    """Open a page that waits as long as it takes: a run begins late on a busy host."""
    visited = Visit(browser, address, **settings)
    visited.page.set_default_timeout(1000 * LIMIT_S)
    return visited


def grid(page: Page) -> dict[str, str]:
    """Return what is said of the repeats of each cell that is shown."""
    found = page.locator("table.grid tbody tr")
    rows = [found.nth(number) for number in range(found.count())]
    return {row.locator("th").inner_text(): row.get_by_role("img").get_attribute("aria-label") or "" for row in rows}


def test_a_real_run_is_seen_from_begin_to_end(browser: Browser, tmp_path: Path) -> None:
    """In a folder that was empty: its cells, its phases, its end, and then its figures."""
    with served(tmp_path) as address:
        visited = visit(browser, f"{address}#/live")
        page = visited.page
        page.get_by_text("Nothing is under way").wait_for()
        run = measured(tmp_path, repeats=8)
        pause(run, tmp_path / "results")
        page.locator(".under-way").get_by_text("repeat").first.wait_for()
        page.locator(".counts", has_text="about").wait_for()
        assert set(grid(page)) == {ONE, TWO}
        assert any("to come" in each for each in grid(page).values())
        assert any("1 running" in each for each in grid(page).values())
        assert page.locator("nav .badge").inner_text().startswith("1")
        run.send_signal(signal.SIGCONT)
        output, errors = run.communicate()
        assert run.returncode == 0, (output, errors)
        page.get_by_text("has ended").wait_for()
        name = page.locator(".live-run h2").inner_text().split()[0]
        assert not any("to come" in each or "running" in each for each in grid(page).values())

        page.get_by_role("link", name=name).click()
        page.get_by_role("heading", name=name, level=1).wait_for()
        assert page.get_by_role("table", name="Cells").get_by_role("rowheader").count() == 2
        # Data that a newer index has replaced meanwhile are asked for in vain, which the page makes good.
        assert [each for each in visited.complaints if "404" not in each and "MIME type" not in each] == []
        assert {url.split("/")[2] for url in visited.requests if url.startswith("http")} == {address.split("/")[2]}


def test_a_new_run_reaches_what_is_open(browser: Browser, tmp_path: Path) -> None:
    """A view stays as it is until its reader asks for what is new."""
    measured(tmp_path).communicate()
    with served(tmp_path) as address:
        page = visit(browser, f"{address}#/runs").page
        page.get_by_role("rowheader").first.wait_for()
        measured(tmp_path).communicate()
        button = page.get_by_role("button", name="Show new results")
        button.wait_for()
        assert page.get_by_role("rowheader").count() == 1
        button.click()

        assert page.get_by_role("rowheader").count() == 2
        assert button.count() == 0


def test_a_view_whose_data_has_gone_comes_back(browser: Browser, tmp_path: Path) -> None:
    """A page that asks for what a newer index has replaced shows that one, as soon as it is told of it."""
    measured(tmp_path).communicate()
    with served(tmp_path) as address:
        page = visit(browser, f"{address}#/runs").page
        page.get_by_role("rowheader").first.wait_for()
        for path in tmp_path.glob("cache/framework-bench/sites/*/data/r-*.js"):
            path.unlink()
        page.get_by_role("rowheader").get_by_role("link").click()
        page.get_by_role("heading", name="Cannot be shown").wait_for()
        measured(tmp_path).communicate()
        page.get_by_role("table", name="Cells").wait_for()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Two runs under way that say whatever they like, for as long as the tests last."""
    folder = tmp_path_factory.mktemp("hostile")
    with ExitStack() as alive:
        for number in range(2):
            run = folder / "results" / f"20260101T000000Z-000{number}"
            (run / "noop" / "cell" / "0").mkdir(parents=True)
            (run / "builds").mkdir()
            (run / "noop" / "cell" / "0" / "log.txt").write_text(f"first\n{LINE}\n")
            (run / "builds" / "a.log").write_text(f"Step 2/7 : RUN {LINE}\n{LINE}\n")
            tell = alive.enter_context(recorded(run, ignore, lambda: datetime.now(UTC)))
            cells = [HOSTILE, "noop/cell", *(f"noop/many-{each}" for each in range(200))]
            states = ("", "ok", "not_run", "failed", "")
            tell(RunStarted(5, cells=tuple(CellToRun(each, states, 3.0) for each in cells), images=(ImageToMake("i"),)))
            tell(RepeatStarted("noop/cell", 0, 1))
            tell(RepeatFinished(Outcome(HOSTILE, 0, Status.OK, disturbance=HOSTILE), 12.0, counts="token"))
            tell(RepeatFinished(Outcome(HOSTILE, 1, Status.FAILED, HOSTILE)))
            tell(BuildStarted(HOSTILE, "a.log"))
            tell(Transferred(HOSTILE, 1_000_000, 5_000_000))
            tell(Notice(HOSTILE))
        yield alive.enter_context(served(folder))


@pytest.fixture
def live(browser: Browser, hostile: str) -> Iterator[Callable[..., Visit]]:
    """Visit the live view in pages that are closed at the end: each would go on to follow."""
    open_ones: list[Visit] = []

    def opened(**settings: object) -> Visit:
        visited = visit(browser, f"{hostile}#/live", **{"viewport": {"width": 1440, "height": 900}, **settings})
        open_ones.append(visited)
        visited.page.locator(".live-run").nth(1).wait_for()
        return visited

    yield opened
    for visited in open_ones:
        visited.page.context.close()


def test_hostile_names_and_logs_are_text(live: Callable[..., Visit]) -> None:
    visited = live()
    page = visited.page

    assert page.locator("main img, iframe, object, embed").count() == 0
    assert page.evaluate("[...document.scripts].every(script => script.src && !script.textContent)")
    shown = page.locator(".live-run").first
    for part in (".last-line", ".under-way .work", ".told.open", ".told.bad", "table.grid", ".note"):
        assert any("<script>alert(2)</script>" in text for text in shown.locator(part).all_text_contents()), part
    assert "step 2 of 7: RUN loading" in shown.locator(".work").first.inner_text()
    assert "1 MB of 5 MB" in shown.inner_text()
    assert shown.locator("table.grid td.number").all_inner_texts()[:2] == ["12 tokens/s", ""]
    assert visited.complaints == []


def test_many_cells_are_shown_when_asked(live: Callable[..., Visit]) -> None:
    card = live().page.locator(".live-run").first
    assert card.locator("tbody tr").count() == 120
    card.get_by_role("button", name="Show all").click()

    assert card.locator("tbody tr").count() == 202


@pytest.mark.parametrize("width", [1440, 768, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_live_view(live: Callable[..., Visit], width: int, scheme: str) -> None:
    visited = live(viewport={"width": width, "height": 844}, color_scheme=scheme)

    assert visited.violations() == []
    assert visited.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper_shows_the_live_view(live: Callable[..., Visit], scheme: str) -> None:
    visited = live(viewport={"width": 720, "height": 1000}, color_scheme=scheme)
    visited.page.emulate_media(media="print")

    assert visited.violations() == []
    assert visited.page.locator("header.page").is_hidden()
    assert visited.page.evaluate("document.documentElement.scrollWidth") <= 720


def test_the_keyboard_reaches_the_live_view(browser: Browser, hostile: str) -> None:
    page = visit(browser, hostile).page
    page.locator("nav .badge").wait_for()
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.path") == "live"
    page.keyboard.press("Enter")
    page.locator(".live-run").first.wait_for()

    assert page.evaluate("document.activeElement.textContent") == "Live"


def test_a_lost_server_is_told_and_found_again(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path) as address:
        page = visit(browser, f"{address}#/live").page
        page.get_by_text("Nothing is under way").wait_for()
    page.get_by_text("not connected").wait_for()
    with served(tmp_path, "--port", address.rstrip("/").rpartition(":")[2]):
        page.get_by_text("Nothing is under way").wait_for()


def test_a_token_opens_the_page_and_leaves_the_address(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, "--token", "correct-horse-battery") as address:
        assert address.endswith("/?token=correct-horse-battery")
        refused = visit(browser, address.partition("?")[0])
        assert "?token=" in refused.page.locator("body").inner_text()

        page = visit(browser, f"{address}#/live").page
        page.get_by_text("Nothing is under way").wait_for()
        assert "token" not in page.url
        (cookie,) = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        page.reload()
        page.get_by_text("Nothing is under way").wait_for()
