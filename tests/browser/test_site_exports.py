"""Every figure of the site over all runs as it is taken away: as a picture, as figures and as a command."""

import base64
import csv
import functools
import http.server
import io
import shlex
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Locator, Page

from tests.browser.test_results_site import SERIES, VIEWS, browser, settled, site
from tests.unit.reporting.site.everything import BLOCKS, LONG, STEPS, STUDIED

__all__ = ["browser", "site"]
pytestmark = pytest.mark.browser
FIGURES = (
    *("overview", "releases", "cell", "long cell", "compare", "hosts", "one series", "scaling", "pareto"),
    *("frontier", "searches", "studies"),
)
"""The views that have figures."""
WARM = 10
"""Blocks of the warm-up, the first step included."""


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}/"
        serving.shutdown()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that may use the clipboard, and that complains of nothing."""
    opened = browser.new_context(permissions=["clipboard-read", "clipboard-write"]).new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    yield opened
    assert complaints == []
    opened.context.close()


def taken(figure: Locator, kind: str) -> str:
    """Press a button of a figure, and return the text in the clipboard."""
    figure.get_by_role("button", name=kind, exact=True).click()
    said = figure.locator(".said")
    said.filter(has_text="copied").wait_for()
    text: str = figure.page.evaluate("navigator.clipboard.readText()")
    said.evaluate("element => { element.textContent = ''; }")
    return text


def picture(figure: Locator) -> bytes:
    """Press the button of the picture of a figure, and return it."""
    taken(figure, "PNG")
    text: str = figure.page.evaluate(
        """async () => {
            const [item] = await navigator.clipboard.read();
            const bytes = new Uint8Array(await (await item.getType("image/png")).arrayBuffer());
            return btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join(""));
        }"""
    )
    return base64.b64decode(text)


def named(page: Page, title: str) -> Locator:
    return page.locator("figure", has=page.locator("figcaption", has_text=title))


@pytest.mark.parametrize("view", FIGURES)
def test_every_figure_can_be_taken_away(page: Page, server: str, view: str) -> None:
    page.goto(f"{server}#/{VIEWS[view]}")
    settled(page)
    figures = page.locator("figure").all()

    assert figures
    for figure in figures:
        table = list(csv.reader(io.StringIO(taken(figure, "CSV"))))
        assert len(table) > 1
        assert {len(row) for row in table} == {len(table[0])}
        drawn = ElementTree.fromstring(taken(figure, "SVG"))
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(drawn.iter())) > 10
        assert not any("class" in element.attrib for element in drawn.iter())
        width, height = struct.unpack(">II", picture(figure)[16:24])
        assert (width, height) == tuple(2 * int(float(drawn.attrib[side])) for side in ("width", "height"))
        commands = taken(figure, "command").splitlines()
        assert {shlex.split(command)[0] for command in commands} == {"orchestrator"}


def test_views_without_figures_are_few() -> None:
    """A new view with a figure must be tested here."""
    assert set(VIEWS) - set(FIGURES) == {
        "behind", "hostile cell", "runs", "run", "hostile run", "regression test", "all series", "nights", "found",
        "nowhere",
    }  # fmt: skip


def test_a_series_is_taken_with_its_runs(page: Page, server: str) -> None:
    page.goto(f"{server}#/{VIEWS['one series']}")
    settled(page)
    figure = page.locator("figure").first
    table = taken(figure, "CSV").splitlines()

    assert table[0] == "run,begun,release,throughput,low,high"
    assert len(table) == page.locator("figure a .dot").count() + 1
    assert table[-1].startswith(STUDIED)
    # The name of the series is searched for as a text, so its star is no wildcard.
    named = SERIES.replace("*", "[*]")
    assert taken(figure, "command").startswith(f"orchestrator history --select '{named}' --metric throughput --host ")


def test_thinned_parts_keep_their_numbers(page: Page, server: str) -> None:
    """Of 2,001 blocks and 662 steps every second is taken, with the number that it had among all."""
    page.goto(f"{server}#/{VIEWS['long cell']}")
    settled(page)
    blocks = list(csv.DictReader(io.StringIO(taken(named(page, "Blocks in time"), "CSV"))))
    steps = list(csv.DictReader(io.StringIO(taken(named(page, "Steps in their order"), "CSV"))))

    of_first = [each for each in blocks if each["repeat"] == "0"]
    assert [int(each["block"]) for each in of_first] == list(range(-WARM, BLOCKS, 2))
    assert [int(each["block"]) for each in of_first if each["disturbed"]] == [100, 1_600]
    assert sum(each["warm_up"] == "true" for each in of_first) == WARM // 2
    assert [int(each["step"]) for each in steps if each["repeat"] == "1"] == list(range(0, STEPS, 2))
    assert "tokens/s" in blocks[0]
    assert taken(named(page, "Blocks in time"), "command").startswith(f"orchestrator show {LONG} ")


def test_a_heat_map_is_marked_alike_in_table_and_picture(page: Page, server: str) -> None:
    """▲ stands above four times, and ▼ below a fourth."""
    page.goto(server)
    settled(page)
    marks = page.evaluate(
        """() => [10, 2, 0.1].map((ratio) => {
            const entry = { mean: { ratio, width: 0.01, count: 1 }, higher: true };
            const one = [{ code: 0, text: "one" }];
            const means = { rowMean: () => entry, columnMean: () => ({ entry }) };
            const grid = { rows: one, cols: one, caption: "", entry: () => entry, to: () => null, ...means };
            const drawn = [bench.heatMap(grid), bench.heatPicture(grid)];
            return drawn.map((each) => each.querySelector(".heat").textContent);
        })"""
    )

    assert marks == [["▲ 10.0×"] * 2, ["2.00×"] * 2, ["▼ 0.10×"] * 2]
