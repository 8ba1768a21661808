"""The figures that metrics are made of, which `analysis` and `regression` work out."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class StepTimes(Protocol):
    """Percentiles of the single steps of a repeat."""

    @property
    def n(self) -> int:
        """The number of steps."""

    @property
    def mean_s(self) -> float:
        """The mean."""

    @property
    def p50_s(self) -> float:
        """The median."""

    @property
    def p90_s(self) -> float:
        """The 90th percentile."""

    @property
    def p99_s(self) -> float:
        """The 99th percentile."""


class EpochScores(Protocol):
    """The scores of a model after one epoch."""

    @property
    def epoch(self) -> int:
        """The number of the epoch, from 1."""

    @property
    def test_accuracy(self) -> float:
        """The share of test samples that were classified correctly."""


class TimedEpochs(Protocol):
    """The epochs of a repeat."""

    @property
    def epoch_s(self) -> Sequence[float]:
        """Seconds of each epoch, in order."""

    @property
    def total_s(self) -> float:
        """Seconds of the first step and all epochs."""

    @property
    def curve(self) -> Sequence[EpochScores]:
        """The scores after each epoch, or nothing if none was evaluated."""


class RequestShares(Protocol):
    """The answers of a repeat under load."""

    @property
    def in_time(self) -> float | None:
        """The share of the requests that were answered within the limit; None without a limit."""


class GeneratedTimes(Protocol):
    """The times of the tokens that a repeat generated."""

    @property
    def first_token_s(self) -> float | None:
        """From the arrival of a request to its first token, median; None if all requests arrived at once."""

    @property
    def per_token_s(self) -> float | None:
        """From token to token without the first, median over the requests; None without a second token."""

    @property
    def between_p50_s(self) -> float | None:
        """The median of the gaps between tokens; None without a second token."""

    @property
    def between_p90_s(self) -> float | None:
        """Their 90th percentile; None for too few of them."""

    @property
    def between_p99_s(self) -> float | None:
        """The 99th percentile of the gaps between tokens; None for too few of them."""

    @property
    def between_p90_bound_s(self) -> float | None:
        """The most that the 90th percentile is shown to be; None for too few gaps."""

    @property
    def between_p99_bound_s(self) -> float | None:
        """The most that the 99th percentile is shown to be; None for too few gaps."""

    @property
    def tokens_per_s(self) -> float:
        """All tokens over the time that they took."""


class RepeatFigures(Protocol):
    """The figures of one repeat."""

    @property
    def samples_per_s(self) -> float:
        """Throughput."""

    @property
    def phases_s(self) -> Sequence[tuple[str, float]]:
        """Seconds of each phase of the container, in order."""

    @property
    def latency(self) -> StepTimes | None:
        """Times of single steps, or None without any."""

    @property
    def requests(self) -> RequestShares | None:
        """The answers to requests, or None if there was no load."""

    @property
    def tokens(self) -> GeneratedTimes | None:
        """The times of tokens, or None if none was generated."""

    @property
    def epochs(self) -> TimedEpochs | None:
        """The epochs, or None if steps were timed."""

    @property
    def peak_rss_bytes(self) -> int:
        """Highest resident memory."""

    @property
    def peak_device_bytes(self) -> int | None:
        """Highest memory of the device, or None if the framework does not report it."""

    @property
    def largest_batch(self) -> int | None:
        """The largest batch that fits, or None if it was not looked for."""

    @property
    def joules_per_sample(self) -> float | None:
        """Energy of the GPUs for each sample, or None if it is not known."""

    @property
    def printed(self) -> Mapping[str, float]:
        """The figures that a script printed, by name; none of our own containers."""


class ExactFigures(Protocol):
    """The figures of a cell in one run that are known once, and have no scatter."""

    @property
    def last_loss(self) -> float | None:
        """The loss of the parity check after its last step; None without one, or if the mode compares no losses."""

    @property
    def image_bytes(self) -> int | None:
        """The size of the image; None if it is not known."""
