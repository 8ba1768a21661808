"""The table of figures that scripts printed."""

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.results.scripts.contract import PrintedValues
from orchestrator.tables.columns import ColumnKind, TableColumn, TableSchema
from orchestrator.tables.rows.keys import OF_REPEAT, RepeatKey
from orchestrator.tables.rows.repeats import ResultSource
from orchestrator.user_files import PrintedMetric

_TEXT, _INTEGER = ColumnKind.TEXT, ColumnKind.INTEGER


@dataclass(frozen=True, slots=True)
class PrintedSource(RepeatKey):
    """A value that a script printed."""

    metric: str
    number: int
    value: float
    values: PrintedValues
    declared: PrintedMetric | None
    """The metric as the matrix declares it; None if the plan cannot be read."""


PRINTED = TableSchema(
    "printed",
    "A row for each value that counts, of each figure that a script printed.",
    (
        *OF_REPEAT,
        TableColumn("metric", _TEXT, "Name of the figure in the matrix.", "metric"),
        TableColumn("number", _INTEGER, "Place of the value in the output, from 0.", "number", ""),
        TableColumn("value", ColumnKind.NUMBER, "The value, in `unit`.", "value"),
        TableColumn("unit", _TEXT, "Unit, as the matrix says.", "declared.unit"),
        TableColumn("better", _TEXT, "`higher` or `lower`.", "declared.better"),
        TableColumn("matches", _INTEGER, "All matches of the pattern in the output.", "values.matches", "matches"),
        TableColumn("problem", _TEXT, "Reason that the values cannot be trusted; null if they can.", "values.problem"),
    ),
)


def printed_sources(source: ResultSource) -> Iterator[PrintedSource]:
    """Yield the values that a script printed, by metric and place."""
    script = source.cell.script if source.cell else None
    declared = {metric.name: metric for metric in script.metrics} if script else {}
    for metric, values in source.printed.metrics.items() if source.printed else ():
        for number, value in enumerate(values.values):
            yield PrintedSource(
                run=source.run, cell_id=source.cell_id, repeat=source.repeat, metric=metric, number=number,
                value=value, values=values, declared=declared.get(metric),
            )  # fmt: skip
