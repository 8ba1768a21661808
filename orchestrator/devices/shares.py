"""The shares of a host's CPUs and memory that go with its GPUs, so that cells on different GPUs do not meet."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from orchestrator.devices.gpus import Gpu
from orchestrator.devices.host import Allocation, Cpu, Inventory, by_preference
from orchestrator.domain import System

Shares = Mapping[str, tuple[Cpu, ...]]
"""The CPUs of each GPU, by its UUID."""


def shares(inventory: Inventory) -> Shares:
    """Divide the CPUs among the GPUs in whole cores, each GPU's from its own NUMA node where all nodes have enough.

    Every GPU has as many cores as that with the fewest, or one cell would have more CPUs on some GPUs than on others.
    The result is empty where there are fewer cores than GPUs: no two cells can then run at once.
    """
    by_node: dict[int | None, list[Gpu]] = {}
    for gpu in inventory.gpus:
        by_node.setdefault(gpu.numa_node, []).append(gpu)
    near = {node: _cores(cpu for cpu in inventory.cpus if cpu.node == node) for node in by_node}
    if None in by_node or any(len(near[node]) < len(gpus) for node, gpus in by_node.items()):
        by_node, near = {None: list(inventory.gpus)}, {None: _cores(inventory.cpus)}
    each = min((len(near[node]) // len(gpus) for node, gpus in by_node.items() if gpus), default=0)
    if not each:
        return {}
    divided: dict[str, tuple[Cpu, ...]] = {}
    for node, gpus in by_node.items():
        for number, gpu in enumerate(gpus):
            cores = near[node][number * each : (number + 1) * each]
            divided[gpu.uuid] = tuple(cpu for core in cores for cpu in core)
    return divided


def suits(system: System, gpu: Gpu, inventory: Inventory, shares: Shares) -> bool:
    """Return true if the share of a GPU holds what a system asks for each of its GPUs."""
    cpus = system.gpus * len(shares.get(gpu.uuid, ()))
    return 0 < cpus >= (system.cpus or 0) and (system.memory_bytes or 0) <= _memory_bytes(system.gpus, inventory)


def allocated(system: System, gpus: Sequence[Gpu], inventory: Inventory, shares: Shares) -> Allocation:
    """Allocate GPUs that suit a system, with their share of CPUs and memory."""
    cpus = by_preference(tuple(cpu for gpu in gpus for cpu in shares[gpu.uuid]))[: system.cpus]
    return Allocation(tuple(sorted(cpu.id for cpu in cpus)), tuple(gpus), _memory_bytes(len(gpus), inventory))


def _memory_bytes(gpus: int, inventory: Inventory) -> int:
    return inventory.memory_bytes * gpus // len(inventory.gpus)


def _cores(cpus: Iterable[Cpu]) -> list[tuple[Cpu, ...]]:
    """Return the logical CPUs of each core, in the order of their first ones."""
    cores: dict[tuple[int, int], list[Cpu]] = {}
    for cpu in sorted(cpus, key=attrgetter("id")):
        cores.setdefault((cpu.socket, cpu.core), []).append(cpu)
    return [tuple(core) for core in cores.values()]
