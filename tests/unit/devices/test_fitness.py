"""The fitness of a host to measure, from what was read of it."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from orchestrator.devices import vitals
from orchestrator.devices.fitness import Level, fitness, is_fit
from orchestrator.devices.readings import Activity
from orchestrator.devices.vitals import Disk, GpuVitals, Places, Vitals, examine
from orchestrator.engine.abilities import Abilities, EngineKind

QUIET = Activity(1.0, 0.02, 0.0, {"cpu": 0.01, "memory": 0.0, "io": 0.0}, 0)
GPU = GpuVitals(0, "Example GPU", True, 1900, 1980, (), 0)
ENGINE = Abilities(
    kind=EngineKind.DOCKER, version="28.0", api_version="1.48", is_rootless=False, cgroup_version=2,
    storage="overlay2", has_containerd_images=False, has_selinux=False, has_seccomp=True, has_buildkit=True,
)  # fmt: skip
GOOD = Vitals(
    cpus=8, activity=QUIET, load=0.1, swap_bytes=0, governors=("performance",), turbo=False, smt=False, throttled=None,
    cgroups=(2, ("cpu", "cpuset")), clock_source="tsc", disks=(Disk("results", "/r", 90_000_000_000),),
    engine=ENGINE, base_image="python:3.11", gpus=(GPU,),
)  # fmt: skip


def levels(seen: Vitals) -> dict[str, Level]:
    return {finding.check: finding.level for finding in fitness(seen)}


def doing(**changes: Any) -> Vitals:
    return replace(GOOD, activity=replace(QUIET, **changes))


def test_a_host_in_order_has_nothing_to_change() -> None:
    findings = fitness(GOOD)

    assert {finding.level for finding in findings} == {Level.OK}
    assert not any(finding.remedy for finding in findings)
    assert is_fit(findings)


@pytest.mark.parametrize(
    ("seen", "check", "level"),
    [
        (doing(other_cpus=0.3), "load", Level.WARNING),
        (doing(other_cpus=4.1), "load", Level.UNFIT),
        (doing(other_cpus=None), "load", Level.UNKNOWN),
        (doing(pressure={"cpu": 0.06}), "pressure", Level.WARNING),
        (doing(pressure={"memory": 0.06}), "pressure", Level.UNFIT),
        (doing(pressure={}), "pressure", Level.UNKNOWN),
        (doing(swapped_bytes=2_000_000), "swap", Level.UNFIT),
        (replace(GOOD, swap_bytes=1 << 30), "swap", Level.WARNING),
        (replace(GOOD, swap_bytes=None), "swap", Level.UNKNOWN),
        (doing(steal_cpus=0.2), "steal", Level.WARNING),
        (doing(steal_cpus=1.0), "steal", Level.UNFIT),
        (doing(steal_cpus=None), "steal", Level.UNKNOWN),
        (replace(GOOD, governors=("performance", "powersave")), "governor", Level.WARNING),
        (replace(GOOD, governors=()), "governor", Level.UNKNOWN),
        (replace(GOOD, turbo=True), "turbo", Level.WARNING),
        (replace(GOOD, turbo=None), "turbo", Level.UNKNOWN),
        (replace(GOOD, smt=True), "smt", Level.WARNING),
        (replace(GOOD, smt=None), "smt", Level.UNKNOWN),
        (replace(GOOD, throttled=3), "quota", Level.WARNING),
        (replace(GOOD, cgroups=None), "cpusets", Level.WARNING),
        (replace(GOOD, cgroups=(2, ("cpu",))), "cpusets", Level.WARNING),
        (replace(GOOD, disks=(Disk("images", "/i", 10_000_000_000),)), "disk", Level.WARNING),
        (replace(GOOD, disks=(*GOOD.disks, Disk("images", "/i", 1_000_000_000))), "disk", Level.UNFIT),
        (replace(GOOD, disks=()), "disk", Level.UNKNOWN),
        (replace(GOOD, clock_source="hpet"), "clock", Level.WARNING),
        (replace(GOOD, clock_source=None), "clock", Level.UNKNOWN),
        (replace(GOOD, engine=None, engine_problem="nobody answers; start it"), "engine", Level.WARNING),
        (replace(GOOD, engine=None), "base image", Level.UNKNOWN),
        (
            replace(GOOD, engine=replace(ENGINE, is_rootless=True, unlimited=("CPUs",))),
            "limits of containers",
            Level.WARNING,
        ),
        (replace(GOOD, base_problem="no such host"), "base image", Level.WARNING),
        (replace(GOOD, gpus=(replace(GPU, persistent=False),)), "GPU 0 persistence", Level.WARNING),
        (replace(GOOD, gpus=(replace(GPU, persistent=None),)), "GPU 0 persistence", Level.UNKNOWN),
        (replace(GOOD, gpus=(replace(GPU, slowed_by=("heat",)),)), "GPU 0 clocks", Level.WARNING),
        (replace(GOOD, gpus=(replace(GPU, clock_mhz=None),)), "GPU 0 clocks", Level.UNKNOWN),
        (replace(GOOD, gpus=(replace(GPU, processes=1),)), "GPU 0 processes", Level.UNFIT),
        (replace(GOOD, gpus=(replace(GPU, processes=None),)), "GPU 0 processes", Level.UNKNOWN),
    ],
)
def test_each_check_has_its_own_threshold(seen: Vitals, check: str, level: Level) -> None:
    """Each check has its threshold and touches no other."""
    findings = {finding.check: finding for finding in fitness(seen)}

    assert findings[check].level is level
    assert findings[check].remedy or level is Level.UNKNOWN
    of_no_engine = {"base image", "limits of containers"}
    others = {name: found for name, found in levels(seen).items() if name not in {check, *of_no_engine}}
    assert {name: found for name, found in others.items() if found is not Level.OK} in (
        {},
        {"engine": Level.WARNING},
    )
    assert is_fit(fitness(seen)) is (level is not Level.UNFIT)


def test_selinux_is_told_with_what_follows() -> None:
    (finding,) = [each for each in fitness(replace(GOOD, engine=replace(ENGINE, has_selinux=True)))
                  if each.check == "SELinux"]  # fmt: skip

    assert finding.level is Level.OK
    assert "without labels" in finding.found


def test_a_host_is_examined_through_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host is examined from what the kernel reports."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    files = {
        "proc/stat": "cpu0 1 0 0 0 0 0 0 0 0 0\ncpu1 1 0 0 0 0 0 0 0 0 0\nprocs_running 1\n",
        "proc/meminfo": "MemTotal: 9 kB\nSwapTotal: 2048 kB\n",
        "proc/self/cgroup": "0::/user.slice\n",
        "sys/fs/cgroup/cgroup.controllers": "cpuset cpu io\n",
        "sys/fs/cgroup/user.slice/cpu.stat": "nr_periods 9\nnr_throttled 4\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
        "sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
        "sys/devices/system/cpu/smt/active": "1\n",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    seen = examine(Places(tmp_path / "proc", tmp_path / "sys"), window_s=0.0, sleep=lambda _: None)

    assert (seen.cpus, seen.swap_bytes, seen.governors) == (2, 2048 * 1024, ("performance", "powersave"))
    assert (seen.turbo, seen.smt, seen.throttled) == (True, True, 4)
    assert (seen.cgroups, seen.clock_source) == ((2, ("cpuset", "cpu", "io")), "hpet")


def test_the_kernels_list_shows_version_1_control_groups(tmp_path: Path) -> None:
    """Control groups of the first version are known by the kernel's list."""
    (tmp_path / "sys/fs/cgroup/cpu").mkdir(parents=True)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cgroups").write_text("#subsys_name h n e\ncpuset\t3\t6\t1\ncpu\t1\t1\t1\nmemory\t0\t1\t0\n")

    seen = examine(Places(tmp_path / "proc", tmp_path / "sys"), sleep=lambda _: None)

    assert seen.cgroups == (1, ("cpuset", "cpu"))


def test_a_silent_host_is_examined_all_the_same(tmp_path: Path) -> None:
    """A host that reports nothing is examined all the same."""
    seen = examine(Places(tmp_path / "proc", tmp_path / "sys"), sleep=lambda _: None)

    assert (seen.swap_bytes, seen.governors, seen.turbo, seen.smt) == (None, (), None, None)
    assert (seen.throttled, seen.cgroups, seen.clock_source) == (None, None, None)
    assert is_fit(fitness(seen))


def test_the_nearest_existing_folder_gives_free_space(tmp_path: Path) -> None:
    """Free space is that of the nearest folder that exists."""
    (disk,) = vitals.disks({"results": tmp_path / "not" / "there"})

    assert (disk.purpose, disk.path) == ("results", str(tmp_path))
    assert disk.free_bytes > 0


def test_unreported_facts_of_a_gpu_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU is asked, and what it does not report is unknown."""

    def refuses(*_: object) -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    driver = SimpleNamespace(
        nvmlInit=lambda: None, nvmlShutdown=lambda: None, nvmlDeviceGetCount=lambda: 1, NVMLError=pynvml.NVMLError,
        nvmlDeviceGetHandleByIndex=lambda index: index, nvmlDeviceGetName=lambda _: b"Example GPU", NVML_CLOCK_SM=1,
        nvmlDeviceGetPersistenceMode=refuses, nvmlDeviceGetComputeRunningProcesses_v2=refuses,
        nvmlDeviceGetComputeRunningProcesses_v3=lambda _: [SimpleNamespace(pid=1), SimpleNamespace(pid=2)],
        nvmlDeviceGetClockInfo=lambda *_: 1200, nvmlDeviceGetMaxClockInfo=lambda *_: 1980,
        nvmlDeviceGetCurrentClocksThrottleReasons=lambda _: 0x20 | 0x40 | 0x4,
        nvmlClocksThrottleReasonSwPowerCap=0x4, nvmlClocksThrottleReasonSwThermalSlowdown=0x20,
        nvmlClocksThrottleReasonHwThermalSlowdown=0x40,
    )  # fmt: skip
    monkeypatch.setattr("orchestrator.devices.driver.pynvml", driver)

    assert vitals.gpus() == ((GpuVitals(0, "Example GPU", None, 1200, 1980, ("heat", "power_limit"), 2),), "")


def test_a_lost_gpu_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_: int) -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)

    driver = {"nvmlInit": lambda: None, "nvmlShutdown": lambda: None, "nvmlDeviceGetCount": lambda: 1}
    for name, function in (driver | {"nvmlDeviceGetHandleByIndex": lost}).items():
        monkeypatch.setattr(pynvml, name, function)
    (gpu,), fault = vitals.gpus()
    (finding,) = [each for each in fitness(replace(GOOD, gpus=(gpu,))) if each.check == "GPU 0"]

    assert fault == ""
    assert (finding.level, finding.found) == (Level.WARNING, "GPU is lost")
    assert "reset the GPU" in finding.remedy


def test_a_driver_that_does_not_work_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of another version than the kernel's modules is a fault, and not a host without GPUs."""

    def mismatch() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH)

    monkeypatch.setattr(pynvml, "nvmlInit", mismatch)
    gpus, fault = vitals.gpus()
    (finding,) = [each for each in fitness(replace(GOOD, gpu_fault=fault)) if each.check == "GPU driver"]

    assert gpus == ()
    assert "mismatch" in finding.found.lower()
    assert "kernel modules" in finding.remedy
