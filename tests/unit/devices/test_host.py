"""The parts of a host, read from files such as the kernel's, and from a driver that may be missing."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from orchestrator.devices import Allocation, Cpu, Gpu, Inventory, NoDevice, allocate, another_machine, host_facts
from orchestrator.devices import inventory as take_inventory
from orchestrator.devices.host import cpu_model, cpus
from orchestrator.domain import System


def topology(root: Path, number: int, core: str, socket: str) -> None:
    folder = root / f"cpu{number}" / "topology"
    folder.mkdir(parents=True)
    (folder / "core_id").write_text(core + "\n")
    (folder / "physical_package_id").write_text(socket + "\n")


def test_cpus_are_placed_as_the_kernel_says(tmp_path: Path) -> None:
    """CPUs are placed on cores and sockets as the kernel says."""
    topology(tmp_path, 0, "3", "0")
    topology(tmp_path, 5, "4", "1")

    assert cpus((0, 5), tmp_path) == (Cpu(0, 3, 0), Cpu(5, 4, 1))


def test_a_silent_kernel_gives_every_cpu_a_core(tmp_path: Path) -> None:
    """A kernel that does not report cores gives every CPU a core of its own."""
    topology(tmp_path, 1, "garbage", "-1")

    assert cpus((0, 1), tmp_path) == (Cpu(0, 0, 0), Cpu(1, 1, 0))


def test_a_host_without_a_driver_has_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", missing)
    found = take_inventory()

    assert (found.gpus, found.driver, found.gpu_fault) == ((), None, "")
    assert found.cpus
    assert found.memory_bytes > 0


def test_a_gpu_without_an_answer_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """GPUs are read from the driver, and one that does not answer is left out."""

    def handle(index: int) -> int:
        if index == 1:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        return index

    fake = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 3,
        "nvmlDeviceGetHandleByIndex": handle,
        "nvmlDeviceGetUUID": lambda found: f"GPU-{found}".encode(),
        "nvmlDeviceGetName": lambda _: "Test GPU",
        "nvmlDeviceGetMemoryInfo": lambda _: SimpleNamespace(total=7),
        "nvmlSystemGetDriverVersion": lambda: "570.1",
    }
    for name, function in fake.items():
        monkeypatch.setattr(pynvml, name, function)
    found = take_inventory()

    assert found.gpus == (Gpu(0, "GPU-0", "Test GPU", 7), Gpu(2, "GPU-2", "Test GPU", 7))
    assert (found.driver, found.gpu_fault) == ("570.1", "GPU 1: GPU is lost")
    refused = allocate(System("4_gpu", gpus=4), found)
    assert refused == NoDevice("4_gpu needs 4 GPUs; this host has 2 (the driver says: GPU 1: GPU is lost)")


def test_a_driver_that_does_not_work_is_no_absence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of another version than the kernel's modules is named as the cause."""

    def mismatch() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH)

    monkeypatch.setattr(pynvml, "nvmlInit", mismatch)
    refused = allocate(System("1_gpu", gpus=1), take_inventory())

    assert isinstance(refused, NoDevice)
    assert "this host has 0 (the driver says: " in refused.reason
    assert "mismatch" in refused.reason.lower()


def test_a_gpu_without_a_memory_size_is_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some share the memory of the host, and have no size of their own."""

    def refuses(_: int) -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    fake = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetUUID": lambda _: "GPU-0",
        "nvmlDeviceGetName": lambda _: "Test GPU",
        "nvmlDeviceGetMemoryInfo": refuses,
        "nvmlSystemGetDriverVersion": lambda: "570.1",
    }
    for name, function in fake.items():
        monkeypatch.setattr(pynvml, name, function)
    found = take_inventory()

    assert found.gpus == (Gpu(0, "GPU-0", "Test GPU", None),)
    assert isinstance(allocate(System("1_gpu", gpus=1), found), Allocation)


def test_host_facts_count_cores_and_sockets(tmp_path: Path) -> None:
    """Host facts count cores and sockets, and leave the unknown empty."""
    gpus = (Gpu(0, "GPU-0", "Test GPU", 7),)
    here = Inventory((Cpu(0, 0, 0), Cpu(1, 0, 0), Cpu(2, 0, 1)), 5, gpus, "570.1", "Example CPU @ 2GHz")
    facts = host_facts(here, "20.10", sys_cpu=tmp_path)

    assert (facts["cpus"], facts["cores"], facts["sockets"]) == (3, 2, 2)
    assert (facts["cpu"], facts["governor"], facts["engine"]) == ("Example CPU @ 2GHz", None, "20.10")
    assert facts["gpus"] == [{"index": 0, "uuid": "GPU-0", "name": "Test GPU", "memory_bytes": 7}]


def test_the_governor_is_read_from_the_kernel(tmp_path: Path) -> None:
    """The governor is read where the kernel has one."""
    (tmp_path / "cpu0/cpufreq").mkdir(parents=True)
    (tmp_path / "cpu0/cpufreq/scaling_governor").write_text("performance\n")

    assert host_facts(Inventory((), 0), sys_cpu=tmp_path)["governor"] == "performance"


def test_the_cpu_name_comes_from_the_kernel(tmp_path: Path) -> None:
    """The name of the CPU is the kernel's, and without one there is none."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: Example CPU @ 2GHz\n")

    assert cpu_model(cpuinfo) == "Example CPU @ 2GHz"
    assert cpu_model(tmp_path / "missing") is None


FAR: dict[str, Any] = {
    "hostname": "far7", "kernel": "5.14", "machine": "x86_64", "cpu": "EPYC 7763", "cpus": 128, "memory_bytes": 10**12,
    "gpus": [{"name": "A100", "uuid": "GPU-1"}], "driver": "550", "engine": "20.10",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"machine": "aarch64"}, "x86_64, not aarch64"),
        ({"cpu": "Xeon"}, "EPYC 7763, not Xeon"),
        ({"cpus": 32}, "128 CPUs, not 32"),
        ({"memory_bytes": 10**11}, "1000 GB of memory, not 100"),
        ({"gpus": [{"name": "H200", "uuid": "GPU-1"}]}, "A100, not H200"),
        ({"gpus": FAR["gpus"] * 2}, "A100, not A100, A100"),
    ],
)
def test_hosts_that_measure_otherwise_are_two_machines(changes: dict[str, Any], said: str) -> None:
    assert another_machine(FAR, FAR | changes) == said


@pytest.mark.parametrize(
    "changes",
    [
        {"hostname": "renamed", "kernel": "6.1", "driver": "560", "engine": "28.3"},
        {"memory_bytes": 10**12 - 10**9},
        {"gpus": [{"name": "A100", "uuid": "GPU-of-a-repair"}]},
        {"gpus": []},
        {"cpu": None, "cpus": None, "memory_bytes": None},
    ],
    ids=["upgraded", "another kernel", "repaired", "no driver", "unknown"],
)
def test_a_host_survives_new_names_and_programs(changes: dict[str, Any]) -> None:
    """A host stays itself, whatever its name and programs."""
    assert another_machine(FAR, FAR | changes) is None
    assert another_machine(FAR | changes, FAR) is None


@pytest.mark.parametrize(("online", "confined"), [(4, ()), (8, (0, 1, 2, 3))])
def test_containers_keep_to_the_cpus_of_the_program(
    monkeypatch: pytest.MonkeyPatch, online: int, confined: tuple[int, ...]
) -> None:
    """An engine starts them beside this process, so that a system without `cpus` would take every CPU of the host."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(os, "cpu_count", lambda: online)
    system = System("cpu")

    allocation = allocate(system, take_inventory())

    assert isinstance(allocation, Allocation)
    assert allocation.confined_to(system) == confined
