"""The allocation of CPUs and GPUs to a system, decided from an inventory alone."""

from collections import Counter
from dataclasses import dataclass

from orchestrator.devices.host import Cpu, Gpu, Inventory
from orchestrator.domain import System


@dataclass(frozen=True, slots=True)
class Allocation:
    """The CPUs and GPUs of one cell."""

    cpus: tuple[int, ...]
    """Logical CPUs, ascending."""
    gpus: tuple[Gpu, ...] = ()


@dataclass(frozen=True, slots=True)
class NoDevice:
    """The reason this host cannot serve a system, in one line."""

    reason: str


def allocate(system: System, inventory: Inventory) -> Allocation | NoDevice:
    """Allocate CPUs and GPUs to a system.

    Memory is not allocated: the runtime sets it as a limit.

    A cpuset takes one logical CPU of each physical core, socket by socket, before it takes any core's second.
    """
    if system.gpus > len(inventory.gpus):
        return NoDevice(f"{system.name} needs {_count(system.gpus, 'GPU')}; this host has {len(inventory.gpus)}")
    if system.cpus is not None and system.cpus > len(inventory.cpus):
        return NoDevice(f"{system.name} needs {_count(system.cpus, 'CPU')}; this host has {len(inventory.cpus)}")
    chosen = by_preference(inventory.cpus)[: system.cpus]
    return Allocation(tuple(sorted(cpu.id for cpu in chosen)), inventory.gpus[: system.gpus])


def by_preference(cpus: tuple[Cpu, ...]) -> tuple[Cpu, ...]:
    """Order CPUs so that any first N of them share as few physical cores, then as few sockets, as can be."""
    seen: Counter[tuple[int, int]] = Counter()
    ranked = []
    for cpu in sorted(cpus, key=lambda cpu: cpu.id):
        ranked.append((seen[cpu.socket, cpu.core], cpu.socket, cpu.core, cpu))
        seen[cpu.socket, cpu.core] += 1
    return tuple(cpu for *_, cpu in sorted(ranked, key=lambda entry: entry[:3]))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
