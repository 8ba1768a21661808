"""The looks of frameworks on the site over all runs: each has one by its name, on every view."""

import pytest
from playwright.sync_api import Page

from orchestrator.catalog.shipped import shipped_catalog
from tests.browser.test_report import browser
from tests.browser.test_site_comparisons import go, page, shared, site

__all__ = ["browser", "page", "shared", "site"]
pytestmark = pytest.mark.browser
LINES = 24
"""The most lines of a figure."""
HUES = {"mxnet": "series-1", "tensorflow": "series-2", "torch": "series-8"}


def legend(page: Page) -> list[tuple[str, str, str, str | None]]:
    """Return the text, the hue, the outline and the dash of each entry of a legend."""
    entries = page.locator("main .legend li").evaluate_all(
        """entries => entries.map(entry => [entry.textContent, entry.querySelector("svg").getAttribute("class"),
            entry.querySelector("path").getAttribute("d"),
            entry.querySelector("line")?.getAttribute("stroke-dasharray") ?? null])"""
    )
    return [(text, hue, outline, dash) for text, hue, outline, dash in entries]


def test_no_two_lines_look_the_same(page: Page) -> None:
    """Not even if a figure has as many lines as it may have, of any frameworks of the catalog."""
    go(page, "scaling")
    looks = page.evaluate(
        "([names, lines]) => names.flatMap(name => Array.from({ length: lines }, (_, line) => {"
        " const look = bench.look(name, line);"
        " return [look.series, look.dash, d3.symbol(bench.shape(look), 64)()].join('|'); }))",
        [list(shipped_catalog().names()), LINES],
    )

    assert len(looks) == len(shipped_catalog().names()) * LINES
    assert len(set(looks)) == len(looks)
    assert "NaN" not in "".join(looks)


def test_frameworks_can_be_told_apart_without_colour(page: Page) -> None:
    names = list(shipped_catalog().names())
    looks = page.evaluate("names => names.map(name => bench.look(name)).map(({ shape, dash }) => shape + dash)", names)

    assert len(set(looks)) == len(names)


def test_frameworks_of_no_catalog_get_what_is_left(page: Page) -> None:
    """Their names may be those of parts of every object."""
    others = ["__proto__", "constructor", "zoo"]
    looks = page.evaluate(
        "others => [...others, 'torch'].map(name => JSON.stringify(bench.look(name, 0, others)))", others
    )

    assert len(set(looks)) == 4


@pytest.mark.parametrize("by", ["framework", "label"])
@pytest.mark.parametrize("view", ["scaling", "frontier"])
def test_all_lines_of_a_framework_have_its_hue(page: Page, view: str, by: str) -> None:
    go(page, f"{view}?f.model=lenet&by={by}&all=yes")
    entries = legend(page)

    frameworks = {text.split()[0].rstrip(",") for text, *_ in entries}
    assert {"mxnet", "torch"} <= frameworks
    assert len(entries) > len(frameworks)
    assert all(hue == HUES[text.split()[0].rstrip(",")] for text, hue, *_ in entries)
    assert len({entry[1:] for entry in entries}) == len(entries)


def test_a_figure_draws_what_its_legend_shows(page: Page) -> None:
    go(page, "frontier?f.model=lenet&f.mode=train&by=label")
    drawn = page.locator("figure .plot g[class^='series-']").evaluate_all(
        "groups => groups.map(group => [group.getAttribute('class'),"
        " group.querySelector('.line').getAttribute('stroke-dasharray')])"
    )

    assert drawn == [[hue, dash] for _, hue, _, dash in legend(page)]


def test_a_framework_has_its_hue_where_there_are_no_lines(page: Page) -> None:
    go(page, "pareto?all=yes")
    entries = legend(page)

    assert {text: hue for text, hue, *_ in entries} == {text: HUES[text] for text, *_ in entries}
    assert len(entries) > 1
