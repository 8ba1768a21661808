"""Execution of parity checks, before the measurements of a run so that they disturb none."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.devices import Allocation, Inventory, NoDevice
from orchestrator.domain import Plan, Status, System, variables, without_variables
from orchestrator.errors import FolderError
from orchestrator.events import Notice
from orchestrator.images.context import digest, source_files
from orchestrator.planning.parity import Check, checks
from orchestrator.processes import Cause, StartError, tail
from orchestrator.resources import BENCHMARKS
from orchestrator.results.container_answers import InvalidResultError, read_answer
from orchestrator.results.contract import Request
from orchestrator.results.parity.answers import Answers, take_over
from orchestrator.results.parity.checks import Checks
from orchestrator.results.parity.contract import REVISION, ParityOutcome, ParityResult
from orchestrator.results.trees import reclaim
from orchestrator.running.attempts import set_aside
from orchestrator.running.classify import Classification, classify
from orchestrator.running.folders import LOG, note
from orchestrator.running.host_lock import Turn
from orchestrator.running.output import OutputWatches
from orchestrator.running.requests import with_files
from orchestrator.running.surroundings import Surroundings
from orchestrator.runtimes import Ended, Provided, Ready, Task
from orchestrator.user_files import ModelFile

_AGAIN = {Status.NOT_RUN, Status.LAUNCH_FAILED, Status.NO_DEVICE}
"""Outcomes that a resumed run always tries anew, as they say nothing of what was to be checked."""

Machine = tuple[str | None, tuple[str, ...], str | None]
"""The computing devices: the model of the CPU, those of the GPUs that a check is given, and their driver."""


def check_parity(
    plan: Plan,
    provided: Provided,
    allocations: Mapping[System, Allocation | NoDevice],
    surroundings: Surroundings,
    *,
    retry_failed: bool,
) -> None:
    """Carry out the checks of a plan that have no final outcome yet, as far as there are environments for them.

    Raises `HostError` where the run's files cannot be written.
    """
    store, source = Checks(surroundings.run), ""
    answers = Answers(surroundings.answers) if surroundings.answers else None
    answered: dict[str, str] = {}
    own = {model.name: model for model in plan.models}
    planned = checks(plan)
    for number, check in enumerate(planned, start=1):
        ready, allocation = provided.get(check.image), allocations[check.system]
        if not isinstance(ready, Ready) or not isinstance(allocation, Allocation):
            continue
        source = source or digest(source_files(BENCHMARKS, "benchmarks"))
        machine = _machine(surroundings.inventory, allocation)
        content = content_of(check, plan.seed, environment_of(ready, source), machine, own.get(check.model))
        outcome = store.outcome(check.id)
        if outcome is None or outcome.content != content or not _is_final(outcome, retry_failed=retry_failed):
            job = _Job(check, plan, ready, allocation, surroundings)
            try:
                outcome = _outcome_of(job, content, answered, answers, f"{number} of {len(planned)}")
            except FolderError as error:
                surroundings.listener(Notice(f"{check.id}: parity is not checked: {error}"))
                continue
            if outcome is None:
                return
        if outcome.status is Status.OK:
            answered.setdefault(content, outcome.folder)


def environment_of(ready: Ready, source: str) -> list[Any]:
    """Pick what an environment is known by.

    An image holds its own copy of `benchmarks/`, and so has it in its id; elsewhere `source`, their digest, stands for
    it.
    """
    return [ready.image_id] if ready.image_id else [ready.handle, ready.versions, ready.variables, source]


def content_of(
    check: Check, seed: int, environment: Sequence[Any], machine: Machine, own: ModelFile | None = None
) -> str:
    """Hash everything a check's answer depends on, with `REVISION`, as 16 hexadecimal digits.

    The user's `own` model is in no environment, nor is a framework's own definition of a model. Libraries choose their
    kernels by the machine, and a fault may be in one of them alone.
    """
    model = own.sha256 if own else check.model
    content = [check.builder, model, check.options, check.system.gpus, check.batch_size, seed]
    content += [check.definition] if check.definition else []
    return hashlib.sha256(json.dumps([REVISION, environment, content, machine]).encode()).hexdigest()[:16]


def _machine(here: Inventory, allocation: Allocation) -> Machine:
    return here.cpu_model, tuple(gpu.name for gpu in allocation.gpus), here.driver if allocation.gpus else None


def _is_final(outcome: ParityOutcome, *, retry_failed: bool) -> bool:
    return outcome.status is Status.OK or not (retry_failed or outcome.status in _AGAIN)


@dataclass(frozen=True, slots=True)
class _Job:
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
        pinned = runtime.pins_cpus or check.system.cpus is None
        request = Request(
            cell=check.id,
            repeat=0,
            framework=check.framework.name,
            builder=check.builder,
            model=check.model,
            mode="parity",
            batch_size=check.batch_size,
            options=without_variables(check.options),
            variables=variables(check.options),
            seed=self.plan.seed,
            threads=len(self.allocation.cpus),
            cpuset=None if pinned else self.allocation.cpus,
            gpus=check.system.gpus,
        )
        return with_files(request, self.plan, check.definition)

    def task(self, folder: Path) -> Task:
        """Return the task for the runtime."""
        labels = (
            ("bench.run", self.surroundings.run.name),
            ("bench.cell", f"parity/{self.check.id}"),
            ("bench.repeat", "0"),
        )
        own = tuple(variables(self.check.options).items())
        check = self.check
        return Task(self.ready, folder, folder / LOG, check.system, self.allocation, check.timeout_s, labels, own)


def _outcome_of(
    job: _Job, content: str, answered: Mapping[str, str], answers: Answers | None, position: str
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


def _answered_before(job: _Job, answers: Answers, content: str) -> ParityOutcome | None:
    """Take over the answer of an earlier run with its request, or return None if there is none."""
    earlier = answers.find(content)
    if earlier is None:
        return None
    set_aside(job.store.folder(job.check.id))
    job.store.prepare(*job.request())
    return take_over(job.store, job.check.id, earlier)


def _in_turn(job: _Job, content: str) -> ParityOutcome | None:
    """Carry out one check in this run's turn. Return None if the run is stopped."""
    around = job.surroundings
    turn = Turn(around.run.name, f"parity/{job.check.id}", around.clock)
    with around.turns.taken(turn, around.listener, around.stop) as mine:
        if not mine or around.stop.is_set():
            return None
        set_aside(job.store.folder(job.check.id))
        task = job.task(job.store.prepare(*job.request()))
        output = OutputWatches(task.folder, job.check.output, job.ready)
        started_at = around.clock().isoformat(timespec="milliseconds")
        try:
            ended = around.runtime.launch(task, stop=around.stop, watch=output)
            verdict = _judged(ended, job, task, output)
        except StartError as error:
            ended, verdict = None, Classification(Status.LAUNCH_FAILED, str(error))
            note(task.log, str(error))
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


def _judged(ended: Ended, job: _Job, task: Task, output: OutputWatches) -> Classification:
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
