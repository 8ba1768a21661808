"""The leave of a run to measure on different GPUs at once."""

from collections.abc import Callable, Sequence

from orchestrator import planning
from orchestrator.catalog import DATASETS, DatasetInfo, carried_model, shipped_catalog, shipped_models
from orchestrator.devices import Allocation, Inventory, allocate, another_machine, host_facts
from orchestrator.devices.shares import shares
from orchestrator.domain import Cell, Plan
from orchestrator.events import Notice
from orchestrator.planning.cost.durations import Durations
from orchestrator.results.contract import LATENCY_LIMIT_S, LEAST_LATENCY_STEPS
from orchestrator.results.listing.measured import earlier
from orchestrator.results.records import ProvedWith
from orchestrator.results.store import Run
from orchestrator.running.slots import Slots
from orchestrator.running.surroundings import Expected
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.interference import stored_proof, why_serial


def leave(plan: Plan, runs: Sequence[Run], here: Inventory, host: Host) -> Slots | None:
    """Return the leave to measure side by side, or None where it makes no difference or nothing proves it harmless.

    The proof or the reason is told if the plan has cells with GPUs, and several GPUs could take them.
    """
    on_gpus = [cell.id for cell in plan.cells if cell.system.gpus]
    if len(here.gpus) < 2 or not on_gpus:
        return None
    divided, proof = shares(here), stored_proof(host.cache, here)
    why = why_serial(proof, divided)
    if why or proof is None:
        host.listener(Notice(f"cells with GPUs run one after the other: {why}"))
        return None
    others = sum(cell != proof.cell for cell in on_gpus)
    host.listener(
        Notice(f"cells with GPUs run side by side: {proof}; {others} of {len(on_gpus)} cells here are others")
    )
    proved_with = ProvedWith(
        cell=proof.cell, ratio=proof.ratio, low=proof.low, high=proof.high, cpu_cores=proof.cpu_cores
    )
    return Slots(divided, expected(plan, runs, here), proved_with=proved_with)


def expected(plan: Plan, runs: Sequence[Run], here: Inventory) -> Callable[[Cell], float]:
    """Return a function that estimates the seconds of one repeat of a cell."""
    builders = {image.name: image.environment.builder for image in plan.images}
    about = known(plan, runs, here)
    lasting = Durations(about.models, about.datasets, about.assumed, about.earlier)
    by_cell: dict[str, float] = {}

    def seconds(cell: Cell) -> float:
        if cell.id not in by_cell:
            by_cell[cell.id] = lasting.container(cell, builders.get(cell.image, "")).wall_s
        return by_cell[cell.id]

    return seconds


def expected_of(plan: Plan, runs: Sequence[Run], here: Inventory) -> Expected:
    """Return the seconds that each repeat and each image of a plan is expected to take."""
    seconds, catalog = expected(plan, runs, here), shipped_catalog()
    return Expected(
        repeats_s={cell.id: seconds(cell) for cell in plan.cells},
        images_s={image.name: planning.build_s(image, catalog) for image in plan.images},
    )


def known(plan: Plan, runs: Sequence[Run], here: Inventory, own_datasets: Sequence[DatasetInfo] = ()) -> planning.Known:
    """Return what estimates of a plan go by: models, datasets, this host, and the runs that were measured on it."""
    facts = host_facts(here)
    systems = {cell.system for cell in plan.cells}
    own = {model.name: info for model in plan.models if (info := carried_model(model))}
    return planning.Known(
        models=shipped_models() | own,
        datasets={**DATASETS, **{info.name: info for info in own_datasets}},
        assumed=planning.Assumed(
            least_latency_steps=LEAST_LATENCY_STEPS,
            latency_limit_s=LATENCY_LIMIT_S,
            cpus=len(here.cpus),
        ),
        earlier=earlier(runs, lambda host: not another_machine(host, facts)),
        systems=frozenset(system.name for system in systems if isinstance(allocate(system, here), Allocation)),
    )
