"""The table of a run's page with what the host has sampled of the GPUs of each repeat."""

from collections.abc import Iterator

from orchestrator.analysis.measurements import RepeatMeasurement
from orchestrator.analysis.resources import GpuUse
from orchestrator.reporting.blocks import Details, TableCell
from orchestrator.reporting.reports.run.cell_tables import Measured, Names
from orchestrator.reporting.reports.run.view import cell_table, columns, figure, row_of
from orchestrator.wording import memory, percent, share

_HEADS = (
    *("Framework", "Repeat", "Busy", "Peak, by the framework", "… after warm-up", "Peak, on the device"),
    *("… in timed blocks", "Energy", "Energy per sample", "Samples in time"),
)
_CAPTION = (
    "GPUs of each repeat, as the host has sampled them: load and energy over the timed blocks; the most memory in use "
    "by everything on any GPU of the cell, over the whole repeat with its autotuning and over the timed blocks alone; "
    "the most that the framework's allocator had, over the whole repeat and from the end of the warm-up on"
)


def sampled(measured: Measured, names: Names, group: str) -> Iterator[Details]:
    """Yield load, memory and energy of the GPUs of every repeat, if any was sampled."""
    rows = [
        row_of(names[cell.cell.id], cell, tuple(_sampled(repeat.outcome.repeat, repeat.measurement)))
        for cell, _ in measured
        for repeat in cell.repeats
        if repeat.measurement and repeat.measurement.gpus and repeat.measurement.gpus.series
    ]
    if rows:
        heads = columns(_HEADS, range(1, len(_HEADS)))
        yield Details("GPUs", (cell_table(heads, rows, _CAPTION, f"GPUs of {group}", is_narrow=False),))


def _sampled(number: int, measured: RepeatMeasurement) -> Iterator[str | TableCell]:
    gpus = measured.gpus
    if gpus is None or gpus.series is None:
        return
    series = gpus.series
    yield str(number)
    yield figure(percent(series.busy), series.busy)
    by_framework = measured.peak_device_bytes, measured.steady_peak_device_bytes
    for peak in (*by_framework, series.peak_bytes, series.timed_peak_bytes):
        yield figure("–" if peak is None else memory(peak), "" if peak is None else str(peak))
    for joules in (gpus.energy_j, measured.joules_per_sample):
        yield _energy(joules, gpus)
    yield figure(share(series.in_time), series.in_time)


def _energy(joules: float | None, gpus: GpuUse) -> TableCell:
    if joules is None:
        return figure("–", None)
    return figure(f"{joules:,.4g} J", joules, "from samples of the power" if gpus.is_energy_integrated else "")
