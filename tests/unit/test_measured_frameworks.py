"""Rows beside hand-written loops are named by what is measured, and so replaced by a new measurement."""

import json

from bench import __main__ as bench
from bench.networks import frameworks
from bench.records import merged


def test_every_stored_row_is_one_that_is_measured() -> None:
    stored = [row["name"] for row in json.loads(bench.FIGURES.read_text())["frameworks"]]

    assert len(set(stored)) == len(stored)
    assert set(stored) <= {frameworks.title(name) for name in frameworks.FRAMEWORKS}


def test_titles_tell_rows_apart() -> None:
    assert len({frameworks.title(name) for name in frameworks.FRAMEWORKS}) == len(frameworks.FRAMEWORKS)


def test_a_row_that_was_measured_in_another_way_is_replaced() -> None:
    old = {"name": frameworks.title("torch"), "theirs": "hand-written loop, both at once on one CPU"}
    new = {"name": frameworks.title("torch"), "theirs": "hand-written loop"}

    assert merged([old], [new]) == [new]


def test_stored_page_matches_its_figures() -> None:
    assert bench.page(json.loads(bench.FIGURES.read_text())) == bench.PAGE.read_text()
