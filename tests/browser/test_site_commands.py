"""The commands that figures of the site over all runs hand out: each is run, and prints what its figure shows."""

import csv
import io
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from orchestrator.cli import main
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.site.publish import PublishOptions, publish
from tests.browser.test_report import Visit, browser
from tests.unit.reporting.site import compared, everything
from tests.unit.reporting.site.everything import FAST, STUDIED, SWEPT

__all__ = ["browser"]
pytestmark = pytest.mark.browser
Copied = Callable[[str], list[str]]
Ran = Callable[[str], str]
SEARCH = "bisect-20260501T030405Z-0001"
_COPY = """async () => {
    const taken = [];
    bench.copied = (kind, text) => { taken.push(text); return "copied"; };
    const buttons = [...document.querySelectorAll(".take button")].filter(button => button.textContent === "command");
    buttons.forEach(button => button.click());
    while (taken.length < buttons.length) await new Promise(done => setTimeout(done, 20));
    return taken;
}"""
"""Copy every command into a list, as the clipboard is closed to pages from disk."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    results = everything.results(folder / "results")
    compared.results(results)
    shutil.copytree(results / SWEPT, results / SEARCH / SWEPT)
    publish(PublishOptions(output=folder / "site", results=results), Host({"HOME": str(folder)}))
    return folder / "site"


@pytest.fixture
def copied(browser: Browser, site: Path) -> Copied:
    """Return the lines of the commands of all figures of a view."""

    def taken(view: str) -> list[str]:
        page = Visit(browser, f"{(site / 'index.html').as_uri()}#/{view}").page
        page.wait_for_selector("main h1")
        page.wait_for_selector(".take")
        texts: list[str] = page.evaluate(_COPY)
        page.context.close()
        return [line for text in dict.fromkeys(texts) for line in text.splitlines()]

    return taken


@pytest.fixture
def ran(site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ran:
    """Run a command as a shell does, and return what it has printed. A comparison ends with 1 if something is worse."""
    monkeypatch.chdir(site.parent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(site.parent / "cache"))

    def run(line: str) -> str:
        program, *arguments = shlex.split(line)
        assert program == "orchestrator"
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        printed = capsys.readouterr()
        assert ended.value.code in ({0, 1, None} if arguments[0] == "compare" else {0, None}), printed.err
        return printed.out

    return run


def cells(printed: str) -> set[tuple[str, str]]:
    """Return run and cell of each line with figures."""
    return {(row["run"], row["cell"]) for row in csv.DictReader(io.StringIO(printed)) if row["status"] == "ok"}


def shown(browser: Browser, site: Path, view: str) -> set[tuple[str, str]]:
    """Return run and cell of each link to a cell within a view."""
    page = Visit(browser, f"{(site / 'index.html').as_uri()}#/{view}").page
    page.wait_for_selector("main table tbody a[href*='#/cell']")
    links: list[list[str]] = page.evaluate(
        """[...document.querySelectorAll("main table a[href*='#/cell']")].map(a => {
            const values = new URLSearchParams(a.hash.split("?")[1]);
            return [values.get("run"), values.get("id")];
        })"""
    )
    page.context.close()
    return {(run, cell) for run, cell in links}


@pytest.mark.parametrize(
    "view",
    [
        "scaling?f.host=bench-1&f.model=lenet&from=2026-06-01",
        "scaling?f.host=bench-1&f.model=lenet&to=2026-05-20",
        "frontier?f.python=3.11&f.mode=train&f.model=mlp",
        "frontier?along=rate",
        "compare?kind=label&a=torch 1.13.1&b=torch 2.0.0&f.model=mlp",
    ],
)
def test_a_command_prints_the_cells_of_its_figure(
    browser: Browser, site: Path, copied: Copied, ran: Ran, view: str
) -> None:
    """Filters, dates, host and smoke runs count in the command as they do in the figure."""
    printed = set().union(*(cells(ran(line)) for line in copied(view)))

    assert printed == shown(browser, site, view)


def test_the_command_of_the_overview_has_its_filters(copied: Copied, ran: Ran) -> None:
    (line,) = copied("?cols=label&f.model=mlp&f.batch=8&f.python=3.9&base=torch 1.13.1")

    assert cells(ran(line)) == {
        (compared.OTHER_PYTHON, f"torch-{version}-cpu/mlp-train-b8") for version in ("1.13.1", "2.0.0")
    }


def test_a_batch_size_is_no_beginning_of_another(copied: Copied, ran: Ran) -> None:
    """`lenet-train-b8` would be the beginning of `lenet-train-b80` too."""
    lines = copied("pareto?f.work=lenet-train-b8&f.host=bench-1&from=2026-06-01")
    printed = set().union(*(cells(ran(line)) for line in lines))

    assert printed
    assert {cell.partition("/")[2] for _, cell in printed} == {"lenet-train-b8"}


@pytest.mark.parametrize("view", ["compare", "compare?f.model=lenet"])
def test_runs_are_compared_by_a_command(copied: Copied, ran: Ran, view: str) -> None:
    view = f"{view}{'&' if '?' in view else '?'}kind=run&a={compared.SWEPT}&b={compared.OTHER_PYTHON}"
    (line,) = copied(view)
    printed = ran(line)

    assert line.startswith(f"orchestrator compare {compared.SWEPT} {compared.OTHER_PYTHON}")
    assert "lenet" in printed
    assert ("mlp" in printed) == ("f.model" not in view)


def test_the_repeats_of_a_cell_are_printed_whole(copied: Copied, ran: Ran) -> None:
    """Blocks, steps and conditions are no part of the table of `show`."""
    (line,) = copied(f"cell?run={STUDIED}&id={quote(FAST.id)}")
    printed = ran(line)

    assert '"blocks"' in printed
    assert '"latency_s"' in printed


def test_a_series_is_printed_alone(copied: Copied, ran: Ran) -> None:
    (line,) = copied("series?name=mxnet-*-cpu/lenet-train-b200&host=bench-1&metric=latency_p50")
    rows = list(csv.DictReader(io.StringIO(ran(line))))

    assert {(row["series"], row["metric"], row["host"]) for row in rows} == {
        ("mxnet-*-cpu/lenet-train-b200", "latency_p50", "bench-1")
    }


def test_a_claim_is_printed(copied: Copied, ran: Ran) -> None:
    (line,) = copied("claims")

    assert "A study of frameworks" in ran(line)


def test_the_command_of_a_search_measures_nothing(browser: Browser, site: Path, ran: Ran) -> None:
    """It prints the runs that the search has made, also those of one that has not ended."""
    page = Visit(browser, f"{(site / 'index.html').as_uri()}#/searches").page
    page.wait_for_selector("main h1")
    line = page.evaluate(f"bench.commands.search('{SEARCH}')")

    assert {run for run, _ in cells(ran(line))} == {SWEPT}
