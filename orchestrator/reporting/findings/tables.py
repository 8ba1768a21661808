"""Tables of a run that are the same in every format.

They show harness floors, the metrics of a mode beside those of every mode, and the figures that scripts printed.
"""

from collections.abc import Iterable, Sequence

from orchestrator.analysis import Estimate, Printed, estimate
from orchestrator.modes.parts.metrics import Metric
from orchestrator.reporting.findings.model import CellReport, Floor, Group, Repeat
from orchestrator.reporting.inline import statuses
from orchestrator.wording import clean_line, seconds, share

FLOOR_HEADS = ("Harness floor", "Step", "Of the fastest", "Start", "Memory", "Repeats")
FLOOR_NOTE = "Cells that compute nothing: their step is what the harness itself takes. They have no rank."
PRINTED_TITLE = "Printed by scripts"
PRINTED_NOTE = (
    "As printed by the scripts, not measured by us: what a figure means, what it leaves out and whether two scripts "
    "mean the same is theirs to say. They are in no ranking and no ratio."
)
PRINTED_HEADS = ("Cell", "Figure", "Median", "Lowest to highest repeat", "Better", "Matches", "Repeats")
METRICS_NOTE = "Metrics of this mode: geometric mean over the repeats, with its interval."


def floor_lines(group: Group, fastest: str = "the fastest") -> list[str]:
    """Describe each floor of a group in a line, none if nothing else was planned."""
    return [_line(floor, fastest) for floor in group.floors] if group.places else []


def _line(floor: Floor, fastest: str) -> str:
    if floor.step_s is None:
        return f"Harness floor: {floor.label} was not measured."
    of = "" if floor.share is None else f", {share(floor.share)} of a step of {fastest}"
    return f"Harness floor: {floor.label} takes {seconds(floor.step_s)} a step{of}."


def printed_rows(cells: Sequence[CellReport]) -> list[tuple[str, ...]]:
    """Return a row for every figure of every script, and one for a script without an `ok` repeat."""
    table: list[tuple[str, ...]] = []
    for cell in cells:
        ended = statuses(cell.statuses)
        table += [(cell.cell.id, *_figures(each), ended) for each in cell.printed]
        if not cell.printed:
            table.append((cell.cell.id, *["–"] * 5, ended))
    return table


def _figures(figure: Printed) -> tuple[str, ...]:
    unit = clean_line(figure.unit)
    span = f"{figure.low:,.6g} to {figure.high:,.6g}"
    return clean_line(figure.name), f"{figure.value:,.6g} {unit}", span, figure.better, f"{figure.matches:,}"


def metric_heads(cells: Sequence[CellReport]) -> tuple[str, ...]:
    """Return the heads of the table for the cells of one group; none if their mode has no such metrics."""
    columns = cells[0].cell.workload.rules.columns if cells else ()
    return ("Framework", *(_metric_name(metric) for metric in columns)) if columns else ()


def metric_rows(cells: Iterable[CellReport]) -> list[tuple[str, ...]]:
    """Return a row for every cell that was measured."""
    return [
        (
            clean_line(cell.label),
            *(_estimate_text(_estimated(metric, cell)) for metric in cell.cell.workload.rules.columns),
        )
        for cell in cells
        if cell.measurement
    ]


def _metric_name(metric: Metric) -> str:
    """Return the title of a metric with its unit."""
    return f"{metric.title} ({metric.unit})" if metric.unit else metric.title


def metric_names(cells: Iterable[CellReport]) -> tuple[str, ...]:
    """Return the names of the metrics that some cells show, each once."""
    return tuple(dict.fromkeys(_metric_name(metric) for cell in cells for metric in cell.cell.workload.rules.columns))


def metric_values(cell: CellReport, repeat: Repeat) -> dict[str, str | int | float | None]:
    """Return the value of each such metric in a repeat, by its name."""
    columns = cell.cell.workload.rules.columns
    return {_metric_name(metric): _value(metric, repeat) for metric in columns}


def _value(metric: Metric, repeat: Repeat) -> float | None:
    return metric.take(repeat.measurement) if metric.take and repeat.measurement else None


def _estimated(metric: Metric, cell: CellReport) -> Estimate | None:
    known = [value for repeat in cell.repeats if (value := _value(metric, repeat)) is not None]
    return estimate(known) if known and min(known) > 0 else None


def _estimate_text(value: Estimate | None) -> str:
    if value is None:
        return "–"
    interval = "" if value.low is None or value.high is None else f" ({value.low:,.4g}–{value.high:,.4g})"
    return f"{value.value:,.4g}{interval}"
