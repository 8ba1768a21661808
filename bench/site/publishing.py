"""A site of 1,000 generated runs with 100,000 results: published, looked at in a real browser, and published again.

    python -m bench.site.publishing [--runs 1000] [--results DIR]

The results are made up (`bench/site/runs.py`). Publishing runs in processes of its own: the first call, and one after a
further run. A process that shares its CPU takes longer by the clock than by its CPU time: both are shown, of a page
those of its main thread, and the bars are for the clock on an idle host. The browser opens the site from disk and from
a web server, with empty caches.
"""

import argparse
import functools
import http.server
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.site import runs as site_runs

RUNS = 1000
FIRST_S, VIEW_S, VIEW_BYTES, FACET_S, AGAIN = 60.0, 1.5, 2_000_000, 0.1, 0.05
LOOKS = 5
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
_CHANGES = {
    "": (
        ("metric", "latency_p50"), ("f.host", "generated-c"), ("cols", "label"), ("rows", "work"), ("f.mode", "train"),
        ("cols", "framework"), ("f.mode", ""), ("f.host", ""), ("metric", "throughput"),
    ),
    "scaling": (
        ("metric", "latency_p50"), ("f.host", ""), ("by", "label"), ("f.model", ""), ("by", "framework"),
        ("metric", "throughput"),
    ),
    "pareto": (
        ("x", "latency_p50"), ("f.host", ""), ("f.work", ""), ("y", "peak_memory"), ("f.host", "generated-c"),
        ("y", "throughput"),
    ),
}  # fmt: skip
"""Controls of each view with the values that they are set to, one after the other."""
_DRAWN = {"": "td.heat", "scaling": ".plot", "pareto": ".plot"}
_SET = """([name, value]) => {
    const control = document.querySelector(`main select[name="${name}"]`);
    const begin = performance.now();
    control.value = value;
    control.dispatchEvent(new Event("change", { bubbles: true }));
    return new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin))));
}"""
"""Set a control, and return the milliseconds until the frame after it is drawn."""


def publish(results: Path, site: Path) -> tuple[float, float, dict[str, object]]:
    """Publish in a process of its own, and return the seconds by the clock and of the CPU, and its document."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    command = [sys.executable, "-m", "orchestrator", "publish", "-o", str(site), "--results", str(results), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    wall_s = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall_s, cpu_s, json.loads(done.stdout)["data"]


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a folder on this host."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Watched:
    """A fresh page of an empty cache, with the CPU time of its main thread."""

    def __init__(self, browser: Browser) -> None:
        self.context = browser.new_context(viewport={"width": 1440, "height": 900})
        self.page = self.context.new_page()
        self.session = self.context.new_cdp_session(self.page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def cpu_s(self) -> float:
        """Return the CPU time of the main thread so far."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def first_view(browser: Browser, address: str, site: Path) -> tuple[float, float, int]:
    """Return the seconds to the drawn heat map, those of the CPU, and the bytes of all files that it loads."""
    watched = Watched(browser)
    page = watched.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("about:blank")
    page.goto(address, wait_until="commit")
    page.wait_for_selector("td.heat")
    drawn_s: float = page.evaluate(
        "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now() / 1000))))"
    )
    base = address.removesuffix("index.html")
    files = {url.partition("?")[0].partition("#")[0].removeprefix(base) or "index.html" for url in asked}
    size = sum((site / name).stat().st_size for name in files if not name.startswith("data:"))
    cpu_s = watched.cpu_s()
    watched.context.close()
    return drawn_s, cpu_s, size


def facets(browser: Browser, address: str, view: str) -> list[tuple[float, float]]:
    """Return the seconds of each change of a facet of a view whose data is loaded, and those of the CPU."""
    watched = Watched(browser)
    page = watched.page
    taken = []
    for look in range(LOOKS + 1):
        page.goto(f"{address}#/runs")
        page.goto(f"{address}#/{view}")
        page.wait_for_selector(_DRAWN[view])
        for name, value in _CHANGES[view]:
            before = watched.cpu_s()
            drawn_s = page.evaluate(_SET, [name, value]) / 1000
            if look:
                taken.append((drawn_s, watched.cpu_s() - before))
            else:
                page.wait_for_load_state("networkidle")  # the first look loads the columns
    watched.context.close()
    return taken


def figure(name: str, value: str, wanted: str, *, within: bool) -> dict[str, object]:
    """Return one figure as the page of figures shows it."""
    print(f"  {name}: {value} (wanted {wanted})", file=sys.stderr)
    return {"name": f"site: {name}", "text": value, "wanted": wanted, "within": within}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--pairs", type=int, help="of no meaning here; every benchmark takes it")
    parser.add_argument("--results", type=Path, help="generated runs that are there; the last is set aside for a while")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-site-") as scratch:
        results, site = arguments.results or Path(scratch, "results"), Path(scratch, "site")
        if arguments.results is None:
            site_runs.make(results, arguments.runs)
        print(json.dumps(measured(results, site, Path(scratch))))


def measured(results: Path, site: Path, scratch: Path) -> list[dict[str, object]]:
    """Measure everything on these runs."""
    last = max(path.parent for path in results.glob("*/run.json"))
    last.rename(scratch / last.name)
    try:
        first_s, first_cpu_s, _ = publish(results, site)
    finally:
        (scratch / last.name).rename(last)
    again = [publish(results, site)]
    ratio, cpu_ratio = again[0][0] / first_s, again[0][1] / first_cpu_s
    runs, repeats, size = (int(str(again[0][2][name])) for name in ("runs", "repeats", "size_bytes"))
    if again[0][2]["read"] != 1:
        raise SystemExit(f"{again[0][2]['read']} runs were read again")
    what = f"{runs:,} runs, {repeats:,} results"
    found = [
        figure(f"publish {what}", f"{first_s:.1f} s ({first_cpu_s:.1f} s of CPU), {size / 1e6:.0f} MB",
               f"≤ {FIRST_S:.0f} s", within=first_s <= FIRST_S),
        figure("publish after one more run", f"{again[0][0]:.2f} s ({again[0][1]:.2f} s of CPU): {ratio:.3f} of the "
               f"first ({cpu_ratio:.3f} of its CPU)", f"≤ {AGAIN}", within=ratio <= AGAIN),
    ]  # fmt: skip
    with sync_playwright() as playwright, served(site) as address:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for kind, place in (("from disk", f"{site.as_uri()}/index.html"), ("from a server", address)):
            looks = [first_view(browser, place, site) for _ in range(LOOKS)]
            view_s, view_cpu_s = (statistics.median(look[of] for look in looks) for of in (0, 1))
            size = looks[0][2]
            found.append(
                figure(f"first view {kind}", f"{view_s:.2f} s ({view_cpu_s:.2f} s of CPU), {size / 1e6:.2f} MB",
                       f"≤ {VIEW_S} s, ≤ {VIEW_BYTES / 1e6:.0f} MB", within=view_s <= VIEW_S and size <= VIEW_BYTES)
            )  # fmt: skip
            found += [_facet_figure(view, kind, facets(browser, place, view)) for view in _CHANGES]
        browser.close()
    return found


def _facet_figure(view: str, kind: str, changes: list[tuple[float, float]]) -> dict[str, object]:
    change_s, change_cpu_s = (sorted(change[of] for change in changes) for of in (0, 1))
    most = int(0.95 * len(changes))
    of = f" of {view}" if view else ""
    return figure(f"change of a facet{of} {kind}, 95 % of {len(changes)}",
                  f"{change_s[most] * 1e3:.0f} ms ({change_cpu_s[most] * 1e3:.0f} ms of CPU)",
                  f"≤ {FACET_S * 1e3:.0f} ms", within=change_s[most] <= FACET_S)  # fmt: skip


def chromium() -> str:
    """Return the path of a browser. Raises `SystemExit` without one."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise SystemExit("no Chromium on this host")
    return found


if __name__ == "__main__":
    main()
