"""The jobs of a run whose cells go side by side, and the GPUs that suit them."""

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from orchestrator.devices import Allocation, Gpu, Inventory, NoDevice
from orchestrator.devices.host import fits
from orchestrator.devices.shares import Shares, suits
from orchestrator.domain import Cell, Outcome, System, Workload
from orchestrator.results.records import ProvedWith
from orchestrator.running.order import Repeat
from orchestrator.running.refused_batches import without_batch
from orchestrator.running.slots.waiting import SlotJob


@dataclass(frozen=True, slots=True)
class Slots:
    """The leave to run cells on different GPUs at once, and what is needed for it."""

    shares: Shares
    """The CPUs that go with each GPU."""
    expected_s: Callable[[Cell], float]
    """Estimates one repeat of a cell."""
    rounds: tuple[int, ...] = ()
    """Numbers of repeats that run at once, one round after the other; empty if a schedule decides."""
    proved_with: ProvedWith | None = None
    """The proof that the leave rests on; None while one is made."""

    def parts(self, todo: Sequence[Repeat]) -> Iterator[Sequence[Repeat]]:
        """Yield the repeats that a schedule orders together: all of them, or those of each round."""
        if not self.rounds:
            yield todo
        for end, size in zip(accumulate(self.rounds), self.rounds, strict=True):
            yield todo[end - size : end]


def pools(
    allocations: Mapping[System, Allocation | NoDevice], inventory: Inventory, shares: Shares
) -> dict[System, tuple[Gpu, ...]]:
    """Return the GPUs that suit each system whose cells may run beside others, all of one kind.

    The cells of all other systems run alone: on CPUs, with more CPUs or memory than go with their GPUs, or on GPUs of
    several kinds, whose figures would not be of one device.
    """
    suiting = {}
    for system, allocation in allocations.items():
        kinds = {(gpu.name, gpu.memory_bytes) for gpu in allocation.gpus} if isinstance(allocation, Allocation) else ()
        if len(kinds) == 1:
            alike = (gpu for gpu in inventory.gpus if fits(gpu, system) and (gpu.name, gpu.memory_bytes) in kinds)
            suiting[system] = tuple(gpu for gpu in alike if suits(system, gpu, inventory, shares))
    return suiting


def jobs(
    repeats: Sequence[Repeat],
    todo: Collection[Repeat],
    recorded: Callable[[str, int], Outcome | None],
    leave: Slots,
    seed: int,
) -> list[SlotJob[Repeat]]:
    """Make one job of each repeat of a group of comparable cells, of which `todo` is still to be done.

    The cells of a group run on the same GPUs in a repeat, and on others in the next, so that no difference between
    GPUs is taken for one between cells. `repeats` are in random order, which the cells of a job keep. Jobs of like
    length come in an order drawn with the seed. An interrupted job goes on where its other cells ran. A job with a
    search for the largest batch has the cells of every batch size, so that none of them begins before the search ends.
    """
    searched = {(cell.system, without_batch(cell.workload)) for cell, _ in repeats if cell.workload.searches}
    units: dict[tuple[int, System, Workload], list[Repeat]] = {}
    for cell, repeat in repeats:
        shared = (cell.system, without_batch(cell.workload))
        system, workload = shared if shared in searched else (cell.system, cell.workload)
        units.setdefault((repeat, system, workload), []).append((cell, repeat))
    left = {(cell.id, repeat) for cell, repeat in todo}
    made = []
    for (block, system, workload), unit in units.items():
        entries = tuple((cell, repeat) for cell, repeat in unit if (cell.id, repeat) in left)
        done = (recorded(cell.id, repeat) for cell, repeat in unit if (cell.id, repeat) not in left)
        before = frozenset(uuid for outcome in done if outcome and outcome.ran_on for uuid in gpus_of(outcome))
        lasting_s = sum(min(leave.expected_s(cell), cell.timeout_s) for cell, _ in entries)
        if entries:
            turn = 0 if leave.rounds else block
            made.append(SlotJob(turn, (system, workload), system, lasting_s, entries, before))
    random.Random(seed).shuffle(made)  # noqa: S311 - an order, not a secret
    return made


def gpus_of(outcome: Outcome) -> tuple[str, ...]:
    """Return the UUIDs of the GPUs that a repeat was given."""
    return tuple(filter(None, outcome.ran_on.split(", ")))
