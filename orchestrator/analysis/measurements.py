"""The figures of a repeat from the raw samples of a result, and the figures of a cell from its repeats."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Annotated

from pydantic import Field

from orchestrator.analysis.estimates import Estimate, estimate, variation
from orchestrator.analysis.load.answers import AnsweredRequests, answers
from orchestrator.analysis.load.generation import generation_times
from orchestrator.analysis.load.token_times import TokenTimes
from orchestrator.analysis.percentiles import Percentiles, percentiles, quantiles
from orchestrator.analysis.resources import GpuUse, ProcessUse, gpu_use, joules_per_sample, process_use
from orchestrator.analysis.scatter.variance import RepeatScatter, repeat_scatter
from orchestrator.modes.parts.load import Load
from orchestrator.results.contract import Block, Result, steady_blocks
from orchestrator.results.parts.largest_batch import LargestBatch
from orchestrator.results.telemetry.contract import Telemetry
from orchestrator.results.throughput import block_rates

PHASES = ("create", "import", "data", "build", "first_step", "warmup", "steady", "evaluation", "latency")
"""The phases of a container, in order.

The host measures `create`, and `evaluation` lies between epochs.
"""
_LEAST_BLOCK_S = 0.01
"""The reading of the clocks is at most a ten-thousandth of such a block."""
_DRAWN_SHARES = tuple(number / 20 for number in range(21))


def _is_none(value: object) -> bool:
    return value is None


def cores_busy(blocks: Sequence[Block]) -> float | None:
    """Return CPU time ÷ wall time of blocks, or None if blocks are shorter than 10 ms on average.

    The CPU clock is read outside the wall clock, so that the wall time is that of the steps alone. The CPU time of a
    block is therefore about a microsecond too much. This is nothing in 0.2 s, and more cores than there are in 0.5 µs.
    """
    wall_s = sum(block.wall_s for block in blocks)
    if wall_s < _LEAST_BLOCK_S * len(blocks):
        return None
    return sum(block.cpu_s for block in blocks) / wall_s


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The scores of a model at the end of an epoch."""

    epoch: int
    """Counted from 1."""
    trained_s: float
    """Wall time of training until then, for the first step and the epochs without their evaluation."""
    train_loss: float
    test_loss: float
    test_accuracy: float


@dataclass(frozen=True, slots=True)
class RepeatEpochs:
    """The total time of one epoch run, which is a separate metric."""

    epoch_s: tuple[float, ...]
    """Wall time of each epoch, in order."""
    total_s: float
    """Time of all epochs, and of the first step before them."""
    after_first_s: float | None
    """Time of all epochs but the first; None if there is only one."""
    curve: tuple[CurvePoint, ...] = ()
    """Scores at the end of each epoch; empty if nothing was evaluated."""


def repeat_epochs(result: Result) -> RepeatEpochs:
    """Add up the epochs of a result whose timed blocks are epochs."""
    epoch_s = tuple(block.wall_s for block in result.blocks)
    after_first_s = sum(epoch_s[1:]) if len(epoch_s) > 1 else None
    passed_s = [result.first_step.wall_s + passed for passed in accumulate(epoch_s)]
    # A single evaluation was made after the last epoch.
    first = len(passed_s) if len(result.epochs) == 1 else 1
    curve = tuple(
        CurvePoint(epoch, trained_s, scores.train_loss, scores.test_loss, scores.test_accuracy)
        for epoch, (trained_s, scores) in enumerate(zip(passed_s[first - 1 :], result.epochs, strict=False), first)
    )
    return RepeatEpochs(epoch_s, passed_s[-1], after_first_s, curve)


@dataclass(frozen=True, slots=True)
class Epochs:
    """Total time of the epoch runs of one cell, estimated from its repeats."""

    epoch_s: tuple[float, ...]
    """Wall time of each epoch that all repeats have, in order, as the geometric mean over the repeats."""
    total_s: Estimate
    after_first_s: Estimate | None
    curve: tuple[CurvePoint, ...] = ()
    """Medians over the repeats, for each epoch that all of them have evaluated."""
    test_accuracies: tuple[float, ...] = ()
    """Accuracies at the end, one for each repeat that was evaluated."""


def epoch_totals(repeats: Sequence[RepeatEpochs]) -> Epochs | None:
    """Estimate the total time of a cell with and without the first epoch, or return None without repeats."""
    if not repeats:
        return None
    rest = [repeat.after_first_s for repeat in repeats if repeat.after_first_s is not None]
    each = zip(*(repeat.epoch_s for repeat in repeats), strict=False)
    return Epochs(
        epoch_s=tuple(estimate(times).value for times in each),
        total_s=estimate([repeat.total_s for repeat in repeats]),
        after_first_s=estimate(rest) if rest else None,
        curve=tuple(_middle(points) for points in zip(*(repeat.curve for repeat in repeats), strict=False)),
        test_accuracies=tuple(repeat.curve[-1].test_accuracy for repeat in repeats if repeat.curve),
    )


def _middle(points: Sequence[CurvePoint]) -> CurvePoint:
    """Return the median of each figure of points of one epoch."""
    return CurvePoint(
        epoch=points[0].epoch,
        trained_s=statistics.median(point.trained_s for point in points),
        train_loss=statistics.median(point.train_loss for point in points),
        test_loss=statistics.median(point.test_loss for point in points),
        test_accuracy=statistics.median(point.test_accuracy for point in points),
    )


@dataclass(frozen=True, slots=True)
class RepeatMeasurement:
    """The figures of one container."""

    samples_per_s: float
    block_variation: float | None
    """Coefficient of variation over the blocks that count, as in `samples_per_s`."""
    cpu_cores: float | None
    """Busy cores, as CPU time ÷ wall time over the same blocks; None if blocks are too short for it."""
    phases_s: tuple[tuple[str, float], ...]
    peak_rss_bytes: int
    peak_device_bytes: int | None
    latency: Percentiles | None
    """None without single steps, and of requests that arrive all at once."""
    first_loss: float | None
    last_loss: float | None
    parameters: int
    multiply_adds: int | None
    """Per sample, forward pass; None where the graph of an exported network does not tell."""
    epochs: RepeatEpochs | None = None
    """None if steps were timed."""
    used: ProcessUse | None = None
    """CPU time and disk of the whole process; None in older results."""
    gpus: GpuUse | None = None
    """Conditions of its GPUs in the timed blocks; None if none was read."""
    waiting: Annotated[float | None, Field(exclude_if=_is_none)] = None
    """The share of a block in which steps waited for data, median; None if batches are placed before the blocks."""
    joules_per_sample: Annotated[float | None, Field(exclude_if=_is_none)] = None
    """Energy of its GPUs over the blocks that count; None if it is not known."""
    steady_peak_device_bytes: Annotated[int | None, Field(exclude_if=_is_none)] = None
    """As `peak_device_bytes`, but from the end of the warm-up on; None where the framework cannot begin anew."""
    scatter: Annotated[RepeatScatter | None, Field(exclude=True)] = None
    """The scatter of its blocks and steps, which no document has."""
    search: Annotated[LargestBatch | None, Field(exclude_if=_is_none)] = None
    """The search for the largest batch; all else is then that of the largest try that fitted. None without one."""

    requests: Annotated[AnsweredRequests | None, Field(exclude_if=_is_none)] = None
    """The answers to requests; None without load."""

    tokens: Annotated[TokenTimes | None, Field(exclude_if=_is_none)] = None
    """The times of the tokens that it generated; None in modes that generate none."""

    at_once_p50_s: Annotated[float | None, Field(exclude=True)] = None
    """The median latency of requests that arrived all at once, by which only a frontier goes; None of all else."""

    @property
    def largest_batch(self) -> int | None:
        """The samples of the largest batch that fits; None if it was not looked for."""
        return self.search.fits if self.search else None

    @property
    def printed(self) -> Mapping[str, float]:
        """Nothing, as only scripts print figures."""
        return {}


def repeat_measurement(  # noqa: PLR0913 - one repeat from its files, and what of it is wanted
    result: Result,
    create_s: float | None,
    telemetry: Telemetry | None = None,
    *,
    in_epochs: bool = False,
    load: Load | None = None,
    with_scatter: bool = True,
) -> RepeatMeasurement:
    """Return the figures of one repeat from its raw samples, and from the series of its GPUs if it has one.

    `create_s` is the host's time to start the container, if known. With `in_epochs`, each timed block is an epoch, and
    the steady state begins with the second. `load` is that of its cell, if it has one. Without `with_scatter`, which
    takes as long as all else, its scatter is left out. Raises `ValueError` if a block has no finite rate, as the
    smallest positive durations have none.
    """
    counted = steady_blocks(result.blocks, epochs=in_epochs)
    spent = {phase: getattr(result.phases, f"{phase}_s") for phase in PHASES[1:]}
    inside = [(phase, float(seconds)) for phase, seconds in spent.items() if seconds is not None]
    rates = block_rates(result, epochs=in_epochs)
    cpu_cores = cores_busy(counted)
    if not all(0 < value < math.inf for value in rates) or (cpu_cores is not None and not math.isfinite(cpu_cores)):
        raise ValueError("a block has no finite rate")
    asked = result.requests
    at_once_s = result.latency_s if asked is not None and asked.are_at_once else ()
    return RepeatMeasurement(
        samples_per_s=statistics.median(rates),
        block_variation=variation(rates),
        cpu_cores=cpu_cores,
        phases_s=(*([("create", create_s)] if create_s is not None else []), *inside),
        peak_rss_bytes=result.memory.peak_rss_bytes,
        peak_device_bytes=result.memory.peak_device_bytes,
        latency=None if at_once_s else percentiles([result.latency_s], are_requests=asked is not None),
        first_loss=result.loss.first if result.loss else None,
        last_loss=result.loss.last if result.loss else None,
        parameters=result.model.parameters,
        multiply_adds=result.model.multiply_adds,
        epochs=repeat_epochs(result) if in_epochs else None,
        used=process_use(result.used),
        gpus=gpu_use(result.blocks, telemetry),
        waiting=_median([None if block.waited_s is None else block.waited_s / block.wall_s for block in counted]),
        joules_per_sample=joules_per_sample(counted, telemetry),
        steady_peak_device_bytes=result.memory.steady_peak_device_bytes,
        scatter=repeat_scatter(result, epochs=in_epochs) if with_scatter else None,
        search=result.largest_batch,
        requests=answers(result, load) if load else None,
        tokens=generation_times(result),
        at_once_p50_s=statistics.median(at_once_s) if at_once_s else None,
    )


@dataclass(frozen=True, slots=True)
class Measurement:
    """The figures of one cell from its `ok` repeats."""

    throughput: Estimate
    """Samples/s."""
    latency: Percentiles | None
    """None without single steps, and of requests that arrive all at once."""
    phases_s: tuple[tuple[str, float], ...]
    """Mean over the repeats."""
    start_s: float
    """Import, build and first step, which is the wait of a user before work begins."""
    peak_rss_bytes: int
    """The highest of any repeat, as is `peak_device_bytes`."""
    peak_device_bytes: int | None
    cpu_cores: float | None
    repeat_variation: float | None
    """Coefficient of variation between repeats."""
    block_variation: float | None
    """Coefficient of variation between the blocks of a repeat, median over the repeats."""
    first_loss: float | None
    last_loss: float | None
    """Medians over the repeats."""
    parameters: int
    multiply_adds: int | None
    step_quantiles_s: Annotated[tuple[float, ...], Field(exclude=True)]
    """Step times pooled over the repeats: their 0, 5, 10 … 100 % quantiles; empty without steps.

    They are for charts, and no document has them.
    """
    epochs: Epochs | None = None
    """None if steps were timed."""
    waiting: Annotated[float | None, Field(exclude_if=_is_none)] = None
    """The share of a block in which steps waited for data, median over the repeats."""


def measurement(repeats: Sequence[RepeatMeasurement], step_s: Sequence[Sequence[float]] = ()) -> Measurement:
    """Return the figures of one cell from its repeats and the step times of each.

    Raises `ValueError` if there is no repeat.
    """
    values = [repeat.samples_per_s for repeat in repeats]
    step_s = () if any(repeat.at_once_p50_s is not None for repeat in repeats) else step_s
    are_requests = any(repeat.latency is not None and repeat.latency.are_requests for repeat in repeats)
    pooled = sorted(chain.from_iterable(step_s))
    phases = mean_phases([repeat.phases_s for repeat in repeats])
    device = [repeat.peak_device_bytes for repeat in repeats if repeat.peak_device_bytes is not None]
    return Measurement(
        throughput=estimate(values),
        latency=percentiles(step_s, are_requests=are_requests),
        phases_s=phases,
        start_s=sum(seconds for phase, seconds in phases if phase in {"import", "build", "first_step"}),
        peak_rss_bytes=max(repeat.peak_rss_bytes for repeat in repeats),
        peak_device_bytes=max(device, default=None),
        cpu_cores=_mean([repeat.cpu_cores for repeat in repeats]),
        repeat_variation=variation(values),
        block_variation=_median([repeat.block_variation for repeat in repeats]),
        first_loss=_median([repeat.first_loss for repeat in repeats]),
        last_loss=_median([repeat.last_loss for repeat in repeats]),
        parameters=repeats[0].parameters,
        multiply_adds=repeats[0].multiply_adds,
        step_quantiles_s=quantiles(pooled, _DRAWN_SHARES) if pooled else (),
        epochs=epoch_totals([repeat.epochs for repeat in repeats if repeat.epochs is not None]),
        waiting=_median([repeat.waiting for repeat in repeats]),
    )


def mean_phases(repeats: Sequence[Sequence[tuple[str, float]]]) -> tuple[tuple[str, float], ...]:
    """Return the mean seconds of each phase in order, over the repeats that have the phase."""
    known: dict[str, list[float]] = {phase: [] for phase in PHASES}
    for repeat in repeats:
        for phase, seconds in repeat:
            known[phase].append(seconds)
    return tuple((phase, sum(values) / len(values)) for phase, values in known.items() if values)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
