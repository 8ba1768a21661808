"""The timing of a session, by a first step, a warm-up, timed blocks or epochs, and a latency pass.

A block is consecutive steps that are synchronised only at its ends, so asynchronous engines keep their pipelining.
Nothing but the steps happens inside a block: no sampling, no reading of values, no allocation by the harness. The
conditions of the host are read before a block's first clock and after its last.
"""

import itertools
import math
import time
from collections import namedtuple

from benchmarks import modes
from benchmarks.inputs import feeds
from benchmarks.sampling.conditions import Unsampled

MARGIN = 1.25
"""Factor over the least length that a block is meant to last, so that ordinary jitter makes few blocks too short."""
LEAST_LATENCY_STEPS, DEFAULT_LATENCY_STEPS = 50, 150
"""Steps of the latency pass that run however long they take, unless the request has fewer."""
LATENCY_LIMIT_S = 30.0
"""Longest latency pass that has more steps than that, by the pace of the timed blocks."""

Clock = namedtuple("Clock", "wall cpu")
Clock.__doc__ = """Two functions that return seconds: wall time, and CPU time of the whole process."""

SYSTEM_CLOCK = Clock(time.perf_counter, time.process_time)

Measurement = namedtuple(
    "Measurement", "first_step warmup blocks latency_s latency_conditions loss logits phases epochs requests generation"
)
Measurement.__new__.__defaults__ = (None, None)
Measurement.__doc__ = """Raw samples of a session.

    Blocks are dictionaries, latencies and phases are in seconds, and each epoch has an evaluation. The conditions of
    the latency pass are None if they are not sampled. Losses are None in inference, and the logits of the last step
    are None in training. Requests are the moments of each under load (`benchmarks.timing.load`), and else None.
    Generation has the times of all tokens (`benchmarks.timing.generation`), and is else None."""


def measure(  # noqa: PLR0913 -- what is measured, for how long, by what clock, and three listeners
    session, request, steps_per_epoch, enter, clock=SYSTEM_CLOCK, *, evaluate=None, sampler=None
):
    """Measure a session as its request says.

    `enter(phase)` is called when a phase begins, and `evaluate()` after each epoch of training. `sampler` reads the
    conditions around every block. By default nothing is read. Raises `Diverged` if a training loss is not finite.
    """
    timer = Timer(session, request.batch_size, clock, sampler or Unsampled())
    timing = modes.named(request.mode).TIMING(session)
    enter("first_step")
    first_step = timer.block(1)
    first_loss = timing.loss(timer.handle, "after the first step")

    begin = clock.wall()
    enter("warmup")
    least_s = 0.0 if session.short_blocks else request.min_block_s
    warmup, steps = ([], steps_per_epoch) if request.epochs else warm_up(timer, request, least_s)
    warm = clock.wall()
    enter("steady")
    epochs = []
    if request.epochs:
        evaluated = range(request.epochs) if request.evaluate_every_epoch else (request.epochs - 1,)
        evaluate = evaluate if timing.evaluates else None
        blocks, epochs = _epochs(timer, request.epochs, steps_per_epoch, evaluate, evaluated)
    else:
        blocks, before = steady_blocks(timer, request, least_s, steps)
        warmup += before
    steady = clock.wall()
    evaluation_s = sum(epoch["evaluation_s"] for epoch in epochs)
    enter("latency")
    latency_s, latency_conditions = timer.latencies(latency_steps(request.latency_steps, blocks[-1]), timing.finish)
    end = clock.wall()
    timer.close()
    logits = timing.outputs(timer.handle)
    last_loss = timing.loss(timer.handle, "at the end")

    loss = None if first_loss is None else {"first": first_loss, "last": last_loss}
    phases = {
        "first_step_s": first_step["wall_s"], "warmup_s": warm - begin,
        "steady_s": steady - warm - evaluation_s, "latency_s": end - steady,
    }  # fmt: skip
    if epochs:
        phases["evaluation_s"] = evaluation_s
    return Measurement(first_step, warmup, blocks, latency_s, latency_conditions, loss, logits, phases, epochs)


def _epochs(timer, count, steps, evaluate, evaluated):
    """Time each epoch as a block.

    Return the blocks, and the scores of an evaluation after each of the `evaluated` ones with the seconds it took.
    """
    # The first step took the first batch, and epochs are whole passes over the data.
    timer.rewind()
    blocks, evaluations = [], []
    for epoch in range(count):
        blocks.append(timer.block(steps))
        evaluation_s, scores = timer.aside(evaluate) if evaluate and epoch in evaluated else (0.0, None)
        if scores:
            evaluations.append(dict(scores, evaluation_s=evaluation_s))
    return blocks, evaluations


def warm_up(timer, request, least_s):
    """Run at least the warm-up steps and one block that is long enough.

    Return the blocks, and the number of steps per timed block. Timed blocks take their even share of the requested
    steps or more, so that enough blocks are enough steps.
    """
    blocks = [timer.block(request.warmup_steps)]
    while blocks[-1]["wall_s"] < least_s:
        blocks.append(timer.block(_grown(blocks[-1], least_s)))
    lasting = math.ceil(blocks[-1]["steps"] * least_s * MARGIN / blocks[-1]["wall_s"])
    return blocks, max(1, lasting, math.ceil(request.steps / request.min_blocks))


def steady_blocks(timer, request, least_s, steps):
    """Time blocks until enough in a row are long enough.

    Return these blocks, and all blocks before them. To drop short blocks alone would drop the fast ones. So a block
    that is too short starts the count anew with longer blocks. This ends, because blocks only grow.
    """
    blocks, before = [], []
    while len(blocks) < request.min_blocks:
        blocks.append(timer.block(steps))
        if blocks[-1]["wall_s"] < least_s:
            steps = _grown(blocks[-1], least_s)
            before += blocks
            blocks = []
    return blocks, before


def latency_steps(requested, block):
    """Return the number of steps of the latency pass.

    It is the requested number, or less if that would take longer than the limit. Who asks for more than by default gets
    them all, as a percentile near the end needs them. The number is set before the pass, by the pace of the last timed
    block. A pass that a clock ends would hold slow steps less often than they occur.
    """
    lasting_s = requested * block["wall_s"] / block["steps"]
    if requested > DEFAULT_LATENCY_STEPS or lasting_s <= LATENCY_LIMIT_S:
        return requested
    return max(min(requested, LEAST_LATENCY_STEPS), int(requested * LATENCY_LIMIT_S / lasting_s))


def _grown(block, least_s):
    """Return the number of steps that should last long enough, but at most ten times those of the short block."""
    lasting = math.ceil(block["steps"] * least_s * MARGIN / block["wall_s"])
    return min(max(lasting, block["steps"] + 1), 10 * block["steps"])


class Timer:
    """A runner of steps round the ring of batches. `handle` is what the last step returned."""

    def __init__(self, session, batch_size, clock, sampler):
        self._step = session.step
        self._synchronise = session.synchronise
        self._batches = session.batches
        self._ring = feeds.endless(session.batches, clock.wall)
        self._batch_size = batch_size
        self._clock = clock
        self._sampler = sampler
        self.handle = None

    def block(self, steps):
        """Time this many steps and their synchronisation. All steps before them are synchronised already."""
        step, synchronise, (wall, cpu) = self._step, self._synchronise, self._clock
        batches = itertools.islice(self._ring, steps)
        handle = None
        self._sampler.begin()
        cpu_begin = cpu()
        begin = wall()
        for batch in batches:
            handle = step(batch)
        synchronise(handle)
        end = wall()
        cpu_end = cpu()
        conditions = self._sampler.end()
        self.handle = handle
        samples = steps * self._batch_size
        block = {"steps": steps, "samples": samples, "wall_s": end - begin, "cpu_s": cpu_end - cpu_begin}
        waits = self._waits()
        if waits:
            block["waited_s"] = sum(waits)
        return dict(block, conditions=conditions) if conditions else block

    def answering(self, finish):
        """Return a function that runs one step and waits for it with `finish(handle)`."""

        def answer():
            self.handle = self._step(next(self._ring))
            finish(self.handle)

        return answer

    def rewind(self):
        """Begin the ring of batches again."""
        self.close()
        self._ring = feeds.endless(self._batches, self._clock.wall)

    def close(self):
        """End what a feed has started."""
        if isinstance(self._ring, feeds.Waiting):
            self._ring.close()

    def _waits(self):
        """Return how long each batch was waited for since the last call, or nothing if all of them are placed."""
        return self._ring.taken() if isinstance(self._ring, feeds.Waiting) else []

    def aside(self, action):
        """Run an action between two blocks. Returns the seconds it took, and what it returned."""
        begin = self._clock.wall()
        returned = action()
        return self._clock.wall() - begin, returned

    def latencies(self, steps, finish):
        """Time this many steps one by one, each with `finish(handle)`, which waits for it or fetches its result.

        Returns their seconds, and the conditions of the whole pass. The wait for a batch that a feed makes is a part of
        its step.
        """
        step, wall = self._step, self._clock.wall
        seconds = [0.0] * steps
        self._sampler.begin()
        for number, batch in enumerate(itertools.islice(self._ring, steps)):
            begin = wall()
            self.handle = step(batch)
            finish(self.handle)
            seconds[number] = wall() - begin
        conditions = self._sampler.end()
        for number, waited_s in enumerate(self._waits()):
            seconds[number] += waited_s
        return seconds, conditions


def percentile(values, share):
    """Return the smallest value that at least this share of the values does not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * int(share * 100) // 100) - 1)]
