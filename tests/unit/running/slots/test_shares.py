"""The shares of CPUs and memory that go with GPUs."""

from dataclasses import replace

from orchestrator.devices import Cpu, Inventory
from orchestrator.devices.shares import allocated, shares
from orchestrator.domain import System
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

    assert given is not None
    assert (given.cpus, given.gpus, given.memory_bytes) == (tuple(range(8, 16)), GPUS[2:4], 2**36)
    assert given.shared_gpus == ("GPU-2", "GPU-3")


def test_system_may_ask_for_less_but_not_more() -> None:
    few = allocated(System("few", gpus=1, cpus=2), GPUS[:1], HOST, shares(HOST))

    assert few is not None
    assert few.cpus == (0, 2)  # a thread of each core
    assert allocated(System("many", gpus=1, cpus=5), GPUS[:1], HOST, shares(HOST)) is None
    assert allocated(System("large", gpus=1, memory_bytes=2**36), GPUS[:1], HOST, shares(HOST)) is None
    assert allocated(ONE, GPUS[:1], HOST, shares(HOST)) is not None
