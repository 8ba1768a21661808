"""The fitness of a host to measure, as findings with remedies."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.devices.disturbance import OTHER_CPUS
from orchestrator.devices.vitals import GpuVitals, Vitals
from orchestrator.engine.abilities import limits_problem

LEAST_DISK_BYTES = 20e9
"""Room for the images of the default matrix, and some."""
LITTLE_DISK_BYTES = 2e9
MUCH_BUSY = 0.5
"""Share of the CPUs: with so much going on, waiting for an idle host would never end."""
STEAL_SHARE = 0.02
MUCH_STEAL = 0.1
PRESSURE = 0.05
SWAP_BYTES = 1e6
GOOD_CLOCKS = ("tsc", "arch_sys_counter", "kvm-clock")
_RELOAD = "load the kernel modules of the driver that its library belongs to, or reboot"
_SLOWED_BY = {
    "power_limit": "its power limit",
    "hardware": "a hardware slowdown",
    "heat": "heat",
    "power_supply": "the power supply",
}


class Level(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    UNKNOWN = "unknown"
    """This host does not report it."""
    WARNING = "warning"
    """Figures will scatter more, or mean something a reader must know."""
    UNFIT = "unfit"
    """Nothing measured here now is worth quoting."""


@dataclass(frozen=True, slots=True)
class HostFinding:
    """One thing that was looked at."""

    check: str
    level: Level
    found: str
    """One line."""
    remedy: str = ""
    """The remedy; empty if all is well."""


def fitness(seen: Vitals) -> tuple[HostFinding, ...]:
    """Judge a host, in the order in which a person would put it right."""
    checks = (_load, _pressure, _swap, _steal, _governor, _turbo, _smt, _quota, _cpusets, _disk, _clock, *_ENGINE)
    gpus = (finding for gpu in seen.gpus for finding in _gpu(gpu))
    return (*(check(seen) for check in checks), *_labels(seen), *_gpu_driver(seen), *_gpu_access(seen), *gpus)


def is_fit(findings: Iterable[HostFinding]) -> bool:
    """Return true if no finding makes the host unfit. Warnings do not."""
    return all(finding.level is not Level.UNFIT for finding in findings)


def _unknown(check: str, what: str) -> HostFinding:
    return HostFinding(check, Level.UNKNOWN, what)


def _load(seen: Vitals) -> HostFinding:
    busy = seen.activity.other_cpus
    if busy is None:
        return _unknown("load", "/proc/stat does not show how busy the CPUs are")
    text = f"others use {busy:.2f} of {seen.cpus} CPUs, load average {seen.load:.2f}"
    if busy > MUCH_BUSY * seen.cpus:
        return HostFinding("load", Level.UNFIT, text, "end what runs there (`top` shows it), and measure then")
    if busy > OTHER_CPUS:
        return HostFinding("load", Level.WARNING, text, "end it, or keep it off the CPUs that are measured on")
    return HostFinding("load", Level.OK, text)


def _pressure(seen: Vitals) -> HostFinding:
    pressure = seen.activity.pressure
    if not pressure:
        remedy = "boot with psi=1 to have waiting recorded with every sample"
        return HostFinding("pressure", Level.UNKNOWN, "this kernel records no pressure (/proc/pressure)", remedy)
    text = "waiting for " + ", ".join(f"{name} {share:.0%}" for name, share in pressure.items()) + " of the time"
    if pressure.get("memory", 0.0) > PRESSURE:
        return HostFinding("pressure", Level.UNFIT, text, "free memory: something waits for it")
    if max(pressure.values()) > PRESSURE:
        return HostFinding("pressure", Level.WARNING, text, "find what waits (`top`, `iotop`) and end it")
    return HostFinding("pressure", Level.OK, text)


def _swap(seen: Vitals) -> HostFinding:
    moved = seen.activity.swapped_bytes
    if moved is not None and moved > SWAP_BYTES:
        return HostFinding("swap", Level.UNFIT, f"{moved / 1e6:.0f} MB moved in a second", "free memory, or swapoff -a")
    if seen.swap_bytes is None:
        return _unknown("swap", "/proc/meminfo does not report swap")
    if seen.swap_bytes:
        remedy = "swapoff -a while measuring, or see that memory is never short"
        return HostFinding("swap", Level.WARNING, f"{seen.swap_bytes / 1e9:.1f} GB of swap is on", remedy)
    return HostFinding("swap", Level.OK, "no swap")


def _steal(seen: Vitals) -> HostFinding:
    stolen = seen.activity.steal_cpus
    if stolen is None:
        return _unknown("steal", "/proc/stat does not report the time that a hypervisor took")
    share = stolen / max(1, seen.cpus)
    text = f"a hypervisor takes {share:.1%} of the CPU time"
    remedy = "use a host of one's own, or CPUs that are pinned to this guest"
    if share > MUCH_STEAL:
        return HostFinding("steal", Level.UNFIT, text, remedy)
    return (
        HostFinding("steal", Level.WARNING, text, remedy)
        if share > STEAL_SHARE
        else HostFinding("steal", Level.OK, text)
    )


def _governor(seen: Vitals) -> HostFinding:
    if not seen.governors:
        return _unknown("governor", "this kernel sets no CPU frequencies (as in most virtual machines)")
    text = ", ".join(seen.governors)
    if seen.governors == ("performance",):
        return HostFinding("governor", Level.OK, text)
    return HostFinding("governor", Level.WARNING, text, "cpupower frequency-set -g performance")


def _turbo(seen: Vitals) -> HostFinding:
    if seen.turbo is None:
        return _unknown("turbo", "this kernel does not report whether clocks may rise above their nominal rate")
    if seen.turbo:
        remedy = "switch it off for the least scatter (intel_pstate/no_turbo, cpufreq/boost); figures get lower by it"
        return HostFinding("turbo", Level.WARNING, "clocks rise with temperature and load", remedy)
    return HostFinding("turbo", Level.OK, "off")


def _smt(seen: Vitals) -> HostFinding:
    if seen.smt is None:
        return _unknown("smt", "this kernel does not report whether cores are shared by two threads")
    if seen.smt:
        remedy = "echo off > /sys/devices/system/cpu/smt/control, or ask for no more `cpus` than there are cores"
        return HostFinding("smt", Level.WARNING, "two logical CPUs share each core", remedy)
    return HostFinding("smt", Level.OK, "every logical CPU is a core")


def _quota(seen: Vitals) -> HostFinding:
    if seen.throttled is None:
        return HostFinding("quota", Level.OK, "no CPU quota on this control group")
    if seen.throttled:
        remedy = "measure outside the limited group; a cpuset does not slow down what is in it, a quota does"
        return HostFinding("quota", Level.WARNING, f"throttled in {seen.throttled} periods so far", remedy)
    return HostFinding("quota", Level.OK, "not throttled so far")


def _cpusets(seen: Vitals) -> HostFinding:
    if seen.cgroups is None:
        remedy = "mount /sys/fs/cgroup; without it, containers cannot be given CPUs of their own"
        return HostFinding("cpusets", Level.WARNING, "no control groups are mounted", remedy)
    version, controllers = seen.cgroups
    if "cpuset" in controllers:
        return HostFinding("cpusets", Level.OK, f"control groups version {version} with cpuset")
    remedy = "enable the cpuset controller (cgroup_enable=cpuset, or delegate it to a rootless engine)"
    return HostFinding("cpusets", Level.WARNING, f"control groups version {version} without cpuset", remedy)


def _disk(seen: Vitals) -> HostFinding:
    if not seen.disks:
        return _unknown("disk", "free space could not be asked for")
    level, poorest = Level.OK, min(seen.disks, key=lambda disk: disk.free_bytes)
    if poorest.free_bytes < LITTLE_DISK_BYTES:
        level = Level.UNFIT
    elif poorest.free_bytes < LEAST_DISK_BYTES:
        level = Level.WARNING
    text = ", ".join(f"{disk.free_bytes / 1e9:.0f} GB free for {disk.purpose} ({disk.path})" for disk in seen.disks)
    return HostFinding(
        "disk", level, text, "" if level is Level.OK else "make room; `orchestrator clean` shows what is ours"
    )


def _clock(seen: Vitals) -> HostFinding:
    if seen.clock_source is None:
        return _unknown("clock", "this kernel does not report what it keeps time by")
    if seen.clock_source in GOOD_CLOCKS:
        return HostFinding("clock", Level.OK, seen.clock_source)
    remedy = "reading it is slow: see why the kernel does not trust the TSC (dmesg | grep -i tsc)"
    return HostFinding("clock", Level.WARNING, seen.clock_source, remedy)


def _engine(seen: Vitals) -> HostFinding:
    if seen.engine is not None:
        return HostFinding("engine", Level.OK, str(seen.engine))
    problem, _, remedy = seen.engine_problem.partition("; ")
    return HostFinding("engine", Level.WARNING, problem, remedy or "without one, cells run in virtual environments")


def _base(seen: Vitals) -> HostFinding:
    if seen.engine is None:
        return _unknown("base image", "no engine to ask")
    if not seen.base_problem:
        return HostFinding("base image", Level.OK, f"{seen.base_image} is here or can be had")
    remedy = "name one that can be had: --base-image, ORCHESTRATOR_BASE_IMAGE, or build.base_image in the matrix"
    return HostFinding("base image", Level.WARNING, f"{seen.base_image}: {seen.base_problem}", remedy)


def _limits(seen: Vitals) -> HostFinding:
    if seen.engine is None:
        return _unknown("limits of containers", "no engine to ask")
    if problem := limits_problem(seen.engine):
        text, _, remedy = problem.partition("; ")
        return HostFinding("limits of containers", Level.WARNING, text, remedy)
    return HostFinding("limits of containers", Level.OK, "CPUs, memory and processes")


def _labels(seen: Vitals) -> Sequence[HostFinding]:
    if seen.engine is None or not seen.engine.has_selinux:
        return ()
    text = "containers with folders of the host run without labels, so that no file of yours gets one"
    return (HostFinding("SELinux", Level.OK, text),)


_ENGINE = (_engine, _limits, _base)


def _gpu_driver(seen: Vitals) -> Sequence[HostFinding]:
    return (HostFinding("GPU driver", Level.WARNING, seen.gpu_fault, _RELOAD),) if seen.gpu_fault else ()


def _gpu_access(seen: Vitals) -> Sequence[HostFinding]:
    name = "GPUs in containers"
    if seen.gpu_access_problem:
        text = f"the engine gives none: {seen.gpu_access_problem}"
        return (HostFinding(name, Level.WARNING, text, seen.gpu_access_remedy),)
    if seen.gpu_access_unknown:
        return (HostFinding(name, Level.UNKNOWN, f"not tried: {seen.gpu_access_unknown}", seen.gpu_access_remedy),)
    return (HostFinding(name, Level.OK, f"by {seen.gpu_access}"),) if seen.gpu_access else ()


def _gpu(gpu: GpuVitals) -> Sequence[HostFinding]:
    name = f"GPU {gpu.index}"
    if gpu.fault:
        return (HostFinding(name, Level.WARNING, gpu.fault, "see `dmesg` for its cause; reset the GPU, or reboot"),)
    persistent = (
        _unknown(f"{name} persistence", f"{gpu.name} does not report it")
        if gpu.persistent is None
        else HostFinding(f"{name} persistence", Level.OK, "on")
        if gpu.persistent
        else HostFinding(f"{name} persistence", Level.WARNING, "off", f"nvidia-smi -i {gpu.index} -pm 1")
    )
    return (persistent, _clocks(gpu, f"{name} clocks"), _neighbours(gpu, f"{name} processes"))


def _clocks(gpu: GpuVitals, check: str) -> HostFinding:
    if gpu.clock_mhz is None or gpu.most_clock_mhz is None:
        return _unknown(check, f"{gpu.name} does not report its clocks")
    text = f"{gpu.clock_mhz} of at most {gpu.most_clock_mhz} MHz"
    if gpu.slowed_by:
        remedy = "see to cooling and power; what is measured meanwhile is too slow"
        return HostFinding(
            check,
            Level.WARNING,
            f"{text}, held back by {', '.join(_SLOWED_BY[cause] for cause in gpu.slowed_by)}",
            remedy,
        )
    return HostFinding(check, Level.OK, text)


def _neighbours(gpu: GpuVitals, check: str) -> HostFinding:
    if gpu.processes is None:
        return _unknown(check, f"{gpu.name} does not report what runs on it")
    if gpu.processes:
        return HostFinding(check, Level.UNFIT, f"{gpu.processes} run on it", "end them (`nvidia-smi` shows them)")
    return HostFinding(check, Level.OK, "none")
