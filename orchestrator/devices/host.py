"""The CPUs a process may use, the memory and the GPUs of this host, and their allocation to a system."""

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from orchestrator.devices import gpus
from orchestrator.devices.gpus import Gpu
from orchestrator.domain import System

SYS_CPU = Path("/sys/devices/system/cpu")
CPUINFO = Path("/proc/cpuinfo")
_MAKER = "NVIDIA "
_KEPT = 0.1
"""Share of the memory in a GPU's name that its driver may not tell: 80 GB are 74.5 GiB, and some of that is kept."""


@dataclass(frozen=True, slots=True)
class Cpu:
    """One logical CPU and where it sits."""

    id: int
    core: int
    """Physical core, unique within its socket."""
    socket: int = 0
    node: int | None = None
    """NUMA node; None where the kernel does not tell."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """The CPUs, memory and GPUs that cells can be allocated."""

    cpus: tuple[Cpu, ...]
    memory_bytes: int
    gpus: tuple[Gpu, ...] = ()
    driver: str | None = None
    """Version of the GPU driver; None where there is none."""
    cpu_model: str | None = None
    """As the kernel names it; None where it does not."""
    gpu_fault: str = ""
    """The fault of the driver, or of GPUs that it has lost, in one line; empty if it has none."""
    is_part: bool = False
    """True if the host has more CPUs than this process may use, as below `taskset`."""


def inventory(sys_cpu: Path = SYS_CPU) -> Inventory:
    """Take the inventory of this host from its kernel and its GPU driver.

    Without a driver there are no GPUs.
    """
    seen, usable = gpus.look(), tuple(sorted(os.sched_getaffinity(0)))
    return Inventory(
        cpus=cpus(usable, sys_cpu),
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        gpus=seen.gpus,
        driver=seen.version,
        cpu_model=cpu_model(),
        gpu_fault=seen.fault,
        is_part=len(usable) < (os.cpu_count() or 1),
    )


def cpu_model(cpuinfo: Path = CPUINFO) -> str | None:
    """Read the name of the CPU, or None if the kernel gives none."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)


def cpus(ids: tuple[int, ...], sys_cpu: Path) -> tuple[Cpu, ...]:
    """Place logical CPUs on cores and sockets.

    If the kernel does not report a core, each CPU is a core of its own.
    """
    cpus_found = []
    for number in ids:
        topology = sys_cpu / f"cpu{number}" / "topology"
        core = _number(topology / "core_id", default=number)
        socket = max(0, _number(topology / "physical_package_id", default=0))
        cpus_found.append(Cpu(number, core, socket, _node(topology.parent)))
    return tuple(cpus_found)


def _node(cpu: Path) -> int | None:
    """Return the NUMA node that the folder of a CPU links to."""
    return next((int(link.name.removeprefix("node")) for link in cpu.glob("node[0-9]*")), None)


def _number(path: Path, default: int) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return default


@dataclass(frozen=True, slots=True)
class Allocation:
    """The CPUs and GPUs of one cell."""

    cpus: tuple[int, ...]
    """Logical CPUs, ascending."""
    gpus: tuple[Gpu, ...] = ()
    memory_bytes: int | None = None
    """Its share of the host's memory, while others run beside it; None for a cell that has the host to itself."""
    is_part: bool = False
    """True if the CPUs are all that this process may use, and the host has more."""

    @property
    def is_share(self) -> bool:
        """Return true if cells on other GPUs may run at the same time."""
        return self.memory_bytes is not None

    @property
    def shared_gpus(self) -> tuple[str, ...]:
        """Return the UUIDs of its GPUs if cells on others may run at the same time, else nothing."""
        return tuple(gpu.uuid for gpu in self.gpus) if self.is_share else ()

    def confined_to(self, system: System) -> tuple[int, ...]:
        """Return the CPUs that a launch must keep to, or none if it may use every CPU of the host.

        An engine starts containers beside this process, so that they do not inherit what it may use.
        """
        return self.cpus if self.is_share or self.is_part or system.cpus is not None else ()


@dataclass(frozen=True, slots=True)
class NoDevice:
    """The reason this host cannot serve a system, in one line."""

    reason: str


def allocate(system: System, inventory: Inventory) -> Allocation | NoDevice:
    """Allocate CPUs and GPUs to a system.

    Memory is not allocated: the runtime sets it as a limit.

    A cpuset takes one logical CPU of each physical core, socket by socket, before it takes any core's second.
    """
    fitting = tuple(gpu for gpu in inventory.gpus if fits(gpu, system))
    if system.gpus > len(fitting):
        return NoDevice(_lacking(system, inventory))
    if system.cpus is not None and system.cpus > len(inventory.cpus):
        return NoDevice(f"{system.name} needs {_count(system.cpus, 'CPU')}; this host has {len(inventory.cpus)}")
    chosen = by_preference(inventory.cpus)[: system.cpus]
    return Allocation(tuple(sorted(cpu.id for cpu in chosen)), fitting[: system.gpus], is_part=inventory.is_part)


def fits(gpu: Gpu, system: System) -> bool:
    """Return true if a GPU is one that a system asks for. A part of a divided GPU must be asked for by its profile.

    Names fit with and without the maker's. Drivers keep some memory to themselves, so that a GPU of 80 GB tells less.
    """
    if system.mig != gpu.mig:
        return False
    if system.gpu is not None:
        pattern = re.compile(re.escape(system.gpu).replace(r"\*", ".*"), re.IGNORECASE)
        if not any(pattern.fullmatch(name) for name in (gpu.name, gpu.name.removeprefix(_MAKER))):
            return False
    return system.gpu_memory_bytes is None or (gpu.memory_bytes or 0) >= (1 - _KEPT) * system.gpu_memory_bytes


def _lacking(system: System, inventory: Inventory) -> str:
    """Return why the GPUs of this host do not suffice for a system."""
    wishes = [
        f"with the MIG profile {system.mig}" if system.mig else "",
        f"named '{system.gpu}'" if system.gpu else "",
        f"with {system.gpu_memory_bytes / 2**30:g} GiB" if system.gpu_memory_bytes else "",
    ]
    wanted = " ".join((_count(system.gpus, "GPU"), *filter(None, wishes)))
    kinds = Counter(gpu.label for gpu in inventory.gpus)
    here = ", ".join(f"{count} × {label}" for label, count in kinds.items())
    is_bare = not any(wishes) and all(gpu.mig is None for gpu in inventory.gpus)
    why = f" (the driver says: {inventory.gpu_fault})" if inventory.gpu_fault else ""
    return f"{system.name} needs {wanted}; this host has {len(inventory.gpus) if is_bare else here or 'none'}{why}"


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
