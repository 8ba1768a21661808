"""A results folder whose cells differ in what a comparison must keep apart: releases, Pythons, models and loads."""

from dataclasses import replace
from pathlib import Path

from orchestrator.domain import Cell, Framework, Mode, Workload
from orchestrator.modes.parts.frontier import Frontier
from orchestrator.modes.parts.load import Load, Scenario
from orchestrator.modes.parts.settings import QUICK
from orchestrator.results.store import Run
from tests.unit.reporting import synthetic as s

OLDER, NEWER, CANDIDATE = (Framework("torch", version, python="3.11") for version in ("1.13.1", "2.0.0", "2.0.0rc1"))
OLD_PYTHON = replace(s.MXNET, python="3.8")
MODELS, SIZES, RATES = ("lenet", "mlp"), (8, 80), (10.0, 20.0, 40.0)
SWEPT, OTHER_PYTHON, TWO_RELEASES, LOADED, SMOKE = (f"2026060{day}T030405Z-000{day}" for day in range(1, 6))
LIMIT_S = 0.05


def results(folder: Path) -> Path:
    """Make the folder. No two cells have one rate, so that each figure says where it is from."""
    frameworks = {OLDER: 4.0, NEWER: 8.0, CANDIDATE: 2.0, OLD_PYTHON: 1.0}
    _write(folder, SWEPT, _swept(frameworks))
    _write(folder, OTHER_PYTHON, _swept({replace(OLDER, python="3.9"): 16.0, replace(NEWER, python="3.9"): 64.0}))
    two = {s.cell(replace(s.TENSORFLOW, version=version)): rate for version, rate in (("2.9.0", 300), ("2.10.0", 500))}
    _write(folder, TWO_RELEASES, two)
    _write(folder, LOADED, {_loaded(rate): 90 * rate / (60 + rate) for rate in RATES})
    _write(folder, SMOKE, {s.cell(s.TENSORFLOW): 7.0}, is_smoke=True)
    return folder


def _swept(frameworks: dict[Framework, float]) -> dict[Cell, float]:
    return {
        replace(s.cell(framework, Workload(model, Mode.TRAIN, size)), frontier=Frontier((LIMIT_S,))): (
            pace * (1 + place) * 1000 * size / (size + 20)
        )
        for framework, pace in frameworks.items()
        for place, model in enumerate(MODELS)
        for size in SIZES
    }


def _loaded(rate: float) -> Cell:
    load = Load(Scenario.SERVER, rate=rate, latency_limit_s=0.1)
    return s.cell(NEWER, Workload("lenet", Mode.REQUESTS, 8, load=load))


def _write(folder: Path, name: str, cells: dict[Cell, float], *, is_smoke: bool = False) -> None:
    plan = replace(s.plan(list(cells)), profile=QUICK if is_smoke else None)
    run = Run(folder / name)
    created = f"{name[:4]}-{name[4:6]}-{name[6:8]}T03:04:05+00:00"
    run.write_record(s.record(plan, name).model_copy(update={"created_at": created}))
    for cell, rate in cells.items():
        for item in s.ok(cell, [rate, rate * 1.01, rate * 0.99]):
            assert item.result is not None
            run.write_outcome(item.outcome)
            place = run.repeat_folder(cell.id, item.outcome.repeat)
            (place / "result.json").write_text(item.result.model_dump_json(by_alias=True))
