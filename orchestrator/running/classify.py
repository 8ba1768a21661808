"""The status of a container or process that ended, decided from observations alone."""

import signal as signals
from dataclasses import dataclass

from orchestrator.domain import Status
from orchestrator.modes import RULES
from orchestrator.modes.parts.lengths import Generation
from orchestrator.modes.parts.load import Load
from orchestrator.processes import Cause, last_line
from orchestrator.results.container_answers import InvalidResultError
from orchestrator.results.contract import (
    LATENCY_LIMIT_S,
    LEAST_LATENCY_STEPS,
    Request,
    Result,
)
from orchestrator.results.parts.generation import StoredTokenTimes, broken_generation
from orchestrator.results.parts.largest_batch import LargestBatch, broken_search
from orchestrator.results.parts.requests import RequestMoments, broken_requests
from orchestrator.results.scripts import contract as scripts
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.runtimes import STOPPED, Ended, Task

EXIT_STATUS = {
    3: Status.UNSUPPORTED,
    4: Status.IMPORT_FAILED,
    5: Status.FAILED,
    6: Status.OOM_DEVICE,
    7: Status.FAILED,
    8: Status.NO_DEVICE,
}
"""Of the file contract; other exit codes are crashes."""


@dataclass(frozen=True, slots=True)
class Classification:
    """The status of a repeat, and the reason in one line unless it is `ok`."""

    status: Status
    reason: str = ""


def classify(
    ended: Ended, answer: Result | ScriptResult | InvalidResultError, request: Request, task: Task, log: str
) -> Classification:
    """Judge one launch by its result as read (`answer`) and the end of its log (`log`)."""
    if ended.cause is Cause.STOPPED:
        return Classification(Status.NOT_RUN, STOPPED)
    if ended.cause is Cause.TIMED_OUT:
        return Classification(Status.TIMEOUT, _with(f"not done within {task.timeout_s:g} s", last_line(log)))
    if ended.exit_code == 0:
        wrong = _wrong(request, answer)
        return Classification(Status.INVALID_RESULT, wrong) if wrong else Classification(Status.OK)
    return _failure(ended, task, last_line(log))


def _wrong(request: Request, answer: Result | ScriptResult | InvalidResultError) -> str | None:
    if isinstance(answer, InvalidResultError):
        return str(answer)
    return scripts.discrepancy(request, answer) if isinstance(answer, ScriptResult) else discrepancy(request, answer)


def _failure(ended: Ended, task: Task, said: str) -> Classification:
    if ended.oom_killed:
        limit = task.system.memory_bytes or task.allocation.memory_bytes
        bound = f" of {limit / 2**20:g} MiB" if limit else ""
        return Classification(Status.OOM_HOST, _with(f"killed for want of memory{bound}", said))
    if ended.exit_code in EXIT_STATUS:
        status = EXIT_STATUS[ended.exit_code]
        if status is Status.NO_DEVICE and not task.system.gpus:  # it was given none, and so cannot lack one
            status = Status.FAILED
        return Classification(status, said or f"exit status {ended.exit_code}, and nothing in the log")
    if ended.signal is not None:
        return Classification(Status.FAILED, _with(f"killed by {_signal_name(ended.signal)}", said))
    return Classification(Status.FAILED, said or f"exit status {ended.exit_code}, and nothing in the log")


def discrepancy(request: Request, result: Result) -> str | None:
    """Return the first mismatch of a valid result with its request, in one line, or None."""
    if (result.cell, result.repeat) != (request.cell, request.repeat):
        return f"result.json is of {result.cell} repeat {result.repeat}, not of what was asked"
    if (result.largest_batch is not None) is not request.largest_batch:
        return f"result.json has {'no' if request.largest_batch else 'a'} search for the largest batch"
    if result.largest_batch is not None:
        return _wrong_search(request, result, result.largest_batch)
    return _wrong_parts(request, result) or _wrong_figures(request, result)


def _wrong_parts(request: Request, result: Result) -> str | None:
    """Find a part that a mode of its own has, and that the request did not ask for, or the other way round."""
    if (result.requests is not None) is not (request.load is not None):
        return f"result.json has {'no ' if request.load else ''}requests; the mode is {request.mode}"
    if (result.generation is not None) is not (request.generation is not None):
        return f"result.json has {'no ' if request.generation else ''}times of tokens; the mode is {request.mode}"
    return None


def _wrong_figures(request: Request, result: Result) -> str | None:
    if request.load and result.requests:
        return _wrong_load(request.load, request.batch_size, result, result.requests) or _wrong_tokens(request, result)
    if request.generation and result.generation:
        return _wrong_generation(request.generation, request, result, result.generation)
    return _wrong_samples(request.batch_size, result) or _wrong_steps(request, result)


def _wrong_load(load: Load, batch_size: int, result: Result, moments: RequestMoments) -> str | None:
    samples, steps = sum(block.samples for block in result.blocks), sum(block.steps for block in result.blocks)
    if samples != len(moments.arrival_s) or not steps <= samples <= steps * batch_size:
        return f"result.json counts {samples} requests in {steps} batches of at most {batch_size}"
    return broken_requests(load, moments, result.latency_s, batch_size)


def _wrong_tokens(request: Request, result: Result) -> str | None:
    """Find what is wrong with the tokens of requests, the first of which counts from the arrival of each."""
    lengths, times = request.generation, result.generation
    if lengths is None or times is None:
        return None
    return broken_generation(times, result.latency_s, len(result.latency_s), lengths.output)


def _wrong_generation(lengths: Generation, request: Request, result: Result, times: StoredTokenTimes) -> str | None:
    generations = sum(block.steps for block in result.blocks)
    return (
        _wrong_samples(request.batch_size * lengths.output, result)
        or broken_generation(times, result.latency_s, generations, lengths.output)
        or _wrong_loss(request, result)
        or _wrong_blocks(request, result)
    )


def _wrong_search(request: Request, result: Result, search: LargestBatch) -> str | None:
    shared = max(1, request.gpus) if RULES[request.mode].has_loss else 1
    return broken_search(search, shared) or _wrong_samples(search.fits, result) or _wrong_loss(request, result)


def _wrong_samples(batch_size: int, result: Result) -> str | None:
    for block in (result.first_step, *result.warmup, *result.blocks):
        if block.samples != block.steps * batch_size:
            return f"result.json counts {block.samples} samples in {block.steps} steps of {batch_size}"
    return None


def _wrong_steps(request: Request, result: Result) -> str | None:
    if wrong := _wrong_latencies(request.latency_steps, result) or _wrong_loss(request, result):
        return wrong
    return _wrong_epochs(request, result) if request.epochs is not None else _wrong_blocks(request, result)


def _wrong_loss(request: Request, result: Result) -> str | None:
    if (result.loss is not None) is not RULES[request.mode].has_loss:
        return f"result.json has {'no' if result.loss is None else 'a'} loss; the mode is {request.mode}"
    return None


def _wrong_latencies(requested: int, result: Result) -> str | None:
    """Find fewer latencies than were asked for, unless more would have taken longer than the limit.

    The container sets their number by the last timed block. Images of an older orchestrator know no limit, or
    limit more than the default number too.
    """
    count, fitting = len(result.latency_s), requested
    if result.blocks:
        lasting_s = requested * result.blocks[-1].wall_s / result.blocks[-1].steps
        if lasting_s > LATENCY_LIMIT_S:
            fitting = max(min(requested, LEAST_LATENCY_STEPS), int(requested * LATENCY_LIMIT_S / lasting_s))
    if count in {requested, fitting}:
        return None
    fit = f", of which {fitting} fit {LATENCY_LIMIT_S:g} s" if fitting < requested else ""
    return f"result.json has {count} latencies; {requested} were asked for{fit}"


def _wrong_epochs(request: Request, result: Result) -> str | None:
    if len(result.blocks) != request.epochs:
        return f"result.json has {len(result.blocks)} epochs; {request.epochs} were asked for"
    evaluated = request.epochs if request.evaluate_every_epoch else 1
    if result.epochs and len(result.epochs) != evaluated:
        asked = "" if request.evaluate_every_epoch else "; one, after the last of them, was asked for"
        return f"result.json has {len(result.epochs)} evaluations of {request.epochs} epochs{asked}"
    return None


def _wrong_blocks(request: Request, result: Result) -> str | None:
    steps = sum(block.steps for block in result.blocks)
    if request.steps is not None and steps < request.steps:
        return f"result.json has {steps} timed steps; {request.steps} were asked for"
    if len(result.blocks) < request.min_blocks:
        return f"result.json has {len(result.blocks)} timed blocks; at least {request.min_blocks} were asked for"
    shortest_s = min(block.wall_s for block in result.blocks)
    if shortest_s < request.min_block_s:
        return f"result.json has a timed block of {shortest_s:g} s; at least {request.min_block_s:g} s were asked for"
    return None


def worth_a_retry(status: Status, exit_code: int | None) -> bool:
    """Return true after a crash or a failed launch, which could end differently if tried again."""
    return status is Status.LAUNCH_FAILED or (status is Status.FAILED and exit_code not in EXIT_STATUS)


def _with(what: str, said: str) -> str:
    return f"{what}; its last words: {said}" if said else what


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"
