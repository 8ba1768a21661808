"""Load on a session, by requests that one server answers in the order of their arrival.

A request asks for one sample, or with lengths of a generation for the tokens after one prompt. The server takes what
waits, at most a batch, runs one step or one whole generation, fetches its outputs, and takes what waits by then. A
session has a fixed shape, so that a batch with fewer requests takes as long as a full one.

A schedule of arrivals is drawn before the clock starts, and nothing that the server does moves it. So no other thread
offers the requests, none competes with the framework, and a server that stalls finds all that has arrived meanwhile.
"""

import random
import time
from collections import namedtuple

from benchmarks import modes
from benchmarks.sampling.conditions import Unsampled
from benchmarks.timing import generation, measure

SINGLE_STREAM, OFFLINE, SERVER, CLOSED = "single_stream", "offline", "server", "closed"
SCENARIOS = (SINGLE_STREAM, OFFLINE, SERVER, CLOSED)
REQUESTS = 662
"""Requests by default, of which MLPerf's early stopping bounds the 99th percentile with one to discard."""
SPIN_S = 0.0005
"""The end of a wait, in which the clock is read and not slept: sleeping goes on for longer than it is told."""

LoadClock = namedtuple("LoadClock", "wall cpu sleep spin_s")
LoadClock.__doc__ = (
    """Wall time and CPU time as of `measure.Clock`, what sleeps for some seconds, and how long it spins."""
)
SYSTEM_CLOCK = LoadClock(measure.SYSTEM_CLOCK.wall, measure.SYSTEM_CLOCK.cpu, time.sleep, SPIN_S)

Answered = namedtuple("Answered", "arrival_s begin_s end_s token_s batches first_s last_s")
Answered.__doc__ = """Requests in the order of their arrival, with the moments of each, from when the clock starts.

    `token_s` has the moments of the tokens of each, and none where a request asks for no tokens. `batches` is how often
    the server ran a step for them, and the time from `first_s` to `last_s` is what it took."""


class Arrivals:
    """Arrivals of a schedule, which are known before the first of them."""

    ramp = 0
    """Requests at the beginning that do not count."""

    def __init__(self, arrival_s):
        self.arrival_s = list(arrival_s)

    def answered(self, end_s, count):
        """Let the arrivals be as they are."""


class Clients:
    """A number of clients, each of which sends its next request as soon as it has the answer to the one before."""

    def __init__(self, clients):
        self.arrival_s = [0.0] * clients
        # All of them begin at once, and a queue that is not yet in step is no part of what is measured.
        self.ramp = clients

    def answered(self, end_s, count):
        """Let the clients of these answers send their next requests."""
        self.arrival_s.extend([end_s] * count)


def arrivals(load, seed):
    """Return where the requests of a load come from. Those of a rate are a Poisson process, drawn from the seed."""
    if load["scenario"] == OFFLINE:
        return Arrivals([0.0] * load["requests"])
    if load["scenario"] == SERVER:
        draw, moment, moments = random.Random(seed), 0.0, []
        for _ in range(load["requests"]):
            moment += draw.expovariate(load["rate"])
            moments.append(moment)
        return Arrivals(moments)
    return Clients(1 if load["scenario"] == SINGLE_STREAM else load["concurrency"])


def serve(source, step, requests, most, clock):
    """Answer at least so many requests of a source, at most `most` in a batch, and return them as `Answered`.

    `step()` answers one batch, and returns the moments of its tokens if it generates some.
    """
    arrival_s, begin_s, end_s, token_s, batches = source.arrival_s, [], [], [], []
    origin = clock.wall()
    while len(end_s) < source.ramp + requests:
        first = len(end_s)
        _wait(origin + arrival_s[first], clock)
        begin = max(arrival_s[first], clock.wall() - origin)  # a difference of clocks is rounded
        last = first + 1
        while last < min(first + most, len(arrival_s)) and arrival_s[last] <= begin:
            last += 1
        moments = [each - origin for each in step() or ()]
        end = moments[-1] if moments else clock.wall() - origin
        begin_s.extend([begin] * (last - first))
        end_s.extend([end] * (last - first))
        token_s.extend([moments] * (last - first))
        batches.append(first)
        source.answered(end, last - first)
    counted = slice(source.ramp, len(end_s))
    started = 0.0 if not source.ramp else end_s[source.ramp - 1]
    timed = sum(1 for first in batches if first >= source.ramp)
    moments = (arrival_s[counted], begin_s[counted], end_s[counted], token_s[counted])
    return Answered(*moments, batches=timed, first_s=started, last_s=end_s[-1])


def _wait(moment, clock):
    left = moment - clock.wall()
    while left > 0:
        if left > clock.spin_s:
            clock.sleep(left - clock.spin_s)
        left = moment - clock.wall()


def measuring(clock=SYSTEM_CLOCK):
    """Return what measures a session under the load of its request, in place of `measure.measure`."""

    def under_load(session, request, _steps_per_epoch, enter, *, evaluate=None, sampler=None):
        del evaluate
        return _measure(session, request, enter, clock, sampler or Unsampled())

    return under_load


def _server(session, request, clock, sampler):
    """Return what times steps or generations, what answers one batch by them, and what yields the logits of one."""
    lengths = generation.lengths(request.generation)
    plain = measure.Clock(clock.wall, clock.cpu)
    if lengths:
        timer = generation.GenerationTimer(session, lengths, request.batch_size, plain, sampler)
        return timer, timer.answer, session.logits
    timer, timing = (
        measure.Timer(session, request.batch_size, plain, sampler),
        modes.named(request.mode).TIMING(session),
    )
    return timer, timer.answering(timing.finish), timing.outputs


def _measure(session, request, enter, clock, sampler):
    timer, step, logits = _server(session, request, clock, sampler)
    enter("first_step")
    first_step = timer.block(1)
    begin = clock.wall()
    enter("warmup")
    warmup, _ = measure.warm_up(timer, request, 0.0 if session.short_blocks else request.min_block_s)
    warm = clock.wall()
    source = arrivals(request.load, request.seed)
    enter("steady")
    sampler.begin()
    cpu_begin = clock.cpu()
    answered = serve(source, step, request.load["requests"], request.batch_size, clock)
    cpu_end = clock.cpu()
    conditions = sampler.end()
    steady = clock.wall()
    block = {
        "steps": answered.batches, "samples": len(answered.end_s),
        "wall_s": answered.last_s - answered.first_s, "cpu_s": cpu_end - cpu_begin,
    }  # fmt: skip
    phases = {
        "first_step_s": first_step["wall_s"], "warmup_s": warm - begin, "steady_s": steady - warm, "latency_s": 0.0,
    }  # fmt: skip
    return measure.Measurement(
        first_step,
        warmup,
        [dict(block, conditions=conditions) if conditions else block],
        [end - arrival for arrival, end in zip(answered.arrival_s, answered.end_s)],
        None,
        None,
        logits(timer.handle),
        phases,
        [],
        requests={
            "arrival_s": answered.arrival_s,
            "waited_s": [begin - arrival for arrival, begin in zip(answered.arrival_s, answered.begin_s)],
        },
        generation=_tokens(answered) if request.generation else None,
    )


def _tokens(answered):
    """Return the times of all tokens, those of the first ones from the arrival of each request."""
    times = generation.token_times(answered.arrival_s, answered.token_s)
    return {"first_token_s": times.first_s, "between_tokens_s": times.between_s}
