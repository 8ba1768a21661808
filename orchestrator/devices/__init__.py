"""The devices of a host and their allocation to cells."""

from orchestrator.devices.facts import another_machine, host_facts
from orchestrator.devices.gpus import Gpu
from orchestrator.devices.host import Allocation, Cpu, Inventory, NoDevice, allocate, inventory

__all__ = [
    "Allocation", "Cpu", "Gpu", "Inventory", "NoDevice", "allocate", "another_machine", "host_facts", "inventory",
]  # fmt: skip
