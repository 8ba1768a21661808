"""Execution of a plan, in which every cell × repeat ends as exactly one outcome."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from orchestrator.devices import Allocation, NoDevice, allocate, shares
from orchestrator.devices.needs import lacking
from orchestrator.domain import Cell, ImageSpec, Outcome, Plan, Status, System
from orchestrator.errors import FolderError
from orchestrator.events import Notice, RepeatFinished, RepeatStarted, in_turn
from orchestrator.results.contract import Result
from orchestrator.results.records import EnvironmentRecord
from orchestrator.results.throughput import throughput
from orchestrator.running.attempts import Attempts
from orchestrator.running.classify import worth_a_retry
from orchestrator.running.folders import LOG, relative
from orchestrator.running.host_lock.lock import Turn
from orchestrator.running.last_cells import LastCells
from orchestrator.running.launch import Launcher
from orchestrator.running.order import Repeat, order, unfinished
from orchestrator.running.parity import check_parity
from orchestrator.running.refused_batches import RefusedBatches
from orchestrator.running.slots import model as slots
from orchestrator.running.slots.schedule import PlacedJob, Schedule, Used
from orchestrator.running.slots.side_by_side import JobsAtOnce, Neighbours
from orchestrator.running.started import started
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
        self._with = (
            replace(surroundings, listener=in_turn(surroundings.listener)) if surroundings.slots else surroundings
        )
        self._policy = policy
        self._launcher = Launcher(plan, self._with)
        self._neighbours = Neighbours()
        self._positions = count(1)
        self._failed = ""
        """The first cell whose failure leaves the rest not run; empty without one."""
        self._refused = RefusedBatches(plan.cells, surroundings.run)
        self._images = {image.name: image for image in plan.images}
        self._allocations = {
            system: allocate(system, surroundings.inventory) for system in {cell.system for cell in plan.cells}
        }

    def outcomes(self) -> Iterator[Outcome]:
        repeats = order(self._plan.cells, self._policy.seed)
        recorded = {(cell.id, number): self._with.run.outcome(cell.id, number) for cell, number in repeats}
        todo = unfinished(repeats, lambda *key: recorded[key], retry_failed=self._policy.retry_failed)
        images = self._wanted(todo)
        self._with.listener(started(self._plan, todo, recorded, images, self._with.expected(self._plan)))
        provided = self._provide(images)
        check_parity(self._plan, provided, self._allocations, self._with, retry_failed=self._policy.retry_failed)
        last_cells = LastCells((cell for cell, _ in todo), provided, self._with.free, self._with.listener)
        for cell, outcome, result in self._ended(repeats, todo, provided):
            self._with.listener(_finished(cell, outcome, result))
            if not self._failed and not self._with.stop.is_set():  # a resumed run needs what is left
                last_cells.done(cell)
            yield outcome

    def _ended(
        self, repeats: Sequence[Repeat], todo: Sequence[Repeat], provided: Provided
    ) -> Iterator[tuple[Cell, Outcome, Result | None]]:
        """Measure what is left, one after the other in its order, or side by side where there is leave to."""
        if self._with.slots is None:
            for repeat in todo:
                yield self._end(repeat, self._left(repeat[0].system), provided)
            return
        leave, used = self._with.slots, Used()
        suiting = slots.pools(self._allocations, self._with.inventory, leave.shares)

        def work(repeat: Repeat, placed: PlacedJob[Repeat]) -> tuple[Cell, Outcome, Result | None]:
            return self._end(repeat, self._placed(repeat[0].system, placed), provided)

        for part in leave.parts(todo):
            jobs = slots.jobs(repeats, part, self._with.run.outcome, leave, self._policy.seed)
            schedule = Schedule(jobs, suiting, used)
            yield from JobsAtOnce(schedule, work, time.monotonic, self._with.left_out).results()

    def _placed(self, system: System, placed: PlacedJob[Repeat]) -> Allocation | NoDevice:
        """Return what a job was given: its GPUs with their share of the host, or all that its system may have."""
        if not placed.gpus or self._with.slots is None:
            return self._left(system)
        return shares.allocated(system, placed.gpus, self._with.inventory, self._with.slots.shares)

    def _left(self, system: System) -> Allocation | NoDevice:
        """Return what a system gets of the devices that have not failed."""
        given = self._with.pool.allocation(self._allocations[system], system, self._with.inventory)
        self._allocations[system] = given
        return given

    def _end(
        self, repeat: Repeat, allocation: Allocation | NoDevice, provided: Provided
    ) -> tuple[Cell, Outcome, Result | None]:
        """Carry out one repeat, and return its outcome once it is on disk."""
        cell, number = repeat
        position = next(self._positions)
        try:
            outcome, result = self._one(cell, number, position, allocation, provided)
        except FolderError as error:
            outcome, result = self._unusable(cell, number, error)
        self._refused.note(cell, result)
        if self._policy.fail_fast and outcome.status.is_failure and outcome.status is not cell.expect:
            self._failed = self._failed or cell.id
        return cell, outcome, result

    def _wanted(self, todo: Sequence[Repeat]) -> list[ImageSpec]:
        given = ((cell, self._allocations[cell.system]) for cell, _ in todo)
        wanted = {cell.image for cell, each in given if isinstance(each, Allocation) and not self._unmet(cell, each)}
        return [image for image in self._plan.images if image.name in wanted]

    def _provide(self, images: Sequence[ImageSpec]) -> Provided:
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
        self, cell: Cell, repeat: int, position: int, allocation: Allocation | NoDevice, provided: Provided
    ) -> tuple[Outcome, Result | None]:
        ready = provided.get(cell.image)
        if isinstance(allocation, NoDevice):
            outcome = _not_launched(cell, repeat, Status.NO_DEVICE, allocation.reason)
        elif why_not := self._unmet(cell, allocation):
            outcome = _not_launched(cell, repeat, Status.UNSUPPORTED, why_not)
        elif too_large := self._refused.why_too_large(cell):
            outcome = _not_launched(cell, repeat, Status.OOM_DEVICE, too_large)
        elif self._failed:
            outcome = _not_launched(cell, repeat, Status.NOT_RUN, f"left out after {self._failed} failed")
        elif self._with.stop.is_set():
            outcome = _not_launched(cell, repeat, Status.NOT_RUN, STOPPED)
        elif isinstance(ready, Ready):
            turn = Turn(self._with.run.name, cell.id, self._with.clock)
            with self._with.turns.taken(turn, self._with.listener, self._with.stop, allocation.shared_gpus) as mine:
                if mine:
                    return self._attempts(cell, repeat, position, ready, allocation)
            outcome = _not_launched(cell, repeat, Status.NOT_RUN, STOPPED)
        else:
            outcome = self._without_environment(cell, repeat, ready)
        counts = Attempts(self._with.run, cell.id, repeat).not_launched(outcome)
        return counts, self._with.run.result(counts)

    def _unmet(self, cell: Cell, allocation: Allocation) -> str:
        """Return what the GPUs or the driver of this host lack for the build of a cell, or an empty text."""
        image = self._images.get(cell.image)
        if image is None or not self._with.has_published_builds:
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
        log = self._with.run.repeat_folder(cell.id, repeat) / LOG
        self._with.listener(RepeatStarted(cell.id, repeat, position, str(log)))
        attempts = Attempts(self._with.run, cell.id, repeat)
        retries, losses = self._policy.retries, LOSSES
        while True:
            with self._neighbours.present(f"{cell.id}/{repeat}") as beside:
                others = self._others(allocation)
                outcome, result = self._launcher.measure(cell, repeat, ready, allocation, attempts)
                outcome = replace(outcome, beside=", ".join((*beside(), *sorted(others | self._others(allocation)))))
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

    def _others(self, allocation: Allocation) -> frozenset[str]:
        """Return what other runs measure beside a share of this host; beside a cell that has all of it, none does."""
        return self._with.turns.others(self._with.run.name) if allocation.is_share else frozenset()


def _finished(cell: Cell, outcome: Outcome, result: Result | None) -> RepeatFinished:
    if result and result.largest_batch:
        return RepeatFinished(outcome, largest_batch=result.largest_batch.fits)
    reached = throughput(result, epochs=cell.duration.epochs is not None) if result else None
    return RepeatFinished(outcome, reached, counts=cell.workload.rules.sample)


def _not_launched(cell: Cell, repeat: int, status: Status, reason: str, log: str | None = None) -> Outcome:
    return Outcome(cell.id, repeat, status, reason, log=log, attempts=0)
