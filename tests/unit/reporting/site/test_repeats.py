"""The repeats of a cell as its page shows them: long ones are thinned, and say so."""

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.domain import Outcome, Status
from orchestrator.reporting.site.figures import CellFigures
from orchestrator.reporting.site.repeats import MOST_BLOCKS, MOST_STEPS, repeats_of
from orchestrator.results.contract import Block, Conditions, Result
from orchestrator.results.evidence import Stored
from tests.unit.reporting import synthetic as s

CELL = s.cell(s.TORCH)
WARM = 10
"""The first step and nine blocks of the warm-up of a synthetic result."""


def block(number: int, busy_s: float = 0.2) -> Block:
    """A block that counts its number as samples; nothing else ran beside it unless it was busier."""
    conditions = Conditions(wall_s=0.2, cpu_s=0.2, busy_s=busy_s)
    return Block(steps=1, samples=number + 1, wall_s=1.0, cpu_s=0.2, conditions=conditions)


def shown(result: Result) -> dict[str, Any]:
    (stored,) = s.ok(CELL, [100.0])
    return repeats_of([replace(stored, result=result)], CellFigures({}, {}, {}, [None]), lambda outcome: "")


def long_result(blocks: int, disturbed: frozenset[int] = frozenset()) -> Result:
    """A result of so many timed blocks, some of which something else disturbed."""
    timed = tuple(block(number, 9.0 if number in disturbed else 0.2) for number in range(blocks))
    return s.result(CELL, 0, 100.0).model_copy(update={"blocks": timed})


@pytest.mark.parametrize(("every", "stride"), [(MOST_BLOCKS, 1), (MOST_BLOCKS + 1, 2), (3 * MOST_BLOCKS + 1, 4)])
def test_a_long_repeat_says_how_it_is_thinned(every: int, stride: int) -> None:
    (blocks,) = shown(long_result(every - WARM))["blocks"]

    assert (blocks["stride"], blocks["total"], blocks["warm"]) == (stride, every, WARM)
    assert len(blocks["rate"]["v"]) == len(blocks["end_s"]["v"]) == len(range(0, every, stride)) <= MOST_BLOCKS


def test_a_thinned_mark_stays_at_its_block() -> None:
    """A mark leads to the rate of its block, and all disturbed blocks are counted."""
    (blocks,) = shown(long_result(2_001, frozenset({4, 5, 1_990})))["blocks"]

    assert (blocks["stride"], blocks["disturbed"]) == (2, 3)
    assert [place for place, _ in blocks["marks"]] == [(WARM + 4) // 2, (WARM + 1_990) // 2]
    rates = [value / 10 ** blocks["rate"]["d"] for value in blocks["rate"]["v"]]
    assert [rates[place] for place, _ in blocks["marks"]] == [5, 1_991]
    assert blocks["marks"][0][1].startswith("other cpus")


@pytest.mark.parametrize(("total", "stride"), [(MOST_STEPS, 1), (662, 2), (1_200, 3), (0, 1)])
def test_every_nth_step_is_shown(total: int, stride: int) -> None:
    seconds = tuple(0.001 * (step + 1) for step in range(total))
    (steps,) = shown(s.result(CELL, 0, 100.0).model_copy(update={"latency_s": seconds}))["steps"]

    assert (steps["total"], steps["stride"]) == (total, stride)
    values = [value / 10 ** steps["s"]["d"] for value in steps["s"]["v"]] if steps["s"] else []
    assert values == pytest.approx(seconds[::stride], rel=1e-4)


def test_a_log_can_be_found() -> None:
    """The path of each log is there, and so is the number of attempts."""
    outcome = Outcome(CELL.id, 0, Status.OK, log=f"{CELL.id}/0/log.txt", attempts=3)
    document = repeats_of([Stored(outcome, None)], CellFigures({}, {}, {}, [None]), lambda _: "measured\n")

    assert document["repeats"]["log"] == [outcome.log]
    assert document["repeats"]["attempts"] == [3]
    assert document["logs"] == [[0, "measured"]]
