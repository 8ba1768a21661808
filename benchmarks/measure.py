"""Timing a session: the first step, warm-up, timed blocks or epochs, and a latency pass.

A block is consecutive steps that are synchronised only at its ends, so asynchronous engines keep their pipelining.
Nothing but the steps happens inside a block: no sampling, no reading of values, no allocation by the harness.
"""

import itertools
import math
import time
from collections import namedtuple

from benchmarks.errors import Diverged

MARGIN = 1.25
"""How much longer than the least a block is meant to be, so that ordinary jitter leaves few that come out short."""

Clock = namedtuple("Clock", "wall cpu")
Clock.__doc__ = """Two functions that return seconds: wall time, and CPU time of the whole process."""

SYSTEM_CLOCK = Clock(time.perf_counter, time.process_time)

Measurement = namedtuple("Measurement", "first_step warmup blocks latency_s loss phases")
Measurement.__doc__ = (
    """Raw samples: blocks as dictionaries, latencies in seconds, losses or None, phases in seconds."""
)


def measure(session, request, steps_per_epoch, enter, clock=SYSTEM_CLOCK):
    """Measure a session as its request says.

    `enter(phase)` is called where a phase begins. Raises `Diverged` where a training loss is not finite.
    """
    timer = _Timer(session, request.batch_size, clock)
    training = request.mode == "train"
    enter("first_step")
    first_step = timer.block(1)
    first_loss = _loss(session, timer.handle, "after the first step") if training else None

    begin = clock.wall()
    enter("warmup")
    least_s = 0.0 if session.short_blocks else request.min_block_s
    warmup, steps = ([], steps_per_epoch) if request.epochs else _warm_up(timer, request, least_s)
    warm = clock.wall()
    enter("steady")
    if request.epochs:
        blocks = [timer.block(steps_per_epoch) for _ in range(request.epochs)]
    else:
        blocks, short = _steady(timer, request, least_s, steps)
        warmup += short
    steady = clock.wall()
    enter("latency")
    latency_s = timer.latencies(request.latency_steps)
    end = clock.wall()

    loss = {"first": first_loss, "last": _loss(session, timer.handle, "at the end")} if training else None
    phases = {
        "first_step_s": first_step["wall_s"], "warmup_s": warm - begin, "steady_s": steady - warm,
        "latency_s": end - steady,
    }  # fmt: skip
    return Measurement(first_step, warmup, blocks, latency_s, loss, phases)


def _warm_up(timer, request, least_s):
    """Run at least the warm-up steps and one block that is long enough; return the blocks, and steps per timed block.

    Timed blocks take their even share of the asked-for steps or more, so that enough blocks are enough steps.
    """
    blocks = [timer.block(request.warmup_steps)]
    while blocks[-1]["wall_s"] < least_s:
        blocks.append(timer.block(_grown(blocks[-1], least_s)))
    lasting = math.ceil(blocks[-1]["steps"] * least_s * MARGIN / blocks[-1]["wall_s"])
    return blocks, max(1, lasting, math.ceil(request.steps / request.min_blocks))


def _steady(timer, request, least_s, steps):
    """Time blocks until enough of them are long enough; return those, and the ones that came out short."""
    blocks, short = [], []
    while len(blocks) < request.min_blocks:
        block = timer.block(steps)
        if block["wall_s"] < least_s:
            short.append(block)
            steps = _grown(block, least_s)
        else:
            blocks.append(block)
    return blocks, short


def _grown(block, least_s):
    """Steps for the block after a short one: what should last, but at most ten times as many at once."""
    lasting = math.ceil(block["steps"] * least_s * MARGIN / block["wall_s"])
    return min(max(lasting, block["steps"] + 1), 10 * block["steps"])


class _Timer:
    """Runs steps round the ring of batches; `handle` is what the last step returned."""

    def __init__(self, session, batch_size, clock):
        self._step = session.step
        self._synchronise = session.synchronise
        self._ring = itertools.cycle(session.batches)
        self._batch_size = batch_size
        self._clock = clock
        self.handle = None

    def block(self, steps):
        """Time this many steps, synchronised at their end; what ran before them was synchronised at its own."""
        step, synchronise, (wall, cpu) = self._step, self._synchronise, self._clock
        batches = itertools.islice(self._ring, steps)
        handle = None
        cpu_begin = cpu()
        begin = wall()
        for batch in batches:
            handle = step(batch)
        synchronise(handle)
        end = wall()
        cpu_end = cpu()
        self.handle = handle
        samples = steps * self._batch_size
        return {"steps": steps, "samples": samples, "wall_s": end - begin, "cpu_s": cpu_end - cpu_begin}

    def latencies(self, steps):
        """Time this many steps one by one, synchronised at each."""
        step, synchronise, wall = self._step, self._synchronise, self._clock.wall
        taken = [0.0] * steps
        for number, batch in enumerate(itertools.islice(self._ring, steps)):
            begin = wall()
            self.handle = step(batch)
            synchronise(self.handle)
            taken[number] = wall() - begin
        return taken


def _loss(session, handle, when):
    loss = session.loss(handle)
    if not math.isfinite(loss):
        raise Diverged("the loss is %s %s: what diverged is no measurement" % (loss, when))
    return loss
