"""The rules of a regression test, which set deciding metrics, looks and false alarms."""

from dataclasses import dataclass
from itertools import takewhile

from orchestrator.analysis.looks import ALPHA, LOOKS, Look, looks
from orchestrator.errors import InputError
from orchestrator.modes import METRICS
from orchestrator.modes.parts.metrics import Metric
from orchestrator.regression.metrics import DEFAULT_GATES, Gate

LEAST_BLOCKS = 2
"""One block says nothing about scatter."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of one look at a pair."""

    deciding: Look
    """The look for every deciding metric."""
    shown: Look
    """The look for every other metric."""
    failures: float
    """The level of the test that one side fails more often than the other."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules, which are set before anything is measured."""

    gates: tuple[Gate, ...] = DEFAULT_GATES
    looks: tuple[int, ...] = LOOKS
    """Blocks after which a look takes place, in order; only undecided pairs continue to the next."""
    alpha: float = ALPHA
    confirm: bool = True
    """True if slower metrics are measured again, on as many fresh blocks."""

    @property
    def deciding(self) -> tuple[Metric, ...]:
        """Return the metrics that decide."""
        return tuple(metric for metric in METRICS if any(gate.metric == metric.name for gate in self.gates))

    def family(self, pairs: int) -> int:
        """Return the number of statistical verdicts that share alpha."""
        return max(1, pairs * sum(not metric.is_exact for metric in self.deciding))

    def levels(self, look: int, pairs: int) -> Levels:
        """Return the levels of a look, counted from 0, at so many pairs."""
        shown = pairs * (len(METRICS) - len(self.deciding))
        failures = 1 - self.at(look, max(1, pairs)).confidence
        return Levels(self.at(look, self.family(pairs)), self.alone(max(1, shown)), failures)

    def at(self, look: int, family: int) -> Look:
        """Return the level of a look, counted from 0, for a family of deciding metrics."""
        return looks(family, blocks=self.looks, alpha=self.alpha)[look]

    def alone(self, family: int) -> Look:
        """Return the level of a single look, for metrics that only inform and for confirmations."""
        return looks(family, blocks=self.looks[-1:], alpha=self.alpha)[0]


def looks_up_to(most_blocks: int, option: str = "--max-blocks") -> tuple[int, ...]:
    """Return the looks of an adaptive test with at most so many blocks. Raises `InputError` if they are too few."""
    if most_blocks < LEAST_BLOCKS:
        raise InputError(f"{option} {most_blocks}: takes at least {LEAST_BLOCKS} blocks; one says nothing of scatter")
    # A longer test than usual continues by doubling.
    doubling = (LOOKS[0] * 2**step for step in range(32))
    return (*takewhile(lambda blocks: blocks < most_blocks, doubling), most_blocks)
