"""Generation of tokens after prompts by a model with causal attention, which keeps the keys and values of its steps.

`benchmarks.timing.generation` says how it is timed, and `benchmarks.vocabulary.generating` which models can generate.
"""

from benchmarks.errors import BadRequest, Unsupported
from benchmarks.inputs import feeds
from benchmarks.timing import generation, tails, timed
from benchmarks.timing.measure import percentile

TRAINS = False
GENERATION = {"prompt": generation.PROMPT, "output": generation.OUTPUT}
"""The lengths of the command line, if it names no others."""


def answer(request, enter):
    """Measure generation."""
    if request.generation is None:
        raise BadRequest("bad request: the mode 'generate' needs a 'generation'")
    if request.feed != feeds.PLACED:
        raise Unsupported("the mode generate takes placed prompts alone, and not the feed '%s'" % request.feed)
    result = timed.execute(request, enter, generation.measuring())
    generations = sum(block["steps"] for block in result["blocks"])
    return result, "measured %s: %d blocks, %d generations" % (request.cell, len(result["blocks"]), generations)


def lines(request, result):
    """Yield the result for people."""
    rates = sorted(block["samples"] / block["wall_s"] for block in result["blocks"])
    lengths, times = generation.lengths(request.generation), result["generation"]
    yield "generation  %d tokens after %d, batches of %d" % (lengths.output, lengths.prompt, request.batch_size)
    spread = (percentile(rates, 0.5), len(rates), rates[0], rates[-1])
    yield "throughput  %.1f tokens/s (median of %d blocks; %.1f to %.1f)" % spread
    yield "first token " + tails.line(times["first_token_s"])
    if times["between_tokens_s"]:
        yield "next token  " + tails.line(times["between_tokens_s"], lengths.output - 1)
