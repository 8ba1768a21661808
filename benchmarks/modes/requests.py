"""Requests under load, each for one sample or for the tokens after one prompt, which one server answers in batches.

`benchmarks.timing.load` says how. A latency counts from the moment at which a request arrives, by the schedule if there
is one, until its outputs, or its last token, are in the host's memory.
"""

from benchmarks import contract
from benchmarks.errors import BadRequest, Unsupported
from benchmarks.inputs import feeds
from benchmarks.modes import infer
from benchmarks.timing import generation, load, tails, timed

TRAINS = infer.TRAINS
TIMING = infer.TIMING
LOAD = {"scenario": load.SINGLE_STREAM, "requests": load.REQUESTS}
"""The load of the command line, if it names no other."""
LENGTHS = {"prompt": generation.PROMPT, "output": generation.OUTPUT}
"""The lengths of the command line, if it names one of them. Without any, a request is for one sample."""


def answer(request, enter):
    """Measure inference or generation under load."""
    if request.load is None:
        raise BadRequest("bad request: the mode 'requests' needs a 'load'")
    if request.feed != feeds.PLACED:
        raise Unsupported("the mode requests takes placed batches alone, and not the feed '%s'" % request.feed)
    result = timed.execute(request, enter, load.measuring())
    count = len(result["latency_s"])
    return result, "measured %s: %d requests in %d batches" % (request.cell, count, result["blocks"][0]["steps"])


def lines(request, result):
    """Yield the result for people."""
    block, latency_s = result["blocks"][0], result["latency_s"]
    waited_s = result["requests"]["waited_s"]
    yield "load        " + ", ".join("%s %s" % (name, value) for name, value in sorted(request.load.items()))
    answered = (len(latency_s), block["steps"], block["samples"] / block["wall_s"])
    yield "answered    %d requests in %d batches, %.1f requests/s" % answered
    times = dict(zip(contract.LIMITS, (latency_s,) + _of_tokens(request, result)))
    shown = (latency_s, waited_s) + tuple(times[name] for name in contract.LIMITS[1:])
    # Offline the last request waits for all others whatever the server does, so its times say nothing of that.
    has_tails = request.load["scenario"] != load.OFFLINE
    for name, values in zip(("latency", "waited", "first token", "per token"), shown):
        if values and has_tails:
            yield "%-11s %s" % (name, tails.line(values))
    limits = [(times[name], request.load[name]) for name in contract.LIMITS if request.load.get(name) is not None]
    within = [[each <= limit_s for each in values] for values, limit_s in limits if values]
    if within:
        good = sum(1 for each in zip(*within) if all(each)) / len(latency_s)
        asked = ", ".join("%g s" % limit_s for _, limit_s in limits)
        yield "goodput     %.1f requests/s, %.1f %% within %s" % (good * answered[2], 100 * good, asked)


def _of_tokens(request, result):
    """Return the times to the first tokens, and the mean of each request's further ones, or nothing of each."""
    if request.generation is None:
        return (), ()
    times, after = result["generation"], request.generation["output"] - 1
    between_s = times["between_tokens_s"]
    each = [between_s[at : at + after] for at in range(0, len(between_s), after or 1)]
    return times["first_token_s"], [sum(gaps) / after for gaps in each]
