"""The throughput of a repeat."""

import statistics

from orchestrator.results.contract import Result, steady_blocks


def block_rates(result: Result, *, epochs: bool) -> list[float]:
    """Return the samples/s of every block that counts.

    With `epochs`, a block is an epoch, and the first is left out.
    """
    return [block.samples / block.wall_s for block in steady_blocks(result.blocks, epochs=epochs)]


def throughput(result: Result, *, epochs: bool) -> float:
    """Return the throughput of a repeat in samples/s, which is the median over its blocks."""
    return statistics.median(block_rates(result, epochs=epochs))
