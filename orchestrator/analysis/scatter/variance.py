"""The scatter of a cell's throughput by its levels: steps, blocks, containers, runs and hosts.

A repeat is a fresh container with some timed blocks, each of many steps; a run has some repeats, and a host some runs.
All scatter is that of logarithms, so that 0.01 is about one percent.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, pvariance

from orchestrator.analysis.scatter.random_effects import one_way
from orchestrator.results.contract import Result, steady_blocks
from orchestrator.results.throughput import block_rates


@dataclass(frozen=True, slots=True)
class RepeatScatter:
    """The rate of one repeat, and how its parts scatter."""

    rate: float
    """Samples/s, the median over its blocks."""
    blocks: int
    """Timed blocks that count."""
    block_variance: float | None
    """Of the rates of its blocks; None with a single block."""
    step_variance: float | None
    """Of its single steps, in the pass that is synchronised at each; None with fewer than two."""
    steps: float
    """Steps of a block, median."""


def repeat_scatter(result: Result, *, epochs: bool) -> RepeatScatter:
    """Return the scatter of a repeat. With `epochs` a block is an epoch, and the first is left out."""
    rates = block_rates(result, epochs=epochs)
    return RepeatScatter(
        rate=median(rates),
        blocks=len(rates),
        block_variance=_variance(rates),
        step_variance=_variance(result.latency_s),
        steps=float(median(block.steps for block in steady_blocks(result.blocks, epochs=epochs))),
    )


def _variance(values: Sequence[float]) -> float | None:
    logs = [math.log(value) for value in values if value > 0]
    return pvariance(logs) * len(logs) / (len(logs) - 1) if len(logs) > 1 else None


@dataclass(frozen=True, slots=True)
class Components:
    """The variances of a cell at each level, each beyond what the levels below it explain."""

    step: float | None
    """Of a single step; None if none was timed."""
    block: float | None
    """From block to block of a container, beyond its steps; None without a container that has two blocks."""
    container: float
    """From container to container of a run, beyond their blocks."""
    run: float | None
    """From run to run of a host, beyond its containers; None without a host that has two runs."""
    host: float | None
    """From host to host, beyond its runs; None with one host."""
    repeat: float
    """Of the figure of a repeat within its run: containers and blocks together."""
    degrees: int
    """Degrees of freedom of `repeat`."""
    blocks: float
    """Timed blocks of a repeat, mean."""
    steps: float
    """Steps of a block, mean."""

    @property
    def of_blocks(self) -> float:
        """Return the variance of one block in its container, that of its steps included."""
        return (self.block or 0.0) + (self.step or 0.0) / self.steps

    def of_repeat(self, blocks: float) -> float:
        """Return the variance of a repeat of so many blocks, as the levels make it up."""
        return self.container + self.of_blocks * median_variance(blocks)


Repeats = Sequence[RepeatScatter]


def components(hosts: Sequence[Sequence[Repeats]]) -> Components | None:
    """Split the scatter of one cell by its levels: `hosts` has the runs of each host, and these their repeats.

    Each level is split from the one below it by the one-way model, pooled over all that is above it. Steps are timed in
    a pass of their own, so that their part in a block is at most the scatter of the blocks. Returns None if no run has
    two repeats.
    """
    runs = [run for host in hosts for run in host if run]
    repeats = [repeat for run in runs for repeat in run]
    split = one_way([[each.rate for each in run] for run in host] for host in hosts)
    if split.within is None:
        return None
    blocks, steps = fmean(each.blocks for each in repeats), fmean(each.steps for each in repeats)
    step = _mean(each.step_variance for each in repeats)
    block = _of_blocks(repeats)
    if block is not None and step is not None:
        step = min(step, block * steps)
    whole_blocks = block or 0.0
    of_hosts = one_way([[[_geometric(run) for run in host if run] for host in hosts if any(host)]])
    return Components(
        step=step,
        block=None if block is None else max(0.0, block - (step or 0.0) / steps),
        container=max(0.0, split.within - whole_blocks * median_variance(blocks)),
        run=split.between,
        host=of_hosts.between if of_hosts.within is not None else None,
        repeat=split.within,
        degrees=split.degrees,
        blocks=blocks,
        steps=steps,
    )


def _of_blocks(repeats: Repeats) -> float | None:
    """Return the variance of blocks inside their containers, pooled over these."""
    known = [(each.block_variance, each.blocks - 1) for each in repeats if each.block_variance is not None]
    degrees = sum(freedom for _, freedom in known)
    return sum(variance * freedom for variance, freedom in known) / degrees if degrees else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _geometric(repeats: Repeats) -> float:
    return math.exp(fmean(math.log(each.rate) for each in repeats))


def median_variance(blocks: float) -> float:
    """Return the variance of the median of so many normal values, over that of one value.

    It is 1 for one value and nears π/2 ÷ n for many. For odd n it is within 2 % of the truth; for even n, whose median
    is the mean of two, it is up to 15 % too large. Source: the asymptotic variance of the median (H. Cramér,
    "Mathematical Methods of Statistics", 1946, section 28.5), with n + π/2 - 1 in place of n.
    """
    return math.pi / 2 / (blocks + math.pi / 2 - 1)
