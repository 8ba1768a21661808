"""The services that a run uses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from orchestrator.devices import Allocation, Inventory
from orchestrator.devices.gpu_gate import GateEnd
from orchestrator.devices.idle import IdleWait
from orchestrator.devices.watch.gpu_watch import GpuWatch
from orchestrator.devices.watch.pool import GpuPool
from orchestrator.domain import Plan
from orchestrator.events import Listener
from orchestrator.processes import Stop
from orchestrator.results.store import Run
from orchestrator.running.host_lock.lock import Turns
from orchestrator.running.slots.model import Slots
from orchestrator.runtimes import Runtime


@dataclass(frozen=True, slots=True)
class Expected:
    """The seconds that parts of a plan are expected to take, as far as anything is known of them."""

    repeats_s: Mapping[str, float] = field(default_factory=dict)
    """One repeat of a cell, by its id."""
    images_s: Mapping[str, float] = field(default_factory=dict)
    """Making an image from nothing, by its name."""


Free = Callable[[str, frozenset[str]], tuple[str, ...]]
"""Removes what a reference names, except names and ids that are still needed. Returns the removed names."""


def _no_watch(allocation: Allocation) -> GpuWatch:
    del allocation
    return GpuWatch()


def _ample(plan: Plan) -> None:
    del plan


def _unknown(plan: Plan) -> Expected:
    del plan
    return Expected()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The services that a run uses. Nothing of them is read from anywhere else."""

    run: Run
    runtime: Runtime
    inventory: Inventory
    clock: Callable[[], datetime]
    """The time in UTC."""
    listener: Listener
    stop: Stop
    turns: Turns = field(default_factory=Turns)
    """The files that the runs of a host lock in turn, each for one repeat, so that no two measure at once."""
    answers: Path | None = None
    """The store of parity answers for later runs; without it, each run asks anew."""
    idle: Callable[[Allocation, Stop], IdleWait] | None = None
    """Waits until nothing else runs on what a cell was given; without it, cells start at once."""
    gpu_gate: Callable[[Allocation, Stop], GateEnd] | None = None
    """Waits until the GPUs that a cell or a check was given are free; without it, each starts at once."""
    gpu_watch: Callable[[Allocation], GpuWatch] = _no_watch
    """Makes the watch over the GPUs that a cell was given, while it is measured; by default nothing is watched."""
    pool: GpuPool = field(default_factory=GpuPool)
    """Counts the GPUs that fail in launches of the run."""
    has_published_builds: bool = True
    """False if environments may hold other builds of a release than the package index has."""
    slots: Slots | None = None
    """The leave to run cells on different GPUs at once; without it, one cell runs at a time."""
    free: Free | None = None
    """Removes an image after its last repeat; without it, all stay."""
    require_room: Callable[[Plan], None] = _ample
    """Raises `HostError` where the disk has no room for what a plan that has grown needs."""
    expected: Callable[[Plan], Expected] = _unknown
    """Estimates a plan for whoever watches it; by default nothing is known."""

    def left_out(self) -> frozenset[str]:
        """Return the UUIDs of the GPUs that have failed too often and are used no more."""
        return self.pool.left_out(self.inventory.gpus)

    def wait_for_gpus(self, allocation: Allocation) -> GateEnd | None:
        """Wait until the GPUs of a launch are free. Return None without GPUs, or without a gate."""
        if not allocation.gpus or self.gpu_gate is None:
            return None
        return self.gpu_gate(allocation, self.stop)
