"""The GPUs of this host, as their driver describes them through its library (NVML)."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pynvml

from orchestrator.devices.driver import asked, nvml, parts, text

SYS_PCI = Path("/sys/bus/pci/devices")
_MODES = {0: "default", 1: "exclusive thread", 2: "prohibited", 3: "exclusive process"}
_MILLI = 1e-3
_MEBI = 2**20


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU, or one part of a GPU that is divided (MIG). What its driver does not tell is None."""

    index: int
    """Of the whole GPU, as the driver counts them."""
    uuid: str
    name: str
    memory_bytes: int | None
    """None for one that has no memory of its own size, such as one that shares the host's."""
    mig: str | None = None
    """The profile of a part, such as `1g.10gb`; None for a whole GPU."""
    compute_capability: str | None = None
    """Such as `9.0`."""
    numa_node: int | None = None
    nvlinks: tuple[int, ...] = ()
    """The indices of the GPUs that it has a direct link to."""
    ecc: bool | None = None
    compute_mode: str | None = None
    power_limit_w: float | None = None

    @property
    def label(self) -> str:
        """Return its name with its memory, such as `NVIDIA H100 80GB HBM3 (79.6 GiB)`."""
        return self.name if self.memory_bytes is None else f"{self.name} ({self.memory_bytes / 2**30:.1f} GiB)"


@dataclass(frozen=True, slots=True)
class GpuInventory:
    """The usable GPUs of a host, with their driver."""

    gpus: tuple[Gpu, ...] = ()
    version: str | None = None
    """Of the driver; None without one."""
    fault: str = ""
    """The fault of the driver, or of GPUs that do not answer, in one line; empty if there is none."""


def look(sys_pci: Path = SYS_PCI) -> GpuInventory:
    """Ask the driver for its GPUs.

    One that has fallen off the bus, is not ours to use, or is divided and has no parts, is a fault.
    """
    with nvml() as driver:
        if driver.library is None:
            return GpuInventory(fault=driver.fault)
        try:
            count = driver.library.nvmlDeviceGetCount()
            version = text(driver.library.nvmlSystemGetDriverVersion())
        except pynvml.NVMLError as error:
            return GpuInventory(fault=str(error))
        usable: list[Gpu] = []
        faults = []
        for index in range(count):
            try:
                described = _described(driver.library, index, sys_pci)
            except pynvml.NVMLError as error:
                faults.append(f"GPU {index}: {error}")
                continue
            usable += described
            if not described:
                faults.append(f"GPU {index} is divided (MIG) and has no parts")
        return GpuInventory(tuple(usable), version, "; ".join(faults))


def _described(library: Any, index: int, sys_pci: Path) -> list[Gpu]:
    """Return a GPU, or its parts if it is divided. Raises `NVMLError` if it does not answer."""
    handle = library.nvmlDeviceGetHandleByIndex(index)
    memory = asked(library.nvmlDeviceGetMemoryInfo, handle)
    capability = asked(library.nvmlDeviceGetCudaComputeCapability, handle)
    ecc = asked(library.nvmlDeviceGetEccMode, handle)
    limit = asked(library.nvmlDeviceGetPowerManagementLimit, handle)
    whole = Gpu(
        index=index,
        uuid=text(library.nvmlDeviceGetUUID(handle)),
        name=text(library.nvmlDeviceGetName(handle)),
        memory_bytes=int(memory.total) if memory else None,
        compute_capability=".".join(map(str, capability)) if capability else None,
        numa_node=_numa_node(library, handle, sys_pci),
        nvlinks=_nvlinks(library, handle),
        ecc=bool(ecc[0]) if ecc else None,
        compute_mode=_MODES.get(asked(library.nvmlDeviceGetComputeMode, handle)),
        power_limit_w=limit * _MILLI if limit is not None else None,
    )
    mode = asked(library.nvmlDeviceGetMigMode, handle)
    return list(_parts(library, handle, whole)) if mode and mode[0] else [whole]


def _parts(library: Any, handle: Any, whole: Gpu) -> Iterator[Gpu]:
    """Yield the parts of a divided GPU."""
    for part in parts(library, handle):
        name = text(library.nvmlDeviceGetName(part))
        attributes = asked(library.nvmlDeviceGetAttributes_v2, part)
        profile = re.search(r"\bMIG (\S+)", name)
        yield replace(
            whole,
            uuid=text(library.nvmlDeviceGetUUID(part)),
            name=name,
            memory_bytes=int(attributes.memorySizeMB) * _MEBI if attributes else None,
            mig=profile[1] if profile else "",
        )


def _numa_node(library: Any, handle: Any, sys_pci: Path) -> int | None:
    """Return the NUMA node that the kernel names, or None if it names none or calls it -1."""
    pci = asked(library.nvmlDeviceGetPciInfo, handle)
    if pci is None:
        return None
    domain, _, place = text(pci.busId).lower().partition(":")
    try:
        node = int((sys_pci / f"{domain[-4:]}:{place}" / "numa_node").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return node if node >= 0 else None


def _nvlinks(library: Any, handle: Any) -> tuple[int, ...]:
    """Return the indices of the GPUs at the other ends of its active links. Links to a switch have none.

    A GPU at the other end that is lost says nothing of this one.
    """
    peers = set()
    for link in range(library.NVML_NVLINK_MAX_LINKS):
        if not asked(library.nvmlDeviceGetNvLinkState, handle, link):
            continue
        with suppress(pynvml.NVMLError):
            pci = library.nvmlDeviceGetNvLinkRemotePciInfo(handle, link)
            peers.add(int(library.nvmlDeviceGetIndex(library.nvmlDeviceGetHandleByPciBusId(pci.busId))))
    return tuple(sorted(peers))
