"""The table of telemetry, the series of the GPUs of a repeat."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.results.telemetry.contract import GpuSeries
from orchestrator.tables.columns import ColumnKind, TableColumn, TableSchema
from orchestrator.tables.rows.keys import OF_REPEAT, RepeatKey
from orchestrator.tables.rows.repeats import ResultSource

_INTEGER, _NUMBER = ColumnKind.INTEGER, ColumnKind.NUMBER


@dataclass(frozen=True, slots=True)
class SampleSource(RepeatKey):
    """One sample of one GPU."""

    gpu: int
    at_s: float
    place: int
    series: GpuSeries


def _sampled(name: str, kind: ColumnKind, description: str) -> TableColumn:
    def take(source: SampleSource) -> Any:
        values: Sequence[Any] = getattr(source.series, name)
        return values[source.place] if values else None

    return TableColumn(name, kind, description, take)


SAMPLED = (
    _sampled("busy_percent", _NUMBER, "Share of the driver's last window in which something ran on it."),
    _sampled("memory_bytes", _INTEGER, "Memory in use by everything."),
    _sampled("power_w", _NUMBER, "Power."),
    _sampled("energy_j", _NUMBER, "Counter of its energy, which begins when the driver is loaded."),
    _sampled("clock_hz", _INTEGER, "Clock of its multiprocessors."),
    _sampled("memory_clock_hz", _INTEGER, "Clock of its memory."),
    _sampled("temperature_c", _NUMBER, "Temperature."),
    _sampled("slowed_by", ColumnKind.TEXT, "Causes that hold its clocks down, with spaces between them."),
)
TELEMETRY = TableSchema(
    "telemetry",
    "A row for each sample of each GPU of a repeat, from before its launch until after its end.",
    (
        *OF_REPEAT,
        TableColumn("gpu", _INTEGER, "Place of the GPU among those of the cell, from 0.", "gpu", ""),
        TableColumn("uuid", ColumnKind.TEXT, "UUID of the GPU.", "series.uuid"),
        TableColumn("at_s", _NUMBER, "Moment of the sample, by the monotonic clock of the host.", "at_s"),
        *SAMPLED,
    ),
)


def sample_sources(source: ResultSource) -> Iterator[SampleSource]:
    """Yield the samples of every GPU of a repeat."""
    telemetry = source.telemetry
    for number, series in enumerate(telemetry.gpus if telemetry else ()):
        for place, at_s in enumerate(telemetry.at_s if telemetry else ()):
            yield SampleSource(
                run=source.run, cell_id=source.cell_id, repeat=source.repeat, gpu=number, at_s=at_s, place=place,
                series=series,
            )  # fmt: skip
