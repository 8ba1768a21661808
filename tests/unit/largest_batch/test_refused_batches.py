"""Cells that a search has refused are not launched, in whatever order a matrix has them, nor by a resumed run."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.devices.shares import shares
from orchestrator.domain import Cell, Mode, Outcome, Status, System, Workload
from orchestrator.events import RepeatFinished
from orchestrator.processes import Cause, Watch
from orchestrator.reporting.live.plain import ended
from orchestrator.results.store import Run
from orchestrator.running import execute, order
from orchestrator.running.slots import Slots
from orchestrator.running.slots.model import jobs
from orchestrator.runtimes import Ended, Task
from tests.unit.running.running_fakes import SPEC, FakeRuntime, a_cell, a_plan, carry_out, measured, surroundings
from tests.unit.running.running_fakes import result_for as timed

ONE = System("1_gpu", cpus=1)
REASON = "a batch of 1,024 is too large: fake-1-cpu/search was refused 1,010"


def a_size(name: str, size: int, *, searches: bool = False, **changes: Any) -> Cell:
    cell = replace(a_cell(name, ONE), workload=Workload("lenet", Mode.TRAIN, size, searches=searches), repeats=2)
    return replace(cell, **changes)


SEARCH, TOO_LARGE, FITS = a_size("search", 200, searches=True), a_size("large", 1024), a_size("small", 1009)
OTHERS = (
    a_size("options", 1024, options=(("amp", True),)),
    replace(TOO_LARGE, id="fake-1-cpu/model", workload=Workload("mlp", Mode.TRAIN, 1024)),
    replace(TOO_LARGE, id="fake-1-cpu/mode", workload=Workload("lenet", Mode.INFER, 1024)),
)


def result_of_search(request: Mapping[str, object], fits: int = 1000, refused: int = 1010) -> dict[str, object]:
    """A valid result of a search that tried two sizes."""
    tries = [{"batch_size": size, "fits": size == fits, "wall_s": 1.0} for size in (fits, refused)]
    short = timed({**request, "batch_size": fits, "latency_steps": 0})
    blocks = [{"steps": 2, "samples": 2 * fits, "wall_s": 0.1, "cpu_s": 0.1}]
    return {**short, "blocks": blocks, "largest_batch": {"fits": fits, "refused": refused, "tries": tries}}


class Searching(FakeRuntime):
    """A fake runtime whose device holds a thousand samples."""

    def launch(self, task: Task, **listening: Any) -> Ended:
        self.behaviours.insert(0, _searched if _is_search(task) else _measured)
        return super().launch(task, **listening)


def _is_search(task: Task) -> bool:
    return "largest_batch" in json.loads((task.folder / "request.json").read_text())


def _searched(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    (task.folder / "result.json").write_text(json.dumps(result_of_search(request)))
    return Ended(Cause.EXITED, 0, wall_s=9.0)


def _measured(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    ended = measured(task, request, watch)
    if request["mode"] == "infer":
        (task.folder / "result.json").write_text(json.dumps(timed(request, loss=None)))
    return ended


def ends(outcomes: list[Outcome]) -> dict[str, set[Status]]:
    return {
        each.cell_id.partition("/")[2]: {one.status for one in outcomes if one.cell_id == each.cell_id}
        for each in outcomes
    }


def test_refused_batches_are_not_launched(tmp_path: Path) -> None:
    """Cells that differ in more than their batch are measured as ever, and so are smaller ones."""
    runtime = Searching()
    outcomes = carry_out(tmp_path, runtime, a_plan(TOO_LARGE, FITS, *OTHERS, SEARCH))

    assert ends(outcomes) == {
        "search": {Status.OK}, "small": {Status.OK}, "large": {Status.OOM_DEVICE},
        "options": {Status.OK}, "model": {Status.OK}, "mode": {Status.OK},
    }  # fmt: skip
    assert {each.reason for each in outcomes if each.status is Status.OOM_DEVICE} == {REASON}
    assert TOO_LARGE.id not in {request["cell"] for request in runtime.launched}


def test_a_resumed_run_knows_what_was_refused(tmp_path: Path) -> None:
    carry_out(tmp_path, Searching(), a_plan(SEARCH))
    runtime = Searching()
    outcomes = carry_out(tmp_path, runtime, a_plan(TOO_LARGE, SEARCH))

    assert [(each.status, each.reason) for each in outcomes] == [(Status.OOM_DEVICE, REASON)] * 2
    assert runtime.launched == []


@pytest.mark.parametrize("seed", range(5))
def test_searches_begin_each_block(seed: int) -> None:
    named = [cell.id for cell, _ in order((TOO_LARGE, FITS, SEARCH), seed)]

    assert named[0] == named[3] == SEARCH.id
    assert set(named[1:3]) == set(named[4:]) == {TOO_LARGE.id, FITS.id}


def test_all_sizes_of_a_search_share_a_job(tmp_path: Path) -> None:
    """Side by side, none begins before the search has ended; without a search, each size has a job of its own."""
    around, _ = surroundings(tmp_path, FakeRuntime())
    leave = Slots(shares(around.inventory), lambda cell: 1.0)
    searched, numbered = order((TOO_LARGE, FITS, SEARCH), 0), order((TOO_LARGE, FITS), 0)

    with_search = jobs(searched, searched, Run(tmp_path).outcome, leave, 0)
    assert [next(cell.id for cell, _ in job.entries) for job in with_search] == [SEARCH.id] * 2
    assert [len(job.entries) for job in with_search] == [3, 3]
    assert [len(job.entries) for job in jobs(numbered, numbered, Run(tmp_path).outcome, leave, 0)] == [1] * 4


def test_the_end_of_a_search_names_its_batch(tmp_path: Path) -> None:
    around, events = surroundings(tmp_path, Searching())
    list(execute(a_plan(SEARCH, images=(SPEC,)), around))

    finished = [event for event in events if isinstance(event, RepeatFinished)]
    assert ended(finished[0]) == "fake-1-cpu/search repeat 0: ok, largest batch 1,000, 9.00 s"
