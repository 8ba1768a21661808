"""The part of a host that a scheduler has given to the job of this process.

Containers are started by an engine outside the job, so its bounds do not reach them unless they are handed on.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.devices.gpus import Gpu
from orchestrator.devices.host import Inventory

PROC_CGROUP = Path("/proc/self/cgroup")
SYS_CGROUP = Path("/sys/fs/cgroup")
_JOB = re.compile(r"(.*/job_\d+)(?:/.*)?")
_UNLIMITED = 2**60
"""A limit of cgroup v1 beyond it is none."""


@dataclass(frozen=True, slots=True)
class JobBounds:
    """The bounds of a job of Slurm."""

    memory_bytes: int | None = None
    """None without a bound."""
    gpus: tuple[str, ...] | None = None
    """Their indices or UUIDs; None if the scheduler does not hand out GPUs."""
    hides_gpus: bool = False
    """True if the kernel may hide the GPUs of other jobs, so that indices of the driver begin at 0 again."""
    cgroup: str = ""
    """The control group of the job, from the root of its hierarchy; empty if it has none."""


def job_bounds(
    environment: Mapping[str, str], proc_cgroup: Path = PROC_CGROUP, sys_cgroup: Path = SYS_CGROUP
) -> JobBounds | None:
    """Return the bounds of the job that this process is in, or None outside any job."""
    if "SLURM_JOB_ID" not in environment:
        return None
    cgroup = _cgroup(proc_cgroup)
    limits = [*_limits(cgroup, sys_cgroup), *_of_variable(environment.get("SLURM_MEM_PER_NODE", ""))]
    own, given = (environment.get(name) for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_GPUS"))
    by_uuid = own is not None and any(name.startswith(("GPU-", "MIG-")) for name in own.split(","))
    chosen = own if by_uuid or given is None else given
    return JobBounds(
        memory_bytes=min(limits, default=None),
        gpus=None if chosen is None else tuple(_listed(chosen)),
        hides_gpus=not by_uuid and given is not None,
        cgroup=cgroup,
    )


def bounded(inventory: Inventory, bounds: JobBounds | None) -> Inventory:
    """Return what a job has of a host. Its CPUs are those that the process may use already."""
    if bounds is None:
        return inventory
    memory = min(inventory.memory_bytes, bounds.memory_bytes or inventory.memory_bytes)
    return replace(inventory, memory_bytes=memory, gpus=given_gpus(inventory.gpus, bounds))


def given_gpus(gpus: Iterable[Gpu], bounds: JobBounds | None) -> tuple[Gpu, ...]:
    """Return the GPUs of a host that a job was given."""
    seen = tuple(gpus)
    if bounds is None or bounds.gpus is None or (bounds.hides_gpus and len(seen) == len(bounds.gpus)):
        return seen
    names = bounds.gpus
    return tuple(
        gpu
        for gpu in seen
        if any(name == str(gpu.index) or (len(name) > 4 and gpu.uuid.startswith(name)) for name in names)
    )


def _listed(text: str) -> Iterator[str]:
    """Yield the names of a list, with spans such as `0-3` spelled out. The word for no GPUs is none of them."""
    for name in filter(None, (part.strip() for part in text.split(","))):
        if span := re.fullmatch(r"(\d+)-(\d+)", name):
            yield from map(str, range(int(span[1]), int(span[2]) + 1))
        elif name != "NoDevFiles":
            yield name


def _cgroup(proc_cgroup: Path) -> str:
    """Return the control group of the job, in the hierarchy that bounds memory."""
    try:
        lines = [line.split(":", 2) for line in proc_cgroup.read_text(encoding="utf-8").splitlines()]
    except OSError:
        return ""
    paths = [path for _, controllers, path in lines if not controllers or "memory" in controllers.split(",")]
    found = (match[1] for path in paths if (match := _JOB.fullmatch(path)))
    return next(found, "")


def _limits(cgroup: str, sys_cgroup: Path) -> Iterator[int]:
    """Yield the bounds on the memory of a control group and of those around it."""
    if not cgroup:
        return
    for group in (Path(cgroup), *Path(cgroup).parents):
        below = str(group).lstrip("/")
        for path in (sys_cgroup / below / "memory.max", sys_cgroup / "memory" / below / "memory.limit_in_bytes"):
            try:
                text = path.read_text(encoding="ascii").strip()
            except (OSError, ValueError):
                continue
            if text.isdecimal() and int(text) < _UNLIMITED:
                yield int(text)


def _of_variable(megabytes: str) -> Iterator[int]:
    if megabytes.isdecimal() and int(megabytes):
        yield int(megabytes) * 2**20
