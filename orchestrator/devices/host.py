"""The CPUs a process may use, the memory and the GPUs of this host, and their allocation to a system."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pynvml

from orchestrator.domain import System

SYS_CPU = Path("/sys/devices/system/cpu")
CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True, slots=True)
class Cpu:
    """One logical CPU and where it sits."""

    id: int
    core: int
    """Physical core, unique within its socket."""
    socket: int = 0


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU, as its driver names it."""

    index: int
    uuid: str
    name: str
    memory_bytes: int | None
    """None for one that has no memory of its own size, such as one that shares the host's."""


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


def inventory(sys_cpu: Path = SYS_CPU) -> Inventory:
    """Take the inventory of this host from its kernel and its GPU driver.

    Without a driver there are no GPUs.
    """
    gpus, driver, fault = _gpus()
    return Inventory(
        cpus=cpus(tuple(sorted(os.sched_getaffinity(0))), sys_cpu),
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        gpus=gpus,
        driver=driver,
        gpu_fault=fault,
        cpu_model=cpu_model(),
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
        cpus_found.append(Cpu(number, core, max(0, _number(topology / "physical_package_id", default=0))))
    return tuple(cpus_found)


def _number(path: Path, default: int) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return default


def _gpus() -> tuple[tuple[Gpu, ...], str | None, str]:
    """Return the GPUs that can be used, the driver's version, and its fault."""
    with nvml() as driver:
        if driver.library is None:
            return (), None, driver.fault
        answers = [_gpu(driver.library, index) for index in range(driver.library.nvmlDeviceGetCount())]
        faults = [answer for answer in answers if isinstance(answer, str)]
        version = _text(driver.library.nvmlSystemGetDriverVersion())
        return tuple(answer for answer in answers if isinstance(answer, Gpu)), version, "; ".join(faults)


def _gpu(library: Any, index: int) -> Gpu | str:
    """Return a GPU, or why it cannot be used."""
    try:
        handle = library.nvmlDeviceGetHandleByIndex(index)
        uuid, name = _text(library.nvmlDeviceGetUUID(handle)), _text(library.nvmlDeviceGetName(handle))
    except pynvml.NVMLError as error:
        return f"GPU {index}: {error}"  # fallen off the bus, or not ours to use
    try:
        memory_bytes = int(library.nvmlDeviceGetMemoryInfo(handle).total)
    except pynvml.NVMLError:
        memory_bytes = None
    return Gpu(index, uuid, name, memory_bytes)


@dataclass(frozen=True, slots=True)
class Driver:
    """The library of the GPU driver, initialised, or why there is none."""

    library: Any = None
    fault: str = ""
    """The answer of a driver that is installed and does not work; empty without a driver."""


@contextmanager
def nvml() -> Iterator[Driver]:
    """Yield the driver's library, without one where no driver is installed or it does not work."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        is_absent = error.value == pynvml.NVML_ERROR_LIBRARY_NOT_FOUND
        yield Driver(fault="" if is_absent else str(error))
        return
    try:
        yield Driver(pynvml)
    finally:
        pynvml.nvmlShutdown()


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


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
        why = f" (the driver says: {inventory.gpu_fault})" if inventory.gpu_fault else ""
        return NoDevice(f"{system.name} needs {_count(system.gpus, 'GPU')}; this host has {len(inventory.gpus)}{why}")
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
