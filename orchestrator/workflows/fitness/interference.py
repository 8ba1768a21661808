"""The measurement of a cell alone and beside others, which shows if cells on different GPUs may run at once."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from orchestrator.analysis.estimates import exponential
from orchestrator.analysis.measurements import cores_busy
from orchestrator.analysis.scatter.contrasts import contrast
from orchestrator.devices import Allocation, Gpu, Inventory, allocate
from orchestrator.devices.shares import shares
from orchestrator.domain import Cell, Outcome, Plan
from orchestrator.errors import HostError, InputError
from orchestrator.results.store import Run
from orchestrator.results.throughput import throughput
from orchestrator.running import Policy, execute
from orchestrator.running.slots import Slots
from orchestrator.running.slots.model import pools
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.interference import InterferenceProof, store_proof
from orchestrator.workflows.host.inventory import inventory_of
from orchestrator.workflows.inputs.data import with_data
from orchestrator.workflows.inputs.planned_matrix import MatrixOptions, plan_matrix
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.jobs import Setting, begun
from orchestrator.workflows.measure.slots import expected
from orchestrator.workflows.option_values import RuntimeName

CONFIDENCE = 0.95
FEWEST_ROUNDS = 3
"""An interval of fewer rounds says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterferenceOptions(MatrixOptions):
    """The options of the proof. Its cell is the first of the matrix that takes the fewest GPUs."""

    rounds: int = option_values.INTERFERENCE_ROUNDS
    """Times that the cell is measured alone, and then on all GPUs at once."""
    runtime: RuntimeName = RuntimeName.AUTO
    """The place that cells run in."""
    idle_wait_s: float = option_values.IDLE_WAIT_S
    """Longest wait for an idle host before a cell."""


def prove(options: InterferenceOptions, host: Host) -> InterferenceProof:
    """Measure a cell alone and beside itself on all other GPUs by turns, and keep the ratio for later runs.

    Both times the cell has the same share of CPUs and memory, and the two sides of a round are of the same GPU.
    Raises `InputError` if no cell of the matrix has GPUs, and `HostError` if this host cannot run two of it at once,
    or if too few rounds were measured.

    Example: `prove(InterferenceOptions(select=["torch-*-1_gpu/resnet20-train-*"]), this_host()).holds`
    """
    here = inventory_of(host)
    planned = plan_matrix(options, host)
    cell, at_once = _cell(planned.plan, here)
    rounds = (1, at_once) * options.rounds
    plan = replace(
        planned.plan,
        cells=(replace(cell, repeats=sum(rounds)),),
        images=tuple(image for image in planned.plan.images if image.name == cell.image),
        parity=False,
    )
    plan = with_data(plan, planned.matrix, None, host)
    job = jobs.new(replace(planned, plan=plan), host.cache / "interference" / "runs", options.runtime, None)
    leave = Slots(shares(here), expected(plan, (), here), rounds)
    with host.working(), begun(job, Setting(options.idle_wait_s, slots=leave), host) as surroundings:
        outcomes = list(execute(plan, surroundings, Policy(plan.seed)))
    proof = proof_of(job.run, cell, list(rounds_that_count(job.run, outcomes, at_once)))
    store_proof(host.cache, here, proof)
    return proof


def _cell(plan: Plan, here: Inventory) -> tuple[Cell, int]:
    """Return the cell that is measured, and how many of it run at once."""
    timed = (cell for cell in plan.cells if cell.system.gpus and not cell.workload.searches)
    cells = sorted(timed, key=lambda cell: cell.system.gpus)
    if not cells:
        raise InputError("no timed cell of the matrix has GPUs: give systems `gpus`, or select others")
    given = {cell.system: allocate(cell.system, here) for cell in cells}
    suiting = pools(given, here, shares(here))
    for cell in cells:
        if cell.system in suiting:
            at_once = _at_once(suiting[cell.system], cell)
            if at_once > 1:
                return cell, at_once
    whys = {each.reason for each in given.values() if not isinstance(each, Allocation)}
    raise HostError(f"no two cells can run at once here: {'; '.join(sorted(whys)) or 'GPUs or cores are too few'}")


def _at_once(pool: Sequence[Gpu], cell: Cell) -> int:
    return len(pool) // cell.system.gpus


class ProofRound(NamedTuple):
    """A cell beside others and alone, on the same GPUs."""

    beside: float
    """Its throughput, as `alone` is."""
    alone: float
    cpu_cores: float | None
    """The cores that it kept busy beside others."""


def rounds_that_count(run: Run, outcomes: Sequence[Outcome], at_once: int) -> Iterator[ProofRound]:
    """Yield the rounds in which the cell met all others on GPUs that it also had alone."""
    measured = {outcome.repeat: (outcome, result) for outcome in outcomes if (result := run.result(outcome))}
    for start in range(0, max(measured, default=0), 1 + at_once):
        if start not in measured:
            continue
        alone, result = measured[start]
        for repeat in range(start + 1, start + 1 + at_once):
            if repeat in measured and _is_beside_all(measured[repeat][0], alone, at_once):
                among_others = measured[repeat][1]
                yield ProofRound(
                    throughput(among_others, epochs=False),
                    throughput(result, epochs=False),
                    cores_busy(among_others.blocks),
                )


def _is_beside_all(beside: Outcome, alone: Outcome, at_once: int) -> bool:
    """Return true for a repeat on the same GPUs that met all others of its round. A short one may end before them."""
    return beside.ran_on == alone.ran_on and len(list(filter(None, beside.beside.split(", ")))) == at_once - 1


def proof_of(run: Run, cell: Cell, rounds: Sequence[ProofRound]) -> InterferenceProof:
    """Return the ratio of the rounds with its interval. Raises `HostError` if they are too few."""
    if len(rounds) < FEWEST_ROUNDS:
        raise HostError(
            f"in {len(rounds)} rounds the cell ran beside all others, and {FEWEST_ROUNDS} are needed: select one that "
            f"takes longer, or see what failed with orchestrator report {run.name} --results {run.folder.parent}"
        )
    apart = contrast([each.beside for each in rounds], [each.alone for each in rounds], paired=True)
    half = apart.half_width(CONFIDENCE)
    low, high = exponential(apart.value - half), exponential(apart.value + half)
    busy = [each.cpu_cores for each in rounds if each.cpu_cores is not None]
    cpu_cores = statistics.median(busy) if busy else None
    return InterferenceProof(exponential(apart.value), low, high, len(rounds), cell.id, str(run.folder), cpu_cores)
