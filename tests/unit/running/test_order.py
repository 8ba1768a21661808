"""In which order repeats run, and which a resumed run still does."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running_fakes import a_cell

from orchestrator.domain import Outcome, Status
from orchestrator.running import new_run_name, order
from orchestrator.running.order import is_final, unfinished


@given(st.lists(st.integers(1, 5), max_size=8), st.integers(0, 2**32))
def test_each_block_has_every_cell_once(repeats: list[int], seed: int) -> None:
    """Every block holds each cell that has that repeat exactly once."""
    cells = [replace(a_cell(f"c{number}"), repeats=count) for number, count in enumerate(repeats)]
    laid_out = [(cell.id, repeat) for cell, repeat in order(cells, seed)]

    assert [repeat for _, repeat in laid_out] == sorted(repeat for _, repeat in laid_out)
    assert sorted(laid_out) == sorted((cell.id, repeat) for cell in cells for repeat in range(cell.repeats))


def test_seed_fixes_order_and_blocks_differ() -> None:
    """The same seed gives the same order, and blocks differ from one another."""
    cells = [replace(a_cell(f"c{number}"), repeats=3) for number in range(12)]
    laid_out = order(cells, 5)
    blocks = [[cell.id for cell, repeat in laid_out if repeat == block] for block in range(3)]

    assert laid_out == order(cells, 5)
    assert laid_out != order(cells, 6)
    assert blocks[0] != blocks[1] != blocks[2]


@pytest.mark.parametrize(
    ("status", "final", "final_with_retries"),
    [
        (Status.OK, True, True),
        (Status.UNSUPPORTED, True, True),
        (Status.FAILED, True, False),
        (Status.BUILD_FAILED, True, False),
        (Status.TIMEOUT, True, False),
        (Status.NOT_RUN, False, False),
        (Status.NO_DEVICE, False, False),
    ],
)
def test_a_resumed_run_leaves_final_outcomes_alone(status: Status, final: bool, final_with_retries: bool) -> None:
    outcome = Outcome("c", 0, status, "why")

    assert is_final(outcome, retry_failed=False) is final
    assert is_final(outcome, retry_failed=True) is final_with_retries


def test_a_repeat_without_a_record_is_unfinished() -> None:
    cell = replace(a_cell(), repeats=2)
    recorded = {(cell.id, 0): Outcome(cell.id, 0, Status.OK)}
    left = unfinished(order([cell], 1), lambda *place: recorded.get(place), retry_failed=False)

    assert left == ((cell, 1),)


def test_run_names_sort_by_time() -> None:
    early, late = (datetime(2026, 11, 21, hour, 30, tzinfo=UTC) for hour in (9, 15))

    assert new_run_name(early, "ffff") == "20261121T093000Z-ffff"
    assert new_run_name(early, "ffff") < new_run_name(late, "0000")


def test_names_sort_in_order_of_start() -> None:
    """Names sort in the order in which runs were begun, whatever the clock does."""
    now = datetime(2026, 11, 21, 15, 30, tzinfo=UTC)
    names: list[str] = []
    for offset_s in (0, 0, -3600, 10**9, 5):
        names.append(new_run_name(now + timedelta(seconds=offset_s), "0000", names))

    assert names == sorted(set(names))
    assert names[:3] == ["20261121T153000Z-0000", "20261121T153001Z-0000", "20261121T153002Z-0000"]


@pytest.mark.parametrize("other", ["", "mine", "99999999T999999Z-1", "99991231T235959Z-1", "20261121T153000"])
def test_unrelated_folder_leaves_the_time_alone(other: str) -> None:
    """A folder of another name leaves the time in the name of a run as it is."""
    assert new_run_name(datetime(2026, 11, 21, 15, 30, tzinfo=UTC), "ffff", [other]) == "20261121T153000Z-ffff"
