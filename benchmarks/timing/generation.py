"""Generation of tokens, timed token by token.

A generation takes a batch of prompts and yields so many tokens of each, the most likely one every time. The clock is
read when each token is in the host's memory, as a server streams every token to who asked for it. So a block is whole
generations, and the time to each of its tokens is known.
"""

import itertools
from collections import namedtuple

from benchmarks.sampling.conditions import Unsampled
from benchmarks.timing import measure

PROMPT, OUTPUT = 32, 32
"""Tokens of a prompt, and tokens that are generated after it, by default."""

Lengths = namedtuple("Lengths", "prompt output")
Lengths.__doc__ = """Tokens of a prompt, and tokens that are generated after it, of which a prompt itself yields one."""

TokenTimes = namedtuple("TokenTimes", "first_s between_s")
TokenTimes.__doc__ = """Seconds to the first token of each generation, and from each token to the next one, in order."""

Step = namedtuple("Step", "tokens logits")
Step.__doc__ = """The tokens that a step of a generator has chosen, one of each prompt, and the logits they are of."""


def lengths(asked):
    """Return the lengths of a request's `generation`, or None."""
    return None if asked is None else Lengths(asked["prompt"], asked["output"])


def measuring(clock=measure.SYSTEM_CLOCK):
    """Return what measures a generator, in place of `measure.measure`."""

    def generating(generator, request, _steps_per_epoch, enter, *, evaluate=None, sampler=None):
        del evaluate
        return _measure(generator, request, enter, clock, sampler or Unsampled())

    return generating


def _measure(generator, request, enter, clock, sampler):
    asked = lengths(request.generation)
    timer = GenerationTimer(generator, asked, request.batch_size * asked.output, clock, sampler)
    least_s = 0.0 if generator.short_blocks else request.min_block_s
    enter("first_step")
    first = timer.block(1)
    begin = clock.wall()
    enter("warmup")
    warmup, generations = measure.warm_up(timer, request, least_s)
    warm = clock.wall()
    enter("steady")
    blocks, before = measure.steady_blocks(timer, request, least_s, generations)
    steady = clock.wall()
    enter("latency")  # which is empty, as every token has its time already
    times = timer.times[-len(blocks) :]
    phases = {"first_step_s": first["wall_s"], "warmup_s": warm - begin, "steady_s": steady - warm, "latency_s": 0.0}
    raw = {
        "first_token_s": list(itertools.chain.from_iterable(each.first_s for each in times)),
        "between_tokens_s": list(itertools.chain.from_iterable(each.between_s for each in times)),
    }
    return measure.Measurement(
        first,
        warmup + before,
        blocks,
        whole(raw["first_token_s"], raw["between_tokens_s"]),
        None,
        None,
        generator.logits(timer.handle),
        phases,
        [],
        generation=raw,
    )


def whole(first_s, between_s):
    """Return the seconds from each prompt to its last token."""
    after = len(between_s) // len(first_s)
    return [each + sum(between_s[number * after : (number + 1) * after]) for number, each in enumerate(first_s)]


class GenerationTimer:
    """A runner of generations round the ring of prompts. `times` has those of every block, in order.

    `samples` is what a generation counts as.
    """

    def __init__(self, generator, asked, samples, clock, sampler):
        self._generator, self._lengths, self._samples = generator, asked, samples
        self._ring = itertools.cycle(generator.batches)
        self._clock, self._sampler = clock, sampler
        self.times = []
        self.handle = None

    def block(self, steps):
        """Time so many whole generations, and each of their tokens. Returns the block."""
        wall, cpu = self._clock
        prompts = list(itertools.islice(self._ring, steps))
        begins, moments = [0.0] * steps, [()] * steps
        self._sampler.begin()
        cpu_begin = cpu()
        begin = wall()
        for number, prompt in enumerate(prompts):
            begins[number] = wall()
            moments[number] = self._generate(prompt)
        end = wall()
        cpu_end = cpu()
        conditions = self._sampler.end()
        self.times.append(token_times(begins, moments))
        block = {"steps": steps, "samples": steps * self._samples, "wall_s": end - begin, "cpu_s": cpu_end - cpu_begin}
        return dict(block, conditions=conditions) if conditions else block

    def answer(self):
        """Run one generation, and return the moment of each token."""
        return self._generate(next(self._ring))

    def _generate(self, prompt):
        generator, wall, output = self._generator, self._clock.wall, self._lengths.output
        decode, tokens = generator.decode, generator.tokens
        moments = [0.0] * output
        handle = generator.prefill(prompt)
        tokens(handle)
        moments[0] = wall()
        for token in range(1, output):
            handle = decode(handle)
            tokens(handle)
            moments[token] = wall()
        self.handle = handle
        return moments


def token_times(begins, moments):
    """Return the times of tokens that came at these moments, a sequence for each begin of a prompt."""
    first_s, between_s = [], []
    for begin, mine in zip(begins, moments):
        first_s.append(mine[0] - begin)
        between_s.extend(later - earlier for earlier, later in zip(mine, mine[1:]))
    return TokenTimes(first_s, between_s)
