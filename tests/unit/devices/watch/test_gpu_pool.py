"""The GPUs that a run still uses, after faults of some."""

from dataclasses import replace

from orchestrator.devices import Allocation, Cpu, Inventory, NoDevice, allocate
from orchestrator.devices.watch.marks import GpuMark
from orchestrator.devices.watch.pool import GpuPool
from orchestrator.domain import System
from tests.unit.devices.watch.fake_driver import GPU_A, GPU_B

SYSTEM = System("1_gpu", gpus=1)
HOST = Inventory((Cpu(0, 0),), 2**30, (GPU_A, GPU_B))
LOST = GpuMark(GPU_A, "GPU is lost", is_fault=True)
GIVEN = allocate(SYSTEM, HOST)


def test_one_failure_leaves_a_gpu_in_use() -> None:
    """Several faults of one launch are one failure, and what is no fault is none."""
    pool = GpuPool()
    pool.note([LOST, replace(LOST, text="2 uncorrectable memory errors (ECC)")])
    pool.note([GpuMark(GPU_A, "heat held it back for 33% of the time")])

    assert pool.allocation(GIVEN, SYSTEM, HOST) is GIVEN
    assert pool.why_left_out([GPU_A]) == ""


def test_another_gpu_takes_the_place() -> None:
    pool = GpuPool()
    pool.note([LOST])
    pool.note([LOST])

    assert pool.allocation(GIVEN, SYSTEM, HOST) == Allocation((0,), (GPU_B,))
    assert pool.why_left_out([GPU_A, GPU_B]) == "GPU 0 is left out after 2 failures, the last one: GPU is lost"


def test_without_another_one_there_is_no_device() -> None:
    pool = GpuPool()
    pool.note([LOST])
    pool.note([LOST])
    host = replace(HOST, gpus=(GPU_A,))

    assert pool.allocation(allocate(SYSTEM, host), SYSTEM, host) == NoDevice(
        "1_gpu needs 1 GPU; this host has 0; GPU 0 is left out after 2 failures, the last one: GPU is lost"
    )
    assert pool.allocation(NoDevice("none"), SYSTEM, host) == NoDevice("none")
