"""The table of the metrics that a mode shows beside those of every mode, the same in every format."""

from collections.abc import Iterable, Sequence

from orchestrator.analysis import Estimate, estimate
from orchestrator.modes.parts.metrics import Metric
from orchestrator.reporting.findings.model import CellReport, Repeat
from orchestrator.wording import clean_line

NOTE = "Metrics of this mode: geometric mean over the repeats, with its interval."


def heads(cells: Sequence[CellReport]) -> tuple[str, ...]:
    """Return the heads of the table for the cells of one group; none if their mode has no such metrics."""
    columns = cells[0].cell.workload.rules.columns if cells else ()
    return ("Framework", *(name_of(metric) for metric in columns)) if columns else ()


def rows(cells: Iterable[CellReport]) -> list[tuple[str, ...]]:
    """Return a row for every cell that was measured."""
    return [
        (clean_line(cell.label), *(_text(_estimated(metric, cell)) for metric in cell.cell.workload.rules.columns))
        for cell in cells
        if cell.measurement
    ]


def name_of(metric: Metric) -> str:
    """Return the title of a metric with its unit."""
    return f"{metric.title} ({metric.unit})" if metric.unit else metric.title


def names(cells: Iterable[CellReport]) -> tuple[str, ...]:
    """Return the names of the metrics that some cells show, each once."""
    return tuple(dict.fromkeys(name_of(metric) for cell in cells for metric in cell.cell.workload.rules.columns))


def values(cell: CellReport, repeat: Repeat) -> dict[str, str | int | float | None]:
    """Return the value of each such metric in a repeat, by its name."""
    columns = cell.cell.workload.rules.columns
    return {name_of(metric): _value(metric, repeat) for metric in columns}


def _value(metric: Metric, repeat: Repeat) -> float | None:
    return metric.take(repeat.measurement) if metric.take and repeat.measurement else None


def _estimated(metric: Metric, cell: CellReport) -> Estimate | None:
    known = [value for repeat in cell.repeats if (value := _value(metric, repeat)) is not None]
    return estimate(known) if known and min(known) > 0 else None


def _text(value: Estimate | None) -> str:
    if value is None:
        return "–"
    interval = "" if value.low is None or value.high is None else f" ({value.low:,.4g}–{value.high:,.4g})"
    return f"{value.value:,.4g}{interval}"
