"""Execution of a plan, in which every cell × repeat ends as exactly one outcome."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.devices import Allocation, NoDevice, allocate
from orchestrator.devices.needs import lacking
from orchestrator.domain import Cell, Outcome, Plan, Status
from orchestrator.errors import FolderError
from orchestrator.events import Notice, RepeatFinished, RepeatStarted, RunStarted
from orchestrator.results.contract import Result
from orchestrator.results.records import EnvironmentRecord
from orchestrator.results.throughput import throughput
from orchestrator.running.attempts import Attempts
from orchestrator.running.classify import worth_a_retry
from orchestrator.running.folders import relative
from orchestrator.running.host_lock import Turn
from orchestrator.running.last_cells import LastCells
from orchestrator.running.launch import Launcher
from orchestrator.running.order import Repeat, order, unfinished
from orchestrator.running.parity_checks import check_parity
from orchestrator.running.surroundings import Surroundings
from orchestrator.runtimes import STOPPED, Provided, Ready, Unavailable

LOSSES = 3
"""The most new beginnings of one repeat, after the engine went away under it."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings by which a run executes its plan."""

    seed: int = 0
    """Of the order; the plan's own seed is that of data and weights."""
    jobs: int = 1
    """Environments made at once."""
    retries: int = 0
    """Further attempts after a crash or a failed launch."""
    fail_fast: bool = False
    """True if the first failure that the matrix does not expect leaves the rest not run."""
    retry_failed: bool = False
    """True if a resumed run tries again what has failed."""
    extra_repeats: int = 0
    """The most new measurements of a disturbed repeat; all are kept, and the last one counts."""


def execute(plan: Plan, surroundings: Surroundings, policy: Policy = Policy()) -> Iterator[Outcome]:
    """Run what has no final outcome yet, block by block, and give each outcome once it is on disk.

    Stops soon after `stop` is set: what was running is removed, and all that is left ends as `not_run`. What has not
    begun then leaves no file.
    Raises `HostError` where another orchestrator writes this run, or its files cannot be written.
    """
    lock = surroundings.run.lock()
    try:
        yield from _Execution(plan, surroundings, policy).outcomes()
    finally:
        lock.release()


class _Execution:
    def __init__(self, plan: Plan, surroundings: Surroundings, policy: Policy) -> None:
        self._plan = plan
        self._with = surroundings
        self._policy = policy
        self._launcher = Launcher(plan, surroundings)
        self._images = {image.name: image for image in plan.images}
        self._allocations = {
            system: allocate(system, surroundings.inventory) for system in {cell.system for cell in plan.cells}
        }

    def outcomes(self) -> Iterator[Outcome]:
        repeats = order(self._plan.cells, self._policy.seed)
        todo = unfinished(repeats, self._with.run.outcome, retry_failed=self._policy.retry_failed)
        self._with.listener(RunStarted(planned=len(todo), done=len(repeats) - len(todo)))
        provided = self._provide(todo)
        check_parity(self._plan, provided, self._allocations, self._with, retry_failed=self._policy.retry_failed)
        failed = ""
        last_cells = LastCells((cell for cell, _ in todo), provided, self._with.free, self._with.listener)
        for position, (cell, repeat) in enumerate(todo, start=1):
            try:
                outcome, result = self._one(cell, repeat, position, provided, failed)
            except FolderError as error:
                outcome, result = self._unusable(cell, repeat, error)
            if self._policy.fail_fast and outcome.status.is_failure and outcome.status is not cell.expect:
                failed = failed or cell.id
            reached = throughput(result, epochs=cell.duration.epochs is not None) if result else None
            self._with.listener(RepeatFinished(outcome, reached))
            if not failed and not self._with.stop.is_set():  # a resumed run needs what is left
                last_cells.done(cell)
            yield outcome

    def _provide(self, todo: Sequence[Repeat]) -> Provided:
        fitting = (cell for cell, _ in todo if isinstance(self._allocations[cell.system], Allocation))
        wanted = {cell.image for cell in fitting if not self._unmet(cell)}
        images = [image for image in self._plan.images if image.name in wanted]
        if not images or self._with.stop.is_set():
            return {}
        provided = self._with.runtime.provide(
            images,
            jobs=self._policy.jobs,
            logs=self._with.run.folder / "builds",
            listener=self._with.listener,
            stop=self._with.stop,
        )
        self._with.run.write_environments([self._environment(each) for each in provided.values()])
        return provided

    def _environment(self, provided: Ready | Unavailable) -> EnvironmentRecord:
        if isinstance(provided, Unavailable):
            log = relative(self._with.run, provided.log) if provided.log else None
            return EnvironmentRecord(image=provided.image, status=provided.status, reason=provided.reason, log=log)
        return EnvironmentRecord(
            image=provided.image,
            status=Status.OK,
            reference=provided.handle,
            image_id=provided.image_id,
            base_digest=provided.base_digest,
            size_bytes=provided.size_bytes,
            seccomp=provided.seccomp,
            versions=dict(provided.versions),
        )

    def _one(
        self, cell: Cell, repeat: int, position: int, provided: Provided, failed: str
    ) -> tuple[Outcome, Result | None]:
        allocation = self._launcher.pool.allocation(self._allocations[cell.system], cell.system, self._with.inventory)
        self._allocations[cell.system] = allocation
        ready = provided.get(cell.image)
        if isinstance(allocation, NoDevice):
            outcome = _not_launched(cell, repeat, Status.NO_DEVICE, allocation.reason)
        elif why_not := self._unmet(cell):
            outcome = _not_launched(cell, repeat, Status.UNSUPPORTED, why_not)
        elif failed:
            outcome = _not_launched(cell, repeat, Status.NOT_RUN, f"left out after {failed} failed")
        elif self._with.stop.is_set():
            outcome = _not_launched(cell, repeat, Status.NOT_RUN, STOPPED)
        elif isinstance(ready, Ready):
            turn = Turn(self._with.run.name, cell.id, self._with.clock)
            with self._with.turns.taken(turn, self._with.listener, self._with.stop) as mine:
                if mine:
                    return self._attempts(cell, repeat, position, ready, allocation)
            outcome = _not_launched(cell, repeat, Status.NOT_RUN, STOPPED)
        else:
            outcome = self._without_environment(cell, repeat, ready)
        counts = Attempts(self._with.run, cell.id, repeat).not_launched(outcome)
        return counts, self._with.run.result(counts)

    def _unmet(self, cell: Cell) -> str:
        """Return what the GPUs or the driver of this host lack for the build of a cell, or an empty text."""
        allocation, image = self._allocations[cell.system], self._images.get(cell.image)
        if image is None or not isinstance(allocation, Allocation) or not self._with.has_published_builds:
            return ""
        return lacking(image, allocation.gpus, self._with.inventory.driver)

    def _unusable(self, cell: Cell, repeat: int, error: FolderError) -> tuple[Outcome, Result | None]:
        """Fail one repeat whose folder this user has no rights to, so that the others go on.

        Raises the error again where it is about the whole run. What counts already stays what it is.
        """
        run = self._with.run
        if not os.access(run.folder, os.W_OK | os.X_OK):
            raise error
        recorded = run.outcome(cell.id, repeat)
        if recorded and recorded.status is Status.OK:
            self._with.listener(Notice(f"{cell.id} repeat {repeat} is not measured again: {error}"))
            return recorded, run.result(recorded)
        outcome = _not_launched(cell, repeat, Status.LAUNCH_FAILED, str(error))
        try:
            run.write_outcome(outcome)
        except FolderError as unwritten:
            self._with.listener(Notice(f"{cell.id} repeat {repeat}: its end cannot be recorded: {unwritten}"))
        return outcome, None

    def _without_environment(self, cell: Cell, repeat: int, unavailable: Unavailable | None) -> Outcome:
        if unavailable is None:
            return _not_launched(cell, repeat, Status.BUILD_FAILED, f"the plan holds no image {cell.image}")
        log = relative(self._with.run, unavailable.log) if unavailable.log else None
        return _not_launched(cell, repeat, unavailable.status, unavailable.reason, log)

    def _attempts(
        self, cell: Cell, repeat: int, position: int, ready: Ready, allocation: Allocation
    ) -> tuple[Outcome, Result | None]:
        self._with.listener(RepeatStarted(cell.id, repeat, position))
        attempts = Attempts(self._with.run, cell.id, repeat)
        retries, losses = self._policy.retries, LOSSES
        while True:
            outcome, result = self._launcher.measure(cell, repeat, ready, allocation, attempts)
            attempts.record(outcome)
            if self._with.stop.is_set():
                break
            if outcome.status is Status.NOT_RUN and losses:
                losses -= 1
            elif retries and worth_a_retry(outcome.status, outcome.exit_code):
                retries -= 1
            elif outcome.disturbance and attempts.disturbed() < self._policy.extra_repeats:
                self._with.listener(Notice(f"{cell.id} repeat {repeat} is measured again: {outcome.disturbance}"))
            else:
                break
        counts = attempts.settle(outcome)
        return counts, result if counts is outcome else self._with.run.result(counts)


def _not_launched(cell: Cell, repeat: int, status: Status, reason: str, log: str | None = None) -> Outcome:
    return Outcome(cell.id, repeat, status, reason, log=log, attempts=0)
