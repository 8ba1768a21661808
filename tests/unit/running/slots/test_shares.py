"""The shares of CPUs and memory that go with GPUs."""

from dataclasses import replace

import pytest

from orchestrator.devices import Cpu, Inventory, allocate
from orchestrator.devices.shares import allocated, shares, suits
from orchestrator.domain import System
from orchestrator.running.slots.model import pools
from tests.unit.running.slots.virtual_host import CPUS, GPUS, HOST, ONE, TWO


def test_shares_are_disjoint_whole_cores_nearby() -> None:
    divided = shares(HOST)

    assert {uuid: [cpu.id for cpu in cpus] for uuid, cpus in divided.items() if uuid in {"GPU-0", "GPU-7"}} == {
        "GPU-0": [0, 1, 2, 3],
        "GPU-7": [28, 29, 30, 31],
    }
    assert sorted(cpu.id for cpus in divided.values() for cpu in cpus) == list(range(32))


def test_gpus_of_unknown_nodes_share_all_cpus() -> None:
    unknown = tuple(replace(gpu, numa_node=None) for gpu in GPUS[:3])
    divided = shares(replace(HOST, gpus=unknown))

    assert [len(cpus) for cpus in divided.values()] == [10, 10, 10]
    assert len({cpu for cpus in divided.values() for cpu in cpus}) == 30


def test_nodes_without_cpus_take_those_of_others() -> None:
    """GPUs on a node that has no CPUs of its own get some all the same."""
    here = replace(HOST, cpus=tuple(replace(cpu, node=0) for cpu in CPUS))

    assert {len(cpus) for cpus in shares(here).values()} == {4}


def test_fewer_cores_than_gpus_give_no_shares() -> None:
    assert shares(Inventory((Cpu(0, 0), Cpu(1, 0)), 2**30, GPUS[:2])) == {}
    assert shares(Inventory(CPUS, 2**30)) == {}


def test_allocation_has_its_part_of_the_host() -> None:
    given = allocated(TWO, GPUS[2:4], HOST, shares(HOST))

    assert (given.cpus, given.gpus, given.memory_bytes) == (tuple(range(8, 16)), GPUS[2:4], 2**36)
    assert given.shared_gpus == ("GPU-2", "GPU-3")
    assert allocated(System("few", gpus=1, cpus=2), GPUS[:1], HOST, shares(HOST)).cpus == (0, 2)  # of each core one


@pytest.mark.parametrize(
    ("system", "suited"),
    [
        (ONE, 8),
        (System("four", gpus=1, cpus=4), 8),
        (System("five", gpus=1, cpus=5), 0),
        (System("eighth", gpus=1, memory_bytes=2**35), 8),
        (System("more", gpus=1, memory_bytes=2**35 + 1), 0),
    ],
)
def test_system_may_ask_for_its_share_alone(system: System, suited: int) -> None:
    assert sum(suits(system, gpu, HOST, shares(HOST)) for gpu in GPUS) == suited
    assert not suits(ONE, GPUS[0], HOST, {})


def test_gpus_of_unlike_nodes_have_equal_shares() -> None:
    """Of two NUMA nodes the second has two GPUs: with twice the CPUs, the same cell would be another one on these."""
    here = replace(HOST, gpus=GPUS[:6])
    divided = shares(here)
    wide = System("wide", gpus=1, cpus=8)

    assert [len(cpus) for cpus in divided.values()] == [4] * 6
    assert {divided["GPU-4"][0].node, divided["GPU-5"][0].node} == {1}
    assert pools({wide: allocate(wide, here)}, here, divided) == {wide: ()}


def test_pools_are_of_one_kind() -> None:
    """Figures of two kinds of GPUs would not be of one device."""
    mixed = tuple(replace(gpu, name="Fake B" if gpu.index % 3 == 1 else "Fake A") for gpu in GPUS)
    here = replace(HOST, gpus=mixed)
    given = {system: allocate(system, here) for system in (ONE, TWO)}
    suiting = pools(given, here, shares(here))

    assert {gpu.name for gpu in suiting[ONE]} == {"Fake A"}
    assert TWO not in suiting  # its first two are of two kinds
