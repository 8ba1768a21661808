"""Regression tests whose cells go in turn over the GPUs of a host, each with CPUs of its own."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orchestrator.analysis.comparison import Verdict
from orchestrator.devices.shares import shares
from orchestrator.processes import Stop, Watch
from orchestrator.regression.judge.evidence import block_notes, cell_evidence, values
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import Rules
from orchestrator.regression.trials.carry_out import MeasuredTrial, carry_out
from orchestrator.results.store import Run
from orchestrator.running import Policy
from orchestrator.running.slots import Slots
from orchestrator.runtimes import Ended, Task
from tests.unit.regression.trials.bench_trials import Bench, begin, steady
from tests.unit.running.running_fakes import surroundings
from tests.unit.running.slots.virtual_host import CPUS, HOST

SYSTEMS = "systems: {1_gpu: {gpus: 1}}"


@dataclass
class Pinned(Bench):
    """Reports the CPUs that each launch may use, as a container does."""

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        ended = super().launch(task, stop=stop, watch=watch)
        self.tasks.append(task)
        file = task.folder / "result.json"
        answer: dict[str, Any] = json.loads(file.read_text())
        usable = task.allocation.confined_to(task.system)
        cpu = {"model": "Example", "logical": len(CPUS), "affinity": list(usable), "governor": None}
        file.write_text(json.dumps(answer | {"facts": answer["facts"] | {"cpu": cpu}}))
        return ended


def on_slots(folder: Path, pairing: Pairing, runtime: Bench) -> MeasuredTrial:
    trial = begin(folder, pairing, Rules(looks=(6,), confirm=False))
    around, _ = surroundings(folder, runtime)
    slots = Slots(shares(HOST), lambda cell: 10.0)
    return carry_out(trial, replace(around, inventory=HOST, slots=slots), Policy(seed=3))


def test_cells_on_gpus_in_turn_are_compared(tmp_path: Path, pair: Callable[..., Pairing]) -> None:
    """Each block has other CPUs, near its GPU, and both sides as many of them."""
    runtime = Pinned(rate=steady(**{"1.9.1": 0.9}))
    done = on_slots(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1", SYSTEMS), runtime)

    assert len({task.allocation.cpus for task in runtime.tasks}) > 1
    assert [each.verdict for each in done.regression.pairs] == [Verdict.SLOWER]


def test_blocks_on_different_gpus_do_not_count(tmp_path: Path, pair: Callable[..., Pairing]) -> None:
    """As after a GPU has failed between both sides of a block: its speed is no difference between releases."""
    done = on_slots(tmp_path / "run", pair("mxnet==1.5.1", "mxnet==1.9.1", SYSTEMS), Pinned())
    run = Run(tmp_path / "run")
    baseline, candidate = done.plan.cells
    sides = [cell_evidence(run, cell, range(6)) for cell in (baseline, candidate)]
    moved = run.outcome(candidate.id, 2)
    assert moved
    run.write_outcome(replace(moved, ran_on="GPU-of-another-host"))
    apart = cell_evidence(run, candidate, range(6))
    (throughput,) = (metric for metric in baseline.workload.rules.metrics if metric.name == "throughput")

    assert len(values(throughput, *sides)) == 6
    assert len(values(throughput, sides[0], apart)) == 5
    assert list(block_notes(*sides)) == []
    assert list(block_notes(sides[0], apart)) == [
        "1 of 6 blocks do not count: the two sides ran on different GPUs in them"
    ]
