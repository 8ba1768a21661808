"""The state of a host that `doctor` reads and `fitness` judges."""

import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pynvml

from orchestrator.devices.driver import asked, computing, nvml, text
from orchestrator.devices.readings import Activity, between, read
from orchestrator.devices.throttling import slowed_by
from orchestrator.engine.abilities import Abilities

WINDOW_S = 1.0


@dataclass(frozen=True, slots=True)
class Disk:
    """Free space at a place that this program fills."""

    purpose: str
    path: str
    free_bytes: int


@dataclass(frozen=True, slots=True)
class GpuVitals:
    """The state of one GPU. What its driver does not report is None."""

    index: int
    name: str
    persistent: bool | None
    clock_mhz: int | None
    most_clock_mhz: int | None
    slowed_by: tuple[str, ...]
    """Causes that hold its clocks down, in the words of results."""
    processes: int | None
    fault: str = ""
    """The driver's answer where the GPU gives none; else empty."""


@dataclass(frozen=True, slots=True)
class Vitals:
    """The state of a host. What it does not report is None or empty."""

    cpus: int
    """That this process may use."""
    activity: Activity
    load: float
    swap_bytes: int | None
    governors: tuple[str, ...]
    turbo: bool | None
    smt: bool | None
    throttled: int | None
    """Periods in which this process's control group had used up its quota; None without a quota."""
    cgroups: tuple[int, tuple[str, ...]] | None
    """Version, and names of the controllers."""
    clock_source: str | None
    disks: tuple[Disk, ...] = ()
    engine: Abilities | None = None
    """None if no engine answers."""
    engine_problem: str = ""
    base_image: str = ""
    base_problem: str = ""
    gpus: tuple[GpuVitals, ...] = ()
    gpu_fault: str = ""
    """The fault of the GPU driver, in one line."""
    gpu_access: str = ""
    """The way in which the engine gives containers GPUs; empty if it has none, or was not asked."""
    gpu_access_problem: str = ""
    gpu_access_unknown: str = ""
    """The reason that the engine was not asked for GPUs, although there are some."""
    gpu_access_remedy: str = ""
    """Of the problem, or the way to have the engine asked."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders in which the kernel reports its state."""

    proc: Path = Path("/proc")
    sys: Path = Path("/sys")


def examine(
    places: Places = Places(), *, window_s: float = WINDOW_S, sleep: Callable[[float], None] = time.sleep
) -> Vitals:
    """Observe this host for `window_s`. The caller adds engine, disks and GPUs."""
    cpus = sorted(os.sched_getaffinity(0))
    before = read(places.proc)
    sleep(window_s)
    after = read(places.proc)
    each = [places.sys / "devices/system/cpu" / f"cpu{cpu}" for cpu in cpus]
    governors = {_line(cpu / "cpufreq/scaling_governor") for cpu in each}
    return Vitals(
        cpus=len(cpus),
        activity=between(before, after, cpus),
        load=os.getloadavg()[0],
        swap_bytes=_swap(places.proc),
        governors=tuple(sorted(governor for governor in governors if governor)),
        turbo=_turbo(places.sys / "devices/system/cpu"),
        smt=_flag(places.sys / "devices/system/cpu/smt/active"),
        throttled=_throttled(places),
        cgroups=_cgroups(places.sys / "fs/cgroup", places.proc),
        clock_source=_line(places.sys / "devices/system/clocksource/clocksource0/current_clocksource"),
    )


def disks(wanted: Mapping[str, Path]) -> tuple[Disk, ...]:
    """Ask for free space by purpose, at each path or the nearest folder above it that exists."""
    disks_found = []
    for purpose, path in wanted.items():
        place = next((folder for folder in (path.absolute(), *path.absolute().parents) if folder.is_dir()), None)
        if place is not None:
            disks_found.append(Disk(purpose, str(place), shutil.disk_usage(place).free))
    return tuple(disks_found)


def gpus() -> tuple[tuple[GpuVitals, ...], str]:
    """Read the state of the GPUs from their driver, and the driver's fault. Without a driver there are none."""
    with nvml() as driver:
        if driver.library is None:
            return (), driver.fault
        try:
            count = driver.library.nvmlDeviceGetCount()
        except pynvml.NVMLError as error:
            return (), str(error)
        return tuple(_gpu(driver.library, index) for index in range(count)), ""


def _gpu(library: Any, index: int) -> GpuVitals:
    try:
        return _answering(library, library.nvmlDeviceGetHandleByIndex(index), index)
    except pynvml.NVMLError as error:  # lost, or not ours to use
        return GpuVitals(index, "", None, None, None, (), None, fault=str(error))


def _answering(library: Any, handle: Any, index: int) -> GpuVitals:
    name = asked(library.nvmlDeviceGetName, handle)
    reasons = asked(library.nvmlDeviceGetCurrentClocksThrottleReasons, handle)
    processes = computing(library, handle)
    persistence = asked(library.nvmlDeviceGetPersistenceMode, handle)
    return GpuVitals(
        index=index,
        name="" if name is None else text(name),
        persistent=None if persistence is None else bool(persistence),
        clock_mhz=asked(library.nvmlDeviceGetClockInfo, handle, library.NVML_CLOCK_SM),
        most_clock_mhz=asked(library.nvmlDeviceGetMaxClockInfo, handle, library.NVML_CLOCK_SM),
        slowed_by=slowed_by(library, reasons),
        processes=None if processes is None else len(processes),
    )


def _turbo(cpu: Path) -> bool | None:
    no_turbo, boost = _flag(cpu / "intel_pstate/no_turbo"), _flag(cpu / "cpufreq/boost")
    return boost if no_turbo is None else not no_turbo


def _swap(proc: Path) -> int | None:
    for line in _text(proc / "meminfo").splitlines():
        if line.startswith("SwapTotal:"):
            return int(line.split()[1]) * 1024
    return None


def _throttled(places: Places) -> int | None:
    """Read the throttling of the control group of this process.

    If only the root of the hierarchy has counters, nothing is limited.
    """
    for entry in _text(places.proc / "self/cgroup").splitlines():
        _, _, own = entry.partition(":")
        controllers, _, path = own.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = places.sys / "fs/cgroup" / ("cpu" if controllers else "")
        for folder in (root / path.lstrip("/"), root):
            fields = dict(line.split() for line in _text(folder / "cpu.stat").splitlines() if len(line.split()) == 2)
            if int(fields.get("nr_periods", 0)):
                return int(fields["nr_throttled"])
    return None


def _cgroups(root: Path, proc: Path) -> tuple[int, tuple[str, ...]] | None:
    controllers = _text(root / "cgroup.controllers")
    if controllers:
        return 2, tuple(controllers.split())
    if not root.is_dir() or not any(root.iterdir()):
        return None
    rows = (line.split() for line in _text(proc / "cgroups").splitlines() if not line.startswith("#"))
    return 1, tuple(row[0] for row in rows if len(row) == 4 and row[3] == "1")


def _flag(path: Path) -> bool | None:
    text = _line(path)
    return None if text is None else text == "1"


def _line(path: Path) -> str | None:
    return _text(path).strip() or None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
