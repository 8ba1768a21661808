"""The CPUs and GPUs that a system gets, from an inventory alone."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.devices import Allocation, Cpu, Gpu, Inventory, NoDevice, allocate
from orchestrator.devices.host import by_preference
from orchestrator.domain import System

GIB = 2**30


def gpu(index: int) -> Gpu:
    return Gpu(index, f"GPU-{index}", "Test GPU", 16 * GIB)


def host(*cpus: Cpu, gpus: int = 0) -> Inventory:
    return Inventory(cpus or (Cpu(0, 0), Cpu(1, 1)), 8 * GIB, tuple(gpu(index) for index in range(gpus)))


def test_too_many_gpus_are_refused_with_both_numbers() -> None:
    """A system with more GPUs than the host is refused with both numbers."""
    assert allocate(System("4_gpu", gpus=4), host(gpus=1)) == NoDevice("4_gpu needs 4 GPUs; this host has 1")


def test_one_missing_gpu_is_named_in_the_singular() -> None:
    assert allocate(System("1_gpu", gpus=1), host()) == NoDevice("1_gpu needs 1 GPU; this host has 0")


def test_a_system_with_too_many_cpus_is_refused() -> None:
    """A system with more CPUs than the host is refused."""
    assert allocate(System("cpu", cpus=4), host()) == NoDevice("cpu needs 4 CPUs; this host has 2")


def test_a_system_naming_no_cpus_gets_all() -> None:
    assert allocate(System("cpu"), host()) == Allocation((0, 1))


def test_gpus_are_given_in_order_as_asked() -> None:
    """GPUs are given in order, and no more than asked for."""
    given = allocate(System("2_gpu", gpus=2), host(gpus=3))

    assert isinstance(given, Allocation)
    assert [gpu.uuid for gpu in given.gpus] == ["GPU-0", "GPU-1"]


def test_cpus_share_cores_only_without_a_free_one() -> None:
    """Two CPUs never share a core while another core is free."""
    threads = (Cpu(0, 0), Cpu(1, 0), Cpu(2, 1), Cpu(3, 1))

    assert allocate(System("cpu", cpus=2), host(*threads)) == Allocation((0, 2))


def test_cores_of_one_socket_are_used_first() -> None:
    """Cores of one socket are used before those of the next."""
    sockets = (Cpu(0, 0, 0), Cpu(1, 0, 1), Cpu(2, 1, 0), Cpu(3, 1, 1))

    assert allocate(System("cpu", cpus=2), host(*sockets)) == Allocation((0, 2))


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 1)), min_size=1, max_size=24))
def test_second_threads_are_offered_last(places: list[tuple[int, int]]) -> None:
    """Every CPU is offered once, and second threads come last."""
    cpus = tuple(Cpu(number, core, socket) for number, (core, socket) in enumerate(places))
    offered = by_preference(cpus)

    assert sorted(cpu.id for cpu in offered) == list(range(len(cpus)))
    seen: dict[tuple[int, int], int] = {}
    ranks = []
    for cpu in offered:
        ranks.append(seen.get((cpu.socket, cpu.core), 0))
        seen[cpu.socket, cpu.core] = ranks[-1] + 1
    assert all(before <= after for before, after in pairwise(ranks))


MIXED = Inventory(
    (Cpu(0, 0),), GIB,
    (
        Gpu(0, "GPU-0", "Example A100-PCIE-40GB", 40 * GIB), Gpu(1, "GPU-1", "Example H100 80GB", 80 * GIB),
        Gpu(2, "MIG-2", "Example H100 MIG 1g.10gb", 10 * GIB, mig="1g.10gb"), Gpu(3, "GPU-3", "Example GB10", None),
        Gpu(4, "GPU-4", "NVIDIA H100 NVL", 94 * GIB),
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("system", "uuids"),
    [
        (System("s", gpus=1, gpu="*H100*"), ["GPU-1"]),
        (System("s", gpus=1, gpu="h100*"), ["GPU-4"]),
        (System("s", gpus=1, gpu_memory_bytes=82 * GIB), ["GPU-1"]),
        (System("s", gpus=2, gpu_memory_bytes=40 * GIB), ["GPU-0", "GPU-1"]),
        (System("s", gpus=1, mig="1g.10gb"), ["MIG-2"]),
        (System("s", gpus=3), ["GPU-0", "GPU-1", "GPU-3"]),
        (System("s", gpus=1, gpu="?xample*"), []),
    ],
)
def test_a_system_gets_the_gpus_it_names(system: System, uuids: list[str]) -> None:
    """Patterns are of the whole name, in capitals or not. Whoever asks for no part gets none."""
    given = allocate(system, MIXED)

    assert [gpu.uuid for gpu in getattr(given, "gpus", ())] == uuids


HERE = (
    "1 × Example A100-PCIE-40GB (40.0 GiB), 1 × Example H100 80GB (80.0 GiB), 1 × Example H100 MIG 1g.10gb (10.0 GiB),"
    " 1 × Example GB10, 1 × NVIDIA H100 NVL (94.0 GiB)"
)


@pytest.mark.parametrize(
    ("system", "wanted"),
    [
        (System("s", gpus=3, gpu="*H100*"), "3 GPUs named '*H100*'"),
        (System("s", gpus=1, gpu_memory_bytes=120 * GIB), "1 GPU with 120 GiB"),
        (System("s", gpus=1, mig="2g.20gb", gpu="*H100*"), "1 GPU with the MIG profile 2g.20gb named '*H100*'"),
        (System("s", gpus=5), "5 GPUs"),
    ],
)
def test_gpus_that_do_not_fit_are_listed(system: System, wanted: str) -> None:
    assert allocate(system, MIXED) == NoDevice(f"s needs {wanted}; this host has {HERE}")
