"""The limits of the intervals of a run, and the words of a report on them."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.reporting.findings.certainty.limits import limits_lines
from orchestrator.reporting.findings.compose import report
from orchestrator.reporting.findings.model import Group
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from tests.unit.workflows.scattered_runs import Scatter, planned, store


def group_of(folder: Path, scatter: Scatter, repeats: int, blocks: int = 10) -> Group:
    run = store(folder, "20260101T000000Z-0001", planned("a", "b").cells, scatter, repeats, blocks=blocks)
    (group,) = report(run).groups
    return group


def line_of(group: Group) -> str:
    (line,) = limits_lines(group)
    return line


def test_containers_ask_for_more_repeats(tmp_path: Path) -> None:
    group = group_of(tmp_path, Scatter(block=0.01, container=0.03), 20)
    line = line_of(group)

    assert group.limits is not None
    assert group.limits.container == pytest.approx(0.03, rel=0.3)
    assert "a container scatters by" in line
    assert "more repeats narrow them, and 5 blocks each take less time than 10" in line


def test_blocks_ask_for_longer_repeats(tmp_path: Path) -> None:
    line = line_of(group_of(tmp_path, Scatter(block=0.06, container=0.006), 20))

    assert "a block in its container scatters by" in line
    assert "blocks a repeat narrow them for less time than more repeats of 10" in line


def test_blocks_that_are_right_are_left(tmp_path: Path) -> None:
    line = line_of(group_of(tmp_path, Scatter(block=0.03, container=0.015), 40))

    assert line.endswith("more repeats narrow them, and other numbers of blocks hardly.")


@pytest.mark.parametrize(("repeats", "blocks", "block"), [(4, 10, 0.01), (6, 1, 0.01), (6, 10, 0.0)])
def test_too_little_says_nothing_of_limits(tmp_path: Path, repeats: int, blocks: int, block: float) -> None:
    """With few repeats, single blocks, or blocks that were timed by no clock."""
    group = group_of(tmp_path, Scatter(block=block, container=0.03), repeats, blocks)

    assert group.limits is None
    assert not [*limits_lines(group)]


@pytest.mark.parametrize("name", ["table", "md", "html", "json"])
def test_formats_show_what_limits_a_run(tmp_path: Path, name: str) -> None:
    run = store(tmp_path, "20260101T000000Z-0001", planned("a", "b").cells, Scatter(0.01, 0.03), 6)

    shown = str(render(RUN, report(run), name))

    assert ('"limits"' if name == "json" else "What limits the intervals") in " ".join(shown.split()).replace(
        "\\n", " "
    )


def test_a_group_of_epochs_says_nothing_of_blocks(tmp_path: Path) -> None:
    cells = [replace(cell, duration=replace(cell.duration, steps=None, epochs=10)) for cell in planned("a", "b").cells]
    run = store(tmp_path, "20260101T000000Z-0001", cells, Scatter(0.01, 0.03), 6)

    assert [group.limits for group in report(run).groups] == [None]
