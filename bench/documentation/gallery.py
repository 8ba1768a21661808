"""The pictures of the gallery: a small matrix is measured, and every page of it is looked at in a real browser.

    python -m bench.documentation.gallery                       # measure, then draw: half an hour on a quiet host
    python -m bench.documentation.gallery --results DIR         # draw what is measured already, and one more run
    python -m bench.documentation.gallery --results DIR --only site

Cells run in virtual environments, on one CPU. The run that is looked at while it is measured is the last one.
One run is measured under another host name, which takes root, so that two hosts can be compared. The run of a published
study is merged; other views have the matrix of the gallery as their filter, or name what they compare.
"""

import argparse
import contextlib
import io
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, DIMMED_MONOKAI, TerminalTheme

from bench.documentation.gallery_runs import (
    AS_IT_IS,
    GALLERY,
    MATRIX,
    NEWER,
    OLDER,
    SECOND_HOST,
    measure,
    orchestrator,
)
from bench.records import ROOT
from orchestrator.reporting.live.logs import last_line, newest_log
from orchestrator.reporting.live.screen import Screen, view
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.server.state import Story
from orchestrator.server.tail import EventTail

PICTURES = ROOT / "docs" / "assets" / "gallery"
MOST_BYTES = 200_000
COLUMNS, ROWS = 100, 30
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SCHEMES = ("light", "dark")
DESKTOP, PHONE = {"width": 1200, "height": 860}, {"width": 390, "height": 844}
SIZES = (("", DESKTOP, SCHEMES), ("-phone", PHONE, SCHEMES[:1]))
"""The addition to the name of a picture, the size of the page, and its schemes."""
MEASURED = 0.5
"""The share of repeats that have ended when a run is looked at."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A view with its picture."""

    name: str
    address: str
    height: int = DESKTOP["height"]
    scroll: str = ""
    """The element that the picture begins with; empty for the top of the page."""


VIEWS = (
    Shown("overview", f"?f.matrix={GALLERY}", 760),
    Shown("behind", f"behind?r=lenet&c=openvino&cols=framework&f.matrix={GALLERY}", 800),
    Shown("cell", "cell?run={run}&id={cell}", 900),
    Shown("blocks", "cell?run={run}&id={cell}", 900, "figure"),
    Shown("compare", "compare?kind=label&metric=throughput&a={older}&b={newer}", 900),
    Shown("compare-hosts", "compare?kind=host&metric=throughput&a={host}&b={other_host}&f.mode=infer", 900),
    Shown("all-series", "series", 860),
    Shown("series", "series?name={series}", 760),
    Shown("scaling", "scaling", 860),
    Shown("frontier", "frontier", 860),
    Shown("pareto", f"pareto?f.work=lenet-infer-b32&f.matrix={GALLERY}", 860),
    Shown("runs", "runs", 520),
    Shown("run", "run?run={run}", 900),
    Shown("regression-test", "run?run={test}", 860),
    Shown("nights", "nights", 760),
    Shown("searches", "searches", 900),
    Shown("studies", "claims", 900),
    Shown("found", "find?q=openvino b32", 560),
)
"""Every view of the site."""
_IS_SHOWN = re.compile(r"^openvino.*/lenet-infer-b32(-|$)")
"""The cell of which everything is shown."""


def own_runs(results: Path) -> list[Run]:
    """Return the runs of this host that measured all cells, or tested or tried releases of them, in their order."""
    return [run for run in runs(results) if run.plan().name == GALLERY]


def site_views(results: Path) -> list[Shown]:
    """Return every view, with the runs of these results in its address."""
    whole = own_runs(results)
    shown_cells = [(run, cell.id) for run in whole for cell in run.plan().cells if _IS_SHOWN.search(cell.id)]
    run, cell = shown_cells[-1]
    names = {
        "host": quote(str(run.record().host["hostname"])),
        "other_host": SECOND_HOST,
        "older": quote(OLDER.replace("==", " ")),
        "newer": quote(NEWER.replace("==", " ")),
        "run": run.name,
        "cell": quote(cell),
        "series": quote("onnxruntime-*-cpu/lenet-infer-b32"),
        "test": next(run.name for run in whole if (run.folder / "regression.json").exists()),
    }
    return [replace(shown, address=shown.address.format(**names)) for shown in VIEWS]


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve the results, and give the address."""
    command = orchestrator("--quiet", "serve", "--port", "0")
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def look_on(results: Path, folder: Path, browser: Browser) -> None:
    """Measure one more run, and draw the live view and the terminal in the middle of it."""
    (folder / "again.yaml").write_text(MATRIX.format(name=GALLERY, release=NEWER))
    known = {run.name for run in runs(results)}
    command = orchestrator("run", "-f", "again.yaml", "--runtime", "venv", *AS_IT_IS)
    running = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with serving(folder) as address:
            run = _begun(results, known, running)
            story = _in_its_middle(run, running)
            for scheme in SCHEMES:
                terminal(browser, story, folder, scheme)
            for suffix, size, schemes in SIZES:
                for scheme in schemes:
                    with page(browser, size, scheme) as opened:
                        opened.goto(f"{address}#/live")
                        opened.locator(".under-way").first.wait_for()
                        keep(opened, f"live{suffix}", scheme)
            running.wait()
    finally:
        running.terminate()
        running.wait()


def _begun(results: Path, known: set[str], running: subprocess.Popen[bytes]) -> Path:
    while running.poll() is None:
        for run in runs(results):
            if run.name not in known and (run.folder / "events.jsonl").exists():
                return run.folder
        time.sleep(0.2)
    raise SystemExit("the run has ended before it was looked at")


def _in_its_middle(run: Path, running: subprocess.Popen[bytes]) -> Story:
    """Follow a run until enough of it is measured and a repeat is under way."""
    story = Story()
    with contextlib.closing(EventTail(run)) as tail:
        while running.poll() is None:
            for event, at in tail.events():
                story.tell(event, at)
            progress = story.progress
            if progress.planned and progress.done >= MEASURED * progress.planned and progress.running:
                return story
            time.sleep(0.5)
    raise SystemExit("the run has ended before it was looked at")


def terminal(browser: Browser, story: Story, folder: Path, scheme: str) -> None:
    """Draw what the terminal of a run shows at the moment. Its logs are named from the folder that it works in."""
    console = Console(record=True, width=COLUMNS, height=ROWS, force_terminal=True, file=io.StringIO())
    log = last_line(str(folder / newest_log(story.progress)))
    console.print(view(story.progress, time.time(), Screen(COLUMNS, ROWS), log))
    theme: TerminalTheme = DIMMED_MONOKAI if scheme == "dark" else DEFAULT_TERMINAL_THEME
    text = console.export_html(theme=theme, inline_styles=True, code_format=_TERMINAL)
    with page(browser, DESKTOP, scheme) as opened:
        opened.set_content(text)
        keep(opened, "terminal", scheme, selector="pre")


_TERMINAL = """<!doctype html><body style="margin:0"><pre style="display:inline-block;margin:0;padding:18px 22px;
font:15px/1.35 'DejaVu Sans Mono',monospace;color:{foreground};background:{background}">{code}</pre></body>"""


def draw_site(results: Path, folder: Path, browser: Browser) -> None:
    """Draw every view of the site, and the page of the newest run."""
    site = folder / "site"
    subprocess.run(orchestrator("publish", "-o", "site"), cwd=folder, check=True)
    index = (site / "index.html").as_uri()
    for shown in site_views(results):
        for suffix, size, schemes in SIZES:
            for scheme in schemes:
                with page(
                    browser, {**size, "height": shown.height if size is DESKTOP else size["height"]}, scheme
                ) as opened:
                    opened.goto(f"{index}#/{shown.address}")
                    _settled(opened, shown.scroll)
                    keep(opened, f"{shown.name}{suffix}", scheme)
    newest = next(run for run in reversed(own_runs(results)) if (run.folder / "report" / "index.html").is_file())
    for scheme in SCHEMES:
        with page(browser, {**DESKTOP, "height": 1100}, scheme) as opened:
            opened.goto((newest.folder / "report" / "index.html").absolute().as_uri())
            opened.wait_for_timeout(300)
            keep(opened, "page-of-a-run", scheme)


def _settled(opened: Page, scroll: str) -> None:
    opened.wait_for_selector("main h1")
    opened.evaluate("document.querySelectorAll('details.night').forEach(night => { night.open = true; })")
    opened.wait_for_timeout(400)
    if scroll:
        opened.locator(scroll).first.evaluate("element => scrollTo(0, element.getBoundingClientRect().top - 120)")
        opened.wait_for_timeout(200)


@contextlib.contextmanager
def page(browser: Browser, size: dict[str, int], scheme: str) -> Iterator[Page]:
    """Open an empty page of a size, in light or dark, and refuse what it complains of."""
    scale = 2 if size["width"] == PHONE["width"] else 1
    context = browser.new_context(
        viewport={"width": size["width"], "height": size["height"]}, device_scale_factor=scale,
        color_scheme="dark" if scheme == "dark" else "light",
    )  # fmt: skip
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text))
    yield opened
    context.close()
    assert not complaints, complaints


def keep(opened: Page, name: str, scheme: str, selector: str = "") -> None:
    """Store what a page shows, in few colors if it must be.

    Raises `AssertionError` if it is too large for the documentation.
    """
    PICTURES.mkdir(parents=True, exist_ok=True)
    path = PICTURES / f"{name}-{scheme}.png"
    shot = opened.locator(selector).screenshot() if selector else opened.screenshot()
    picture = Image.open(io.BytesIO(shot)).convert("RGB")
    picture.save(path, optimize=True)
    if path.stat().st_size >= MOST_BYTES:  # fewer colors would do away with those of small marks
        picture.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"  {path.name}: {size / 1000:.0f} kB", flush=True)
    assert size < MOST_BYTES, path


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.documentation.gallery", description=__doc__)
    parser.add_argument("--results", type=Path, help="results that are measured already")
    parser.add_argument("--only", nargs="+", choices=("live", "site"), default=["live", "site"])
    options = parser.parse_args(arguments)
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    with tempfile.TemporaryDirectory(prefix="gallery-") as scratch, sync_playwright() as playwright:
        folder = Path(scratch)
        results = folder / "results"  # the name that commands on the pages have
        if options.results is None:
            measure(folder)
        else:
            results.symlink_to(options.results.resolve())
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        if "live" in options.only:
            look_on(results, folder, browser)
        if "site" in options.only:
            draw_site(results, folder, browser)
        browser.close()


if __name__ == "__main__":
    main()
