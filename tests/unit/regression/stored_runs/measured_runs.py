"""Runs of made-up releases on disk, as a few nights would have left them."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orchestrator.domain import Cell, Framework, Skip, Status, Workload
from orchestrator.planning import check_id
from orchestrator.results.parity.checks import Checks
from orchestrator.results.parity.contract import ParityOutcome
from orchestrator.results.records import EnvironmentRecord
from orchestrator.results.store import Run
from tests.unit.reporting import synthetic

OLD, NEW = (Framework("mxnet", version, python="3.11") for version in ("1.5.1", "1.9.1"))
ANSWER = json.loads((Path(__file__).parents[3] / "golden/contract/parity.json").read_text())


@dataclass(frozen=True)
class Made:
    """The files that one release of one run has left."""

    framework: Framework = OLD
    rates: Sequence[float] = ()
    """Of the repeats, in samples/s; none: two failed."""
    workload: Workload = synthetic.LENET
    loss: float | None = None
    """After ten steps; None: no parity check has told it."""
    size_bytes: int | None = None
    numpy: str = "1.22.4"
    facts: Mapping[str, Any] | None = None

    @property
    def cell(self) -> Cell:
        """As it was planned."""
        return synthetic.cell(self.framework, self.workload, repeats=max(2, len(self.rates)))


def stored(results: Path, night: int, *made: Made, skips: tuple[Skip, ...] = ()) -> Run:
    """Write the run of a night; it asks for parity where a loss is known of anything."""
    parity = any(each.loss is not None for each in made)
    plan = replace(synthetic.plan([each.cell for each in made], skips), parity=parity)
    run = Run(results / f"run-{night}")
    run.create()
    record = synthetic.record(plan, run.name)
    run.write_record(record.model_copy(update={"created_at": f"2026-01-0{night}T03:00:00+00:00"}))
    for each in made:
        _write_repeats(run, each)
        if each.loss is not None:
            _write_answer(run, each.cell, each.loss)
    run.write_environments([
        EnvironmentRecord(
            image=each.cell.image, status=Status.OK, size_bytes=each.size_bytes,
            versions={"mxnet": each.framework.version, "numpy": each.numpy},
        )
        for each in made
    ])  # fmt: skip
    return run


def _write_repeats(run: Run, made: Made) -> None:
    cell = made.cell
    failed = [synthetic.failed(cell, repeat, Status.FAILED, "exit status 139") for repeat in range(cell.repeats)]
    for item in synthetic.ok(cell, made.rates, spread=0) or failed:
        folder = run.repeat_folder(cell.id, item.outcome.repeat)
        folder.mkdir(parents=True)
        if item.result is not None:
            result = item.result.model_copy(update={"facts": {**item.result.facts, **(made.facts or {})}})
            (folder / "result.json").write_text(result.model_dump_json(by_alias=True))
        run.write_outcome(item.outcome)


def _write_answer(run: Run, cell: Cell, loss: float) -> None:
    check = check_id(cell)
    Checks(run).write_outcome(ParityOutcome(check=check, content="x", status=Status.OK, folder=check))
    answer = ANSWER | {"cell": check, "losses": ANSWER["losses"] | {"10": loss}}
    (Checks(run).folder(check) / "result.json").write_text(json.dumps(answer))


def nights(generator: random.Random, count: int, between: float, within: float) -> list[list[float]]:
    """Draw six rates in each of several runs, which scatter from run to run and within one."""
    found = []
    for _ in range(count):
        night = 1000 * (1 + generator.gauss(0, between))
        found.append([night * (1 + generator.gauss(0, within)) for _ in range(6)])
    return found
