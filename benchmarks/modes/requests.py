"""Requests under load, each for one sample, which one server answers in batches.

`benchmarks.load` says how. A latency counts from the moment at which a request arrives, by the schedule if there is
one, until its outputs are in the host's memory.
"""

from benchmarks import load, timed
from benchmarks.errors import BadRequest, Unsupported
from benchmarks.inputs import feeds
from benchmarks.measure import percentile
from benchmarks.modes import infer

TRAINS = infer.TRAINS
TIMING = infer.TIMING
LOAD = {"scenario": load.SINGLE_STREAM, "requests": load.REQUESTS}
"""The load of the command line, if it names no other."""


def answer(request, enter):
    """Measure inference under load."""
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
    for name, values in (("latency", latency_s), ("waited", waited_s)):
        shown = tuple(1e3 * percentile(values, share) for share in (0.5, 0.9, 0.99))
        yield "%-11s p50 %.3f ms, p90 %.3f ms, p99 %.3f ms" % ((name,) + shown)
    limit_s = request.load.get("latency_limit_s")
    if limit_s is not None:
        good = sum(1 for each in latency_s if each <= limit_s) / len(latency_s)
        yield "goodput     %.1f requests/s, %.1f %% within %g s" % (good * answered[2], 100 * good, limit_s)
