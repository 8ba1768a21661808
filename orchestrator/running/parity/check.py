"""One parity check, from its request to its outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.devices import Allocation
from orchestrator.devices.watch.gpu_watch import GpuWatch
from orchestrator.devices.watch.marks import GpuMark
from orchestrator.domain import Plan, Status, variables, without_variables
from orchestrator.events import Notice
from orchestrator.planning.parity import Check
from orchestrator.processes import Cause, StartError, tail
from orchestrator.results.container_answers import InvalidResultError, read_answer
from orchestrator.results.contract import Request
from orchestrator.results.files import frozen as frozen_files
from orchestrator.results.files.trees import reclaim
from orchestrator.results.parity.answers import Answers, take_over
from orchestrator.results.parity.checks import Checks
from orchestrator.results.parity.contract import ParityOutcome, ParityResult
from orchestrator.running.attempts import set_aside
from orchestrator.running.classify import Classification, classify
from orchestrator.running.folders import LOG, note
from orchestrator.running.host_lock.lock import Turn
from orchestrator.running.output import OutputWatches
from orchestrator.running.requests import cpuset_for, with_files, with_network
from orchestrator.running.surroundings import Surroundings
from orchestrator.runtimes import NETWORK, Ended, Ready, Task
from orchestrator.user_files import Network


@dataclass(frozen=True, slots=True)
class CheckJob:
    """One check with what it is carried out in."""

    check: Check
    plan: Plan
    ready: Ready
    allocation: Allocation
    surroundings: Surroundings

    @property
    def store(self) -> Checks:
        """Return the folder of the run's checks."""
        return Checks(self.surroundings.run)

    def request(self) -> tuple[Request, dict[str, str]]:
        """Spell out what the container is asked, and the files beside that."""
        check, runtime = self.check, self.surroundings.runtime
        request = Request(
            cell=check.id,
            repeat=0,
            framework=check.framework.name,
            builder=check.builder,
            model=check.model,
            mode="parity",
            trains=check.trains,
            axes=dict(check.axes),
            batch_size=check.batch_size,
            generation=check.generation,
            options=without_variables(check.options),
            variables=variables(check.options),
            seed=self.plan.seed,
            threads=len(self.allocation.cpus),
            cpuset=cpuset_for(check.system, self.allocation, pinned=runtime.pins_cpus),
            gpus=check.system.gpus,
        )
        if network := self._network:
            request = with_network(request, network, runtime.seen(self._frozen(network), NETWORK))
        return with_files(request, self.plan, check.definition)

    @property
    def _network(self) -> Network | None:
        return self.plan.network(self.check.model)

    def _frozen(self, network: Network) -> Path:
        return frozen_files.folder_of(self.surroundings.run.folder.absolute(), network)

    def task(self, folder: Path) -> Task:
        """Return the task for the runtime."""
        labels = (
            ("bench.run", self.surroundings.run.name),
            ("bench.cell", f"parity/{self.check.id}"),
            ("bench.repeat", "0"),
        )
        own = tuple(variables(self.check.options).items())
        check = self.check
        shown = ((self._frozen(self._network), NETWORK),) if self._network else ()
        return Task(
            self.ready, folder, folder / LOG, check.system, self.allocation, check.timeout_s, labels, own, shown=shown
        )


def outcome_of(
    job: CheckJob, content: str, answered: Mapping[str, str], answers: Answers | None, position: str
) -> ParityOutcome | None:
    """Record the stored answer to the same content, or a new one. Return None if the run is stopped.

    Raises `HostError` where the files of the check cannot be written.
    """
    check = job.check
    if content in answered:
        same = ParityOutcome(check=check.id, content=content, status=Status.OK, folder=answered[content])
        job.store.write_outcome(same)
        return same
    outcome = _answered_before(job, answers, content) if answers else None
    if outcome is None:
        job.surroundings.listener(Notice(f"parity check {position}: {check.id}"))
        outcome = _in_turn(job, content)
    if outcome is not None:
        job.store.write_outcome(outcome)
        if answers and outcome.status is Status.OK and not outcome.reused and outcome.folder == check.id:
            answers.keep(job.store, outcome)
    return outcome


def _answered_before(job: CheckJob, answers: Answers, content: str) -> ParityOutcome | None:
    """Take over the answer of an earlier run with its request, or return None if there is none."""
    earlier = answers.find(content)
    if earlier is None:
        return None
    set_aside(job.store.folder(job.check.id))
    job.store.prepare(*job.request())
    return take_over(job.store, job.check.id, earlier)


def _in_turn(job: CheckJob, content: str) -> ParityOutcome | None:
    """Carry out one check in this run's turn, on GPUs that are free. Return None if the run is stopped."""
    around = job.surroundings
    turn = Turn(around.run.name, f"parity/{job.check.id}", around.clock)
    with around.turns.taken(turn, around.listener, around.stop, job.allocation.shared_gpus) as mine:
        if not mine or around.stop.is_set():
            return None
        if left_out := around.pool.why_left_out(job.allocation.gpus):
            return _without_gpus(job, content, left_out)
        gate = around.wait_for_gpus(job.allocation)
        if around.stop.is_set():
            return None
        if gate and gate.held:
            return _without_gpus(job, content, gate.reason)
        set_aside(job.store.folder(job.check.id))
        watch = around.gpu_watch(job.allocation)
        task = replace(job.task(job.store.prepare(*job.request())), started=watch.own.in_container)
        started_at = around.clock().isoformat(timespec="milliseconds")
        ended, verdict = _launched(job, task, watch)
    if verdict.status is Status.NOT_RUN:
        return None
    if verdict.status is not Status.OK:
        around.listener(Notice(f"{job.check.id}: parity is not checked: {verdict.status.value}: {verdict.reason}"))
    return ParityOutcome(
        check=job.check.id,
        content=content,
        status=verdict.status,
        reason=verdict.reason,
        folder=job.check.id,
        log=task.log.relative_to(around.run.folder).as_posix(),
        started_at=started_at,
        wall_s=ended.wall_s if ended else 0.0,
        exit_code=ended.exit_code if ended else None,
        image_id=(ended.image_id if ended else None) or job.ready.image_id,
    )


def _without_gpus(job: CheckJob, content: str, reason: str) -> ParityOutcome:
    """Return the outcome of a check that was not launched, as its GPUs were not to be had."""
    job.surroundings.listener(Notice(f"{job.check.id}: parity is not checked: {Status.NO_DEVICE.value}: {reason}"))
    return ParityOutcome(
        check=job.check.id, content=content, status=Status.NO_DEVICE, reason=reason, folder=job.check.id
    )


def _launched(job: CheckJob, task: Task, watch: GpuWatch) -> tuple[Ended | None, Classification]:
    """Launch a check while its GPUs are watched. Return its end, None if it did not begin, and what came of it."""
    around = job.surroundings
    output = OutputWatches(task.folder, job.check.output, job.ready)
    ended = None
    try:
        with watch:
            ended = around.runtime.launch(task, stop=around.stop, watch=output)
        verdict = _judged(ended, job, task, output)
    except StartError as error:
        verdict = Classification(Status.LAUNCH_FAILED, str(error))
        note(task.log, str(error))
    marks = watch.marks()
    around.pool.note(marks)
    return ended, _marked(verdict, marks)


def _marked(verdict: Classification, marks: Sequence[GpuMark]) -> Classification:
    """Return what came of a check, with what befell its GPUs. The answer of one that failed meanwhile does not count.

    Heat and other processes change no answer.
    """
    if verdict.status is Status.NOT_RUN:
        return verdict
    if verdict.status is not Status.OK:
        return replace(verdict, reason="; ".join(filter(None, (verdict.reason, *map(str, marks)))))
    faults = "; ".join(str(mark) for mark in marks if mark.is_fault)
    return Classification(Status.NO_DEVICE, faults) if faults else verdict


def _judged(ended: Ended, job: CheckJob, task: Task, output: OutputWatches) -> Classification:
    exceeded = output.look() if ended.cause is not Cause.STOPPED else None
    reclaim(task.folder)
    if exceeded:
        return Classification(Status.OUTPUT_LIMIT, exceeded)
    if ended.cause is not Cause.EXITED or ended.exit_code != 0:
        return classify(ended, InvalidResultError("no answer was looked for"), job.request()[0], task, tail(task.log))
    try:
        answer = read_answer(task.folder / "result.json", ParityResult)
    except InvalidResultError as error:
        return Classification(Status.INVALID_RESULT, str(error))
    if answer.cell != job.check.id:
        return Classification(Status.INVALID_RESULT, f"result.json is of {answer.cell}, not of what was asked")
    return Classification(Status.OK)
