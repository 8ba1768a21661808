"""Stored runs whose steps, blocks, containers, runs and hosts scatter as a test wants them."""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.devices import Cpu, Inventory, host_facts
from orchestrator.domain import Cell, Outcome, Plan, Status
from orchestrator.results.records import RunRecord, plan_to_json
from orchestrator.results.store import Run
from tests.unit.running.running_fakes import a_cell, a_plan, result_for

HERE = Inventory((Cpu(0, 0), Cpu(1, 1)), 2**30, cpu_model="a CPU")


@dataclass(frozen=True)
class Scatter:
    """Standard deviations of logarithms."""

    block: float = 0.0
    container: float = 0.0
    run: float = 0.0
    host: float = 0.0


def store(  # noqa: PLR0913 - all in which stored runs differ
    results: Path, name: str, cells: Sequence[Cell], scatter: Scatter, repeats: int, *,
    blocks: int = 10, cpu: str = "a CPU", hostname: str = "", version: int = 1,
) -> Run:  # fmt: skip
    """Write a run of some cells; a block takes a quarter of a second, and a container three seconds besides."""
    draw, run = random.Random(f"{name} {scatter}"), Run(results / name)
    run.folder.mkdir(parents=True)
    planned = [replace(cell, repeats=repeats) for cell in cells]
    here = host_facts(HERE)
    facts = here | {"cpu": cpu, "hostname": hostname or (here["hostname"] if cpu == HERE.cpu_model else cpu)}
    of_host = random.Random(facts["hostname"]).gauss(0, scatter.host)
    run.write_record(
        RunRecord(
            run=name, created_at="2026-11-21T15:30:00+00:00", orchestrator_version="0", runtime="fake", host=facts,
            plan=plan_to_json(a_plan(*planned)), matrix={},
        )
    )  # fmt: skip
    for cell in planned:
        of_run = of_host + draw.gauss(0, scatter.run)
        for repeat in range(repeats):
            level = of_run + draw.gauss(0, scatter.container)
            walls = [0.25 * math.exp(-level - draw.gauss(0, scatter.block)) for _ in range(blocks)]
            _write(run, cell, repeat, walls, version)
    return run


def _write(run: Run, cell: Cell, repeat: int, walls: Sequence[float], version: int) -> None:
    request = {"cell": cell.id, "repeat": repeat, "batch_size": 10, "latency_steps": 50}
    phases = dict.fromkeys(("import_s", "build_s", "first_step_s", "latency_s"), 0.5)
    answer = result_for(
        request,
        measurement_version=version,
        phases=phases | {"warmup_s": 1.0, "steady_s": sum(walls)},
        blocks=[{"steps": 30, "samples": 300, "wall_s": wall_s, "cpu_s": 0.1} for wall_s in walls],
    )
    folder = run.repeat_folder(cell.id, repeat)
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(answer))
    run.write_outcome(Outcome(cell.id, repeat, Status.OK, wall_s=3.0 + 1.0 + sum(walls), idle_wait_s=0.0))


def planned(*names: str) -> Plan:
    return a_plan(*(replace(a_cell(name), repeats=3) for name in names))
