"""The type of `telemetry.json`, which the host writes into the folder of a repeat with GPUs."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from orchestrator.results.contract import Block, Count, Finite, Seconds, Some, Strict, Taken

Span = tuple[float, float]
"""The begin and the end of an interval, by the clock of the series."""
MOST_SAMPLES = 12_000
"""The most samples of a series, twenty minutes at ten a second. Of a longer repeat, neighbours are merged."""

_Column = Field(default=(), max_length=MOST_SAMPLES, exclude_if=lambda values: not values)
Figures = Annotated[tuple[Finite | None, ...], _Column]
"""One value for each sample. None if the driver did not tell it, and no values if it never did."""
Counts = Annotated[tuple[Count | None, ...], _Column]


class GpuSeries(Strict):
    """The samples of one GPU, in columns."""

    uuid: str
    busy_percent: Figures = ()
    """Share of the driver's last window in which something ran on it."""
    memory_bytes: Counts = ()
    """Memory in use by everything, with what the driver keeps to itself."""
    power_w: Figures = ()
    energy_j: Figures = ()
    """The counter of the GPU, which begins when the driver is loaded."""
    clock_hz: Counts = ()
    """Clock of its multiprocessors."""
    memory_clock_hz: Counts = ()
    temperature_c: Figures = ()
    slowed_by: Annotated[tuple[str | None, ...], _Column] = ()
    """Causes that hold its clocks down, in words of `GpuConditions.slowed_by` with spaces between them."""

    def columns(self) -> Iterator[tuple[object, ...]]:
        """Yield the columns that have values."""
        every = (
            *(self.busy_percent, self.memory_bytes, self.power_w, self.energy_j),
            *(self.clock_hz, self.memory_clock_hz, self.temperature_c, self.slowed_by),
        )
        return (column for column in every if column)


class Telemetry(Strict):
    """The GPUs of a repeat from before its launch until after its end."""

    schema_: Literal[1] = Field(1, alias="schema")
    clock: Literal["CLOCK_MONOTONIC"] = "CLOCK_MONOTONIC"
    """The clock of the kernel by which `at_s` counts, as `begin_s` of a block does."""
    period_s: Taken
    """Seconds between two samples. A series that would become too long goes on with twice as many."""
    due: Some
    """Samples that were due."""
    in_time: Count
    """Those that were taken within half a period of their moment."""
    at_s: Annotated[tuple[Seconds, ...], Field(min_length=1, max_length=MOST_SAMPLES)]
    gpus: tuple[GpuSeries, ...]
    """In the order of the cell's GPUs."""

    @model_validator(mode="after")
    def _has_even_columns(self) -> "Telemetry":
        if any(len(column) != len(self.at_s) for gpu in self.gpus for column in gpu.columns()):
            raise ValueError("a column has another number of values than there are samples")
        if any(later <= earlier for earlier, later in zip(self.at_s, self.at_s[1:], strict=False)):
            raise ValueError("the samples are not in order of time")
        return self

    @property
    def in_time_share(self) -> float:
        """Return the share of the samples that came in time."""
        return self.in_time / self.due


def spans(blocks: Iterable[Block]) -> tuple[Span, ...]:
    """Return the intervals of blocks by the clock of the series, or none unless all blocks tell when they began."""
    each = [block.conditions for block in blocks]
    begun = [(seen.begin_s, seen.begin_s + seen.wall_s) for seen in each if seen and seen.begin_s is not None]
    return tuple(begun) if len(begun) == len(each) else ()
