"""Runs that were written by hand, for commands that read a results folder."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.domain import Cell
from orchestrator.results.store import Run
from tests.unit.reporting import synthetic as s


def stored_run(
    results: Path,
    name: str = "20260102T030405Z-abcd",
    cells: Sequence[Cell] = (s.cell(s.TORCH, repeats=1),),
    disturbance: str = "",
) -> Run:
    """Write a run whose every repeat is `ok`, at 50,000 samples/s."""
    run = Run(results / name)
    run.write_record(s.record(s.plan(cells), name))
    for cell in cells:
        for item in s.ok(cell, [50_000.0] * cell.repeats, spread=0):
            assert item.result is not None
            run.write_outcome(replace(item.outcome, disturbance=disturbance))
            place = run.repeat_folder(cell.id, item.outcome.repeat) / "result.json"
            place.write_text(item.result.model_dump_json(by_alias=True))
    return run
