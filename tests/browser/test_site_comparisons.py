"""Comparisons of the site over all runs, in a real browser: what it keeps apart, and what an address holds."""

import json
import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from orchestrator.workflows.host.host import Host
from orchestrator.workflows.site.publish import PublishOptions, publish
from tests.browser.test_report import Visit, browser
from tests.unit.reporting.site import compared

__all__ = ["browser"]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    results = compared.results(folder / "results")
    publish(PublishOptions(output=folder / "site", results=results), Host({"HOME": str(folder)}))
    return folder / "site"


@pytest.fixture(scope="module")
def shared(browser: Browser, site: Path) -> Visit:
    """One page for all tests, which go from view to view as a reader does."""
    return Visit(browser, f"{(site / 'index.html').as_uri()}#/runs", viewport={"width": 1280, "height": 900})


@pytest.fixture
def page(shared: Visit) -> Page:
    return shared.page


def go(page: Page, view: str) -> None:
    """Open a view anew, as from an address that was sent."""
    page.goto(f"{page.url.partition('#')[0]}#/{view}")
    page.reload()
    page.wait_for_selector("main h1")
    page.wait_for_selector("main .plot, main table")


def table(page: Page, name: str) -> list[list[str]]:
    """Return the first lines of all cells of a table."""
    found = page.get_by_role("table", name=name).locator("tbody tr").all()
    return [[text.split("\n")[0] for text in row.locator("th, td").all_inner_texts()] for row in found]


def test_scaling_keeps_models_and_pythons_apart(page: Page) -> None:
    """Each cell of the newest release is a point of a line of its own kind of work."""
    go(page, "scaling?f.host=bench-1&f.framework=torch")

    points = table(page, "Throughput by batch size")
    lines = [f"torch, {model}, Python {python}" for python in ("3.11", "3.9") for model in compared.MODELS]
    assert [[line, size] for line, size, *_ in points] == [
        [line, str(size)] for line in lines for size in compared.SIZES
    ]
    assert page.locator("figure a .dot").count() == len(points)


def test_a_filter_can_be_taken_off_a_view_that_chose_it(page: Page) -> None:
    """The other filters that the view chose stay, and with the last one gone none of them comes back."""
    go(page, "scaling")
    model = page.get_by_label("Model", exact=True)
    assert model.input_value() != ""

    model.select_option("")
    assert model.input_value() == ""
    assert "f.mode=train" in page.url
    assert "all=yes" in page.url

    page.get_by_label("Mode", exact=True).select_option("")
    page.get_by_text("More filters").click()
    assert model.input_value() == ""
    assert page.get_by_label("Mode", exact=True).input_value() == ""

    go(page, "pareto?all=yes")
    assert page.get_by_label("Work", exact=True).input_value() == ""


def test_a_release_is_newer_than_its_candidates(page: Page) -> None:
    go(page, "?cols=framework&f.python=3.11")
    assert page.locator("thead th").filter(has_text="torch").inner_text().split() == ["torch", "2.0.0"]

    go(page, "scaling?f.python=3.11")
    assert {release for *_, release in table(page, "Throughput by batch size")} == {"torch 2.0.0"}

    go(page, "compare?kind=label")
    labels = page.get_by_label("Baseline").locator("option").all_inner_texts()
    assert labels[-3:] == ["torch 1.13.1", "torch 2.0.0rc1", "torch 2.0.0"]


def test_releases_are_paired_within_a_python(page: Page) -> None:
    """Two Pythons of both releases are two pairs for each work, with the ratios that each Python has."""
    go(page, "compare?kind=label&a=torch 1.13.1&b=torch 2.0.0&f.mode=train")

    pairs = table(page, "Every pair")
    ratios = sorted(round(float(ratio.rstrip("×"))) for *_, ratio, _, _ in pairs)
    assert ratios == [2] * 4 + [4] * 4
    assert page.get_by_text("Python 3.9 to").count() == 0


def test_sides_without_a_common_python_say_so(page: Page) -> None:
    go(page, "compare?kind=label&a=mxnet 1.9.1&b=torch 2.0.0&f.mode=train")

    assert page.get_by_text("Python 3.8 to 3.11").count() == 4
    go(page, "behind?cols=framework&base=mxnet&r=lenet&c=torch&f.mode=train")
    assert page.get_by_text("Python 3.8 to 3.11").count() == 2


def test_the_overview_averages_no_pythons(page: Page) -> None:
    """Both Pythons of a release are compared with their own, and each is one comparison."""
    base = "cols=label&base=torch 1.13.1&f.framework=torch&f.mode=train"
    go(page, f"behind?{base}&r=lenet&c=torch 2.0.0")

    ratios = [round(float(row[5].rstrip("×"))) for row in table(page, "Comparisons")]
    assert sorted(ratios) == [2, 2, 4, 4]


def test_pythons_are_compared_within_a_release(page: Page) -> None:
    go(page, "behind?cols=python&base=3.11&r=lenet&c=3.9&f.mode=train")

    assert sorted(round(float(row[5].rstrip("×"))) for row in table(page, "Comparisons")) == [4, 4, 8, 8]


def test_of_two_releases_of_a_run_the_newest_is_paired(page: Page) -> None:
    """A run that shares no cell is compared by its newest release. The others are listed without a partner."""
    runs = f"a={compared.SMOKE}&b={compared.TWO_RELEASES}"
    go(page, f"compare?kind=run&{runs}")

    assert [row[0] for row in table(page, "Every pair")] == ["tensorflow 2.10.0", "tensorflow 2.9.0"]
    assert [row[-1] for row in table(page, "Every pair")][1] == "only candidate"


def test_unbeaten_rows_are_those_of_every_pair(page: Page) -> None:
    """Also of more rows than a comparison of all pairs would bear, with rows that are equal."""
    draw = random.Random(6)
    rows = [(draw.randrange(2), draw.randrange(60), draw.randrange(60)) for _ in range(4000)]
    expected = [
        number
        for number, (group, x, y) in enumerate(rows)
        if not any(g == group and a >= x and b >= y and (a, b) != (x, y) for g, a, b in set(rows))
    ]

    found = page.evaluate(
        """rows => [...bench.unbeaten(rows.map((_, n) => n), n => rows[n][0], n => rows[n][1], n => rows[n][2])]""",
        rows,
    )

    assert sorted(found) == expected


def test_a_frontier_is_drawn_over_batch_sizes(page: Page) -> None:
    go(page, "frontier?f.model=lenet&f.python=3.11&f.mode=train&by=label")

    points = table(page, "Throughput against")
    assert [row[0] for row in points] == [
        f"torch {version}" for version in ("1.13.1", "2.0.0", "2.0.0rc1") for _ in compared.SIZES
    ]
    assert {row[0] for row in points if row[4] == "on it"} == {"torch 2.0.0"}
    assert page.locator("figure a .dot:not(.hollow)").count() == 2
    assert page.locator("figure .limit").all_text_contents() == ["limit 50 ms"]
    assert page.locator("figure .whisker").count() == 2 * len(points)


def test_the_best_within_a_limit_is_named(page: Page) -> None:
    """The limit leaves out the larger batch of the slowest framework."""
    go(page, "frontier?f.model=lenet&f.framework=mxnet")

    (best,) = table(page, "The highest rate within each limit")
    assert best[1:3] == ["50 ms", "mxnet, 8"]


def test_a_frontier_is_drawn_over_request_rates(page: Page) -> None:
    go(page, "frontier?along=rate")

    assert [row[1] for row in table(page, "Throughput against")] == [f"{rate:g}" for rate in compared.RATES]
    assert page.locator("figure .limit").all_text_contents() == ["limit 100 ms"]


@pytest.mark.parametrize("axis", ["Request rate", "Load", "Latency limit", "Python"])
def test_an_axis_of_the_work_is_a_facet(page: Page, axis: str) -> None:
    go(page, "")
    page.get_by_text("More filters").click()

    assert page.get_by_label(axis, exact=True).count() == 1


def test_smoke_runs_are_shown_by_a_switch(page: Page) -> None:
    go(page, "?cols=framework&base=tensorflow&f.framework=tensorflow")
    before = page.locator("thead th.base").inner_text()
    page.get_by_label("With smoke runs").check()

    assert "smoke=yes" in page.url
    assert (before.split()[-1], page.locator("thead th.base").inner_text().split()[-1]) == ("2.10.0", "2.21.0")
    assert page.get_by_text("More filters (2 set)").count() == 1
    page.get_by_label("With smoke runs").uncheck()
    assert "smoke" not in page.url


def test_the_order_of_a_table_is_in_the_address(page: Page) -> None:
    """The order of rows, either way, and the rows that were asked for are there again in another browser."""
    go(page, "scaling?f.mode=train")
    head = page.get_by_role("columnheader", name="throughput")
    head.get_by_role("button").click()
    assert "sort=-throughput" in page.url
    largest_first = table(page, "Throughput by batch size")

    page.reload()
    page.wait_for_selector(".plot")
    assert table(page, "Throughput by batch size") == largest_first
    assert head.get_attribute("aria-sort") == "descending"

    head.get_by_role("button").click()
    assert re.search(r"sort=throughput", page.url)
    assert table(page, "Throughput by batch size") == largest_first[::-1]


def test_the_second_table_has_an_order_of_its_own(page: Page) -> None:
    go(page, "find?q=torch&sort=-Host")
    go(page, "frontier?f.model=lenet&sort2=-Batch size")

    assert table(page, "Throughput against")[0][1] == "80"
    assert page.get_by_role("table", name="The highest rate").locator("[aria-sort]").count() == 0


def test_more_rows_are_in_the_address(page: Page) -> None:
    go(page, "compare?kind=label&a=torch 1.13.1&b=torch 2.0.0&shown=3")
    shown = (
        "(() => [...document.querySelectorAll('main table')].map(each => each.querySelectorAll('tbody tr').length))()"
    )
    assert page.evaluate(shown) == [11]

    table_of = (
        "bench.table('Many', [{ head: 'n', text: n => n, sort: n => n }], Array.from({ length: 5000 }, (_, n) => n))"
    )
    page.evaluate(f"bench.labels.clear(); document.querySelector('main').replaceChildren(...{table_of})")
    page.get_by_role("button", name="Show more").click()
    assert "shown=1200" in page.url
    page.evaluate(f"bench.labels.clear(); document.querySelector('main').replaceChildren(...{table_of})")
    assert page.evaluate(shown) == [1200]


def test_rates_count_what_their_mode_counts(page: Page) -> None:
    """The throughput of a generation is in tokens, and an axis that has both names both."""
    units = page.evaluate(
        """() => {
            const { site } = bench;
            const { mode } = site.index.cells;
            site.index.cells.sample = { of: mode.of.map(each => each === "train" ? "sample" : "token"), at: mode.at };
            const rows = [...site.cellOf.keys()];
            const answered = rows.find(row => site.axis(row, "mode") === "requests");
            const [rate, latency] = ["throughput", "latency_p50"].map(name => site.metrics.get(name));
            return [site.figure(rate, answered, 10), site.counted(rate, rows).unit, site.counted(latency, rows).unit];
        }"""
    )

    assert units == ["10 tokens/s", "samples/s or tokens/s", "s"]
    page.reload()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["frontier", "compare?kind=label&a=mxnet 1.9.1&b=torch 2.0.0", "scaling?f.mode=train"])
def test_all_can_read_a_comparison(browser: Browser, site: Path, view: str, scheme: str) -> None:
    """Limits, switches and Pythons have contrast and names, and a phone scrolls none of it sideways."""
    address = f"{(site / 'index.html').as_uri()}#/{view}"
    visited = Visit(browser, address, color_scheme=scheme, viewport={"width": 390, "height": 844})
    visited.page.wait_for_selector("main .plot")
    visited.open_all()

    assert visited.violations() == []
    assert visited.page.evaluate("document.documentElement.scrollWidth") <= 390
    visited.page.context.close()


def test_a_view_is_found_by_its_name(page: Page) -> None:
    page.goto(f"{page.url.partition('#')[0]}#/find?q=frontier")
    page.locator("main").get_by_role("link", name="Frontier").click()
    page.wait_for_selector(".plot")

    assert page.locator("h1").inner_text() == "Frontier"


def test_no_view_has_complained(shared: Visit) -> None:
    assert shared.complaints == []
    assert json.dumps(shared.requests).count("http") == 0
