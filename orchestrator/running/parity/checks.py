"""The parity checks of a run: which are left, and their order."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from orchestrator.devices import Allocation, NoDevice
from orchestrator.devices.shares import allocated
from orchestrator.domain import Plan, Status, System
from orchestrator.errors import FolderError
from orchestrator.events import Notice
from orchestrator.images.context import digest, source_files
from orchestrator.planning.parity import checks
from orchestrator.resources import BENCHMARKS
from orchestrator.results.parity.answers import Answers
from orchestrator.results.parity.checks import Checks
from orchestrator.results.parity.contract import ParityOutcome
from orchestrator.running.parity.check import CheckJob, outcome_of
from orchestrator.running.parity.content import content_of, environment_of, machine_of
from orchestrator.running.slots.model import Slots, pools
from orchestrator.running.slots.schedule import PlacedJob, Schedule
from orchestrator.running.slots.side_by_side import JobsAtOnce
from orchestrator.running.slots.waiting import SlotJob
from orchestrator.running.surroundings import Surroundings
from orchestrator.runtimes import Provided, Ready
from orchestrator.user_files import ModelFile, Network

_AGAIN = {Status.NOT_RUN, Status.LAUNCH_FAILED, Status.NO_DEVICE}
"""Outcomes that a resumed run always tries anew, as they say nothing of what was to be checked."""
_ALIKE_S = 60.0
"""Expected of every check, so that they come in the order of the plan."""

Allocations = Mapping[System, Allocation | NoDevice]


def check_parity(
    plan: Plan, provided: Provided, allocations: Allocations, surroundings: Surroundings, *, retry_failed: bool
) -> None:
    """Carry out the checks of a plan that have no final outcome yet, as far as there are environments for them.

    Raises `HostError` where the run's files cannot be written.
    """
    checking = _Checking(plan, surroundings)
    pending = list(checking.pending(provided, allocations, retry_failed=retry_failed))
    if surroundings.slots is None:
        for each in pending:
            checking.carry_out(each, each.job.allocation)
    else:
        _side_by_side(checking, pending, allocations, surroundings.slots)


@dataclass(frozen=True, slots=True)
class _Pending:
    """A check without a final outcome, with the hash of what its answer depends on, and its place among all."""

    job: CheckJob
    content: str
    position: str


class _Checking:
    """The checks of one run, and the folders of their answers by content."""

    def __init__(self, plan: Plan, surroundings: Surroundings) -> None:
        self.around = surroundings
        self._plan = plan
        self._store = Checks(surroundings.run)
        self._answers = Answers(surroundings.answers) if surroundings.answers else None
        self._answered: dict[str, str] = {}

    def pending(self, provided: Provided, allocations: Allocations, *, retry_failed: bool) -> Iterator[_Pending]:
        """Yield the checks that have no final outcome."""
        planned, source = checks(self._plan), ""
        own: dict[str, ModelFile | Network] = {model.name: model for model in self._plan.models}
        own |= {network.name: network for network in self._plan.networks}
        for number, check in enumerate(planned, start=1):
            ready, allocation = provided.get(check.image), allocations[check.system]
            if not isinstance(ready, Ready) or not isinstance(allocation, Allocation):
                continue
            source = source or digest(source_files(BENCHMARKS, "benchmarks"))
            machine = machine_of(self.around.inventory, allocation)
            environment = environment_of(ready, source)
            content = content_of(check, self._plan.seed, environment, machine, own.get(check.model))
            outcome = self._store.outcome(check.id)
            if outcome is None or outcome.content != content or not _is_final(outcome, retry_failed=retry_failed):
                job = CheckJob(check, self._plan, ready, allocation, self.around)
                yield _Pending(job, content, f"{number} of {len(planned)}")
            else:
                self._keep(outcome)

    def carry_out(self, pending: _Pending, allocation: Allocation) -> None:
        """Carry out one check on these devices, unless the run is stopped."""
        if self.around.stop.is_set():
            return
        job = replace(pending.job, allocation=allocation)
        try:
            outcome = outcome_of(job, pending.content, self._answered, self._answers, pending.position)
        except FolderError as error:
            self.around.listener(Notice(f"{job.check.id}: parity is not checked: {error}"))
            return
        if outcome:
            self._keep(outcome)

    def _keep(self, outcome: ParityOutcome) -> None:
        if outcome.status is Status.OK:
            self._answered.setdefault(outcome.content, outcome.folder)


def _side_by_side(checking: _Checking, pending: list[_Pending], allocations: Allocations, leave: Slots) -> None:
    """Carry out checks on different GPUs at once; those of the same content after each other."""
    here = checking.around.inventory
    by_content: dict[tuple[str, System], list[_Pending]] = {}
    for each in pending:
        by_content.setdefault((each.content, each.job.check.system), []).append(each)
    jobs = [
        SlotJob(block=0, group=content, system=system, expected_s=_ALIKE_S * len(entries), entries=tuple(entries))
        for (content, system), entries in by_content.items()
    ]

    def work(each: _Pending, placed: PlacedJob[_Pending]) -> None:
        own = allocated(each.job.check.system, placed.gpus, here, leave.shares) if placed.gpus else each.job.allocation
        checking.carry_out(each, own)

    suiting = pools(allocations, here, leave.shares)  # of one kind, which the contents of checks name
    schedule = Schedule(jobs, suiting)
    for _ in JobsAtOnce(schedule, work, time.monotonic, checking.around.left_out).results():
        pass


def _is_final(outcome: ParityOutcome, *, retry_failed: bool) -> bool:
    return outcome.status is Status.OK or not (retry_failed or outcome.status in _AGAIN)
