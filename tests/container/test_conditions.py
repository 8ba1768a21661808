"""Readings around a block, from trees that look like /proc and /sys."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from container_support import request_of
from stubbed_driver import StubbedDriver

from benchmarks.sampling.conditions import Places, Sampler
from benchmarks.sampling.gpus import Gpus, watched
from benchmarks.timing import timed
from orchestrator.results.contract import GpuConditions

STAT = """\
cpu  9 9 9 9 9 9 9 9 0 0
cpu0 {user} {nice} {system} {idle} {iowait} {irq} {softirq} {steal} {guest} {guest}
cpu1 100 10 20 500 5 1 2 0 0 0
cpu2 {elsewhere} 0 0 0 0 0 0 0 0 0
intr 1234567 0 9 0 0
procs_running 3
"""
PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total={total}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"
CPU = "sys/devices/system/cpu/cpu0"
FILES = {
    "proc/stat": STAT,
    "proc/loadavg": "{load} 0.30 0.20 2/345 6789\n",
    "proc/vmstat": "nr_free_pages 5\npswpin {swapped}\npswpout 7\npgfault 3\n",
    "proc/self/statm": "5000 {resident} 200 1 0 300 0\n",
    "proc/self/io": "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: {read}\nwrite_bytes: {written}\n",
    "proc/self/cgroup": "0::/docker/abc\n",
    "proc/pressure/cpu": PRESSURE,
    "proc/pressure/memory": PRESSURE,
    "proc/pressure/io": PRESSURE,
    "sys/fs/cgroup/cpu.stat": "usage_usec 5\nnr_periods 9\nnr_throttled {throttled}\nthrottled_usec 1\n",
    "sys/fs/cgroup/cpu.pressure": PRESSURE,
    f"{CPU}/cpufreq/scaling_cur_freq": "{frequency}\n",
    f"{CPU}/thermal_throttle/core_throttle_count": "{thermal}\n",
}
BEFORE = {
    "user": 100, "nice": 10, "system": 20, "idle": 500, "iowait": 5, "irq": 1, "softirq": 2, "guest": 0, "steal": 5,
    "elsewhere": 0, "load": 0.5, "swapped": 10, "resident": 1000, "read": 4096,
    "written": 0, "total": 1_000_000, "throttled": 2, "frequency": 3_000_000, "thermal": 1,
}  # fmt: skip
Tree = Callable[..., Places]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Write the files anew with these values, in place, as a kernel does it."""

    def write(without: tuple[str, ...] = (), **values: Any) -> Places:
        for name, text in FILES.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name not in without:
                path.write_text(text.format(**(BEFORE | values)))
        return Places(str(tmp_path / "proc"), str(tmp_path / "sys"))

    return write


def interval(tree: Tree, without: tuple[str, ...] = (), **after: Any) -> dict[str, Any]:
    times = iter((10.0, 10.25))
    sampler = Sampler(tree(without), cpus=[0, 1], clock=lambda: next(times))
    sampler.begin()
    tree(without, **after)
    found: dict[str, Any] = sampler.end()
    sampler.close()
    return found


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ({"user": 125}, {"busy_s": 0.25}),
        *[({kind: 525}, {"busy_s": 0.0}) for kind in ("idle", "iowait", "guest")],
        ({"nice": 20, "system": 30, "irq": 11, "softirq": 12}, {"busy_s": 0.4}),
        ({"elsewhere": 25}, {"busy_s": 0.0}),
        ({"steal": 15}, {"steal_s": 0.1, "busy_s": 0.0}),
        ({"load": 1.75}, {"load": 1.75}),
        ({"swapped": 12}, {"swapped_bytes": 8192}),
        ({"resident": 1500}, {"rss_bytes": 1500 * 4096}),
        ({"read": 8192, "written": 512}, {"read_bytes": 4096, "written_bytes": 512}),
        ({"throttled": 5}, {"throttled": 3}),
        ({"frequency": 2_000_000}, {"frequency_hz": 2_000_000_000}),
        ({"thermal": 4}, {"thermal_events": 3}),
        (
            {"total": 1_125_000},
            dict.fromkeys(("cpu_pressure_s", "memory_pressure_s", "io_pressure_s", "group_cpu_pressure_s"), 0.125),
        ),
    ],
)  # fmt: skip
def test_interval_has_counter_differences_and_final_gauges(
    tree: Tree, after: dict[str, Any], expected: dict[str, Any]
) -> None:
    """An interval has the difference of each counter, and each gauge as it is at the end."""
    found = interval(tree, **after)

    assert expected.items() <= found.items()
    assert found["wall_s"] == 0.25
    assert 0 <= found["cpu_s"] < 0.25


@pytest.mark.parametrize(
    ("hidden", "lost"),
    [
        ("proc/stat", {"busy_s", "steal_s"}),
        ("proc/loadavg", {"load"}),
        ("proc/vmstat", {"swapped_bytes"}),
        ("proc/self/statm", {"rss_bytes"}),
        ("proc/self/io", {"read_bytes", "written_bytes"}),
        ("proc/pressure/memory", {"memory_pressure_s"}),
        ("sys/fs/cgroup/cpu.stat", {"throttled", "group_cpu_pressure_s"}),
        (f"{CPU}/cpufreq/scaling_cur_freq", {"frequency_hz"}),
        (f"{CPU}/thermal_throttle/core_throttle_count", {"thermal_events"}),
    ],
)
def test_figures_hidden_by_a_container_are_left_out(tree: Tree, hidden: str, lost: set[str]) -> None:
    """The figures that a container hides are left out, and the rest is read."""
    assert interval(tree).keys() - interval_of_another(tree, hidden).keys() == lost


def interval_of_another(tree: Tree, hidden: str) -> dict[str, Any]:
    (Path(tree().proc).parent / hidden).unlink()
    return interval(tree, (hidden,))


@pytest.mark.parametrize("name", sorted(set(FILES) - {"proc/self/cgroup"}))
def test_file_of_other_content_fails_nothing(tree: Tree, name: str) -> None:
    """A file that holds something else is no reason to fail."""
    path = Path(tree().proc).parent / name
    path.write_text("no such thing\n")

    assert interval(tree, (name,))["wall_s"] == 0.25


def test_file_that_breaks_off_is_left_out(tree: Tree) -> None:
    """A file that breaks off while measuring is left out."""
    sampler = Sampler(tree(), cpus=[0, 1])
    sampler.begin()
    (Path(tree().proc) / "pressure" / "cpu").write_text("")
    found = sampler.end()
    sampler.close()

    assert "cpu_pressure_s" not in found
    assert "memory_pressure_s" in found


@pytest.mark.parametrize(
    ("told", "folder"),
    [
        ("0::/\n", ""),
        ("0::/user.slice/x\n", "user.slice/x"),
        ("4:cpu,cpuacct:/docker/abc\n", "cpu"),
        ("4:cpu:/docker/abc\n0::/\n", "cpu/docker/abc"),
    ],
)
def test_control_group_is_found_at_either_place(tree: Tree, told: str, folder: str) -> None:
    """The control group is found at its path or at the root of what is mounted."""
    hidden = ("sys/fs/cgroup/cpu.stat", "sys/fs/cgroup/cpu.pressure", "proc/self/cgroup")
    places = tree(hidden)
    own = Path(places.sys) / "fs" / "cgroup" / folder
    own.mkdir(parents=True, exist_ok=True)
    (Path(places.proc) / "self" / "cgroup").write_text(told)
    (own / "cpu.stat").write_text("nr_throttled 7\n")

    assert interval(tree, hidden)["throttled"] == 0


def test_without_any_file_the_clocks_remain(tmp_path: Path) -> None:
    sampler = Sampler(Places(str(tmp_path), str(tmp_path)), cpus=[0])
    sampler.begin()

    assert sampler.end().keys() == {"wall_s", "cpu_s", "user_s", "system_s"}


def test_cpu_time_separates_own_code_from_kernel() -> None:
    """CPU time is split into that of own code and that of the kernel."""
    sampler = Sampler(cpus=[0])
    sampler.begin()
    sum(number * number for number in range(3_000_000))
    own = sampler.end()
    sampler.begin()
    with Path("/dev/urandom").open("rb", buffering=0) as drawn:
        for _ in range(100):
            drawn.read(1 << 20)
    kernel = sampler.end()
    sampler.close()

    assert own["user_s"] > 5 * own["system_s"]
    assert kernel["system_s"] > 5 * kernel["user_s"]
    assert own["user_s"] + own["system_s"] == pytest.approx(own["cpu_s"], rel=0.1)


def test_gpus_report_counter_differences_and_final_state() -> None:
    """GPUs are asked for differences of counters, and for their state at the end."""
    driver = StubbedDriver(gpus=2)
    sampler = Sampler(cpus=[0], gpus=Gpus(driver))
    sampler.begin()
    driver.pass_time(energy_mj=250_000, heat_ns=50_000_000, clock_mhz=1410, temperature_c=83, reasons=0x20 | 0x40 | 0x4)
    found = sampler.end()["gpus"]
    sampler.close()

    expected = {
        "energy_j": 250.0, "power_limited_s": 0.0, "heat_limited_s": 0.05, "clock_hz": 1_410_000_000,
        "temperature_c": 83, "slowed_by": ["heat", "power_limit"],
    }  # fmt: skip
    assert found == [expected, expected]
    assert [GpuConditions(**one).slowed_by for one in found] == [("heat", "power_limit")] * 2
    assert driver.shut_down
    assert not driver.asked & {"nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetPowerUsage"}


def test_an_interval_tells_when_it_begins(tree: Tree) -> None:
    """By the clock that the host shares, where the host samples meanwhile."""
    times = iter([100.25, 101.5])
    sampler = Sampler(tree(), cpus=[0], clock=lambda: next(times), stamped=True)
    sampler.begin()
    found = sampler.end()
    sampler.close()

    assert (found["begin_s"], found["wall_s"]) == (100.25, 1.25)


@pytest.mark.parametrize("gpus", [0, 1])
def test_intervals_are_stamped_for_gpus_alone(gpus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the driver's library is missing inside, which the host does not need."""
    monkeypatch.setattr("benchmarks.sampling.gpus.watched", lambda: None)
    sampler = timed.sampler(request_of(gpus=gpus))
    sampler.begin()
    found = sampler.end()
    sampler.close()

    assert ("begin_s" in found) is bool(gpus)


def test_figure_a_gpu_refuses_is_not_asked_again() -> None:
    """A figure that a GPU does not report is left out and not asked for again."""
    driver = StubbedDriver(refused={"nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetViolationStatus"})
    gpus = Gpus(driver)
    driver.asked.clear()
    gpus.begin()
    found = gpus.end()

    assert [one.keys() for one in found] == [{"clock_hz", "temperature_c", "slowed_by"}]
    assert not driver.asked & driver.refused


def test_lost_gpu_costs_its_figures_alone() -> None:
    """A GPU that is lost while measuring costs its figures and no measurement."""
    driver = StubbedDriver()
    gpus = Gpus(driver)
    gpus.begin()
    driver.refused |= driver.asked

    assert gpus.end() == [{}]


def test_without_a_driver_nothing_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a driver or its library there is nothing to watch."""
    assert watched() is None
    monkeypatch.setitem(sys.modules, "pynvml", StubbedDriver())
    assert watched() is not None
    monkeypatch.setitem(sys.modules, "pynvml", StubbedDriver(refused={"nvmlInit"}))
    assert watched() is None
    monkeypatch.setitem(sys.modules, "pynvml", StubbedDriver(refused={"nvmlDeviceGetCount"}))
    silent = watched()
    assert silent is not None
    silent.begin()
    assert silent.end() == []
