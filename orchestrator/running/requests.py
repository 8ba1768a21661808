"""From a planned cell to the request that its container reads."""

from orchestrator.devices import Allocation
from orchestrator.domain import Cell
from orchestrator.results.contract import Request


def request_for(cell: Cell, repeat: int, builder: str, seed: int, cpuset: tuple[int, ...] | None) -> Request:
    """Spell out one repeat of a cell; `cpuset` only where the runtime leaves the pinning to the process."""
    return Request(
        cell=cell.id,
        repeat=repeat,
        framework=cell.framework.name,
        builder=builder,
        model=cell.workload.model,
        mode=cell.workload.mode,
        batch_size=cell.workload.batch_size,
        dataset=cell.workload.dataset,
        options=dict(cell.options),
        seed=seed,
        threads=cell.system.cpus,
        cpuset=cpuset,
        gpus=cell.system.gpus,
        warmup_steps=cell.duration.warmup_steps,
        steps=cell.duration.steps,
        epochs=cell.duration.epochs,
    )


def cpuset_for(cell: Cell, allocation: Allocation, *, pinned: bool) -> tuple[int, ...] | None:
    """The CPUs a process must pin itself to; None where the runtime has pinned it, or the system takes every CPU."""
    return None if pinned or cell.system.cpus is None else allocation.cpus
