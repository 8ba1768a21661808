"""The table of repeats, and the result of a repeat, of which several tables are made."""

from dataclasses import dataclass
from typing import Any

from orchestrator.analysis.measurements import RepeatMeasurement, repeat_measurement
from orchestrator.analysis.printed_figures import printed_figures
from orchestrator.domain import Cell, Outcome
from orchestrator.modes.parts.figures import RepeatFigures
from orchestrator.results.contract import Result
from orchestrator.results.evidence import read_repeat
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.results.telemetry.contract import Telemetry
from orchestrator.tables.columns import ColumnKind, TableColumn, TableSchema
from orchestrator.tables.rows.keys import OF_REPEAT, RepeatKey
from orchestrator.tables.rows.metrics import OF_REPEATS, names_of
from orchestrator.tables.stored import OpenedRun

_TEXT, _INTEGER, _NUMBER = ColumnKind.TEXT, ColumnKind.INTEGER, ColumnKind.NUMBER
_JSON = ColumnKind.JSON


@dataclass(frozen=True, slots=True)
class ResultSource(RepeatKey):
    """The result of a repeat that ended `ok`."""

    result: Result | None
    printed: ScriptResult | None
    telemetry: Telemetry | None
    cell: Cell | None
    """None if the plan cannot be read."""
    problem: str | None
    """The reason that its result cannot be read."""

    @property
    def in_epochs(self) -> bool:
        """Return true if its blocks are epochs, which without a readable plan only their scores tell."""
        if self.cell is not None:
            return self.cell.duration.epochs is not None
        return bool(self.result and self.result.epochs)


@dataclass(frozen=True, slots=True)
class RepeatSource(ResultSource):
    """The same with the figures that are made of it."""

    figures: RepeatFigures | None
    metrics: frozenset[str]
    """The names of the metrics that its mode has, none without figures of our own."""

    @property
    def measured(self) -> RepeatMeasurement | None:
        """Return the figures of a result of our own containers."""
        return self.figures if isinstance(self.figures, RepeatMeasurement) else None

    @property
    def answer(self) -> Result | ScriptResult | None:
        """Return what the container answered, a script or a model."""
        return self.result or self.printed


def _peak_rss(source: RepeatSource) -> int | None:
    return source.answer.memory.peak_rss_bytes if source.answer else None


def _scale_of_errors(source: RepeatSource) -> float | None:
    outputs = source.result.outputs if source.result else None
    return outputs.error / outputs.scale if outputs and outputs.scale else None


def _phase(name: str, description: str) -> TableColumn:
    return TableColumn(f"{name}_s", _NUMBER, description, f"result.phases.{name}_s")


def _used(name: str, kind: ColumnKind, description: str) -> TableColumn:
    return TableColumn(f"used_{name}", kind, description, f"result.used.{name}")


def _search(name: str, source: str, description: str) -> TableColumn:
    return TableColumn(name, _INTEGER, description, f"result.largest_batch.{source}", "samples")


def _output(name: str, kind: ColumnKind, description: str, unit: str = "") -> TableColumn:
    return TableColumn(f"output_{name}", kind, description, f"result.outputs.{name}", unit)


REPEATS = TableSchema(
    "repeats",
    "A row for each repeat that ended `ok`, with every metric and all that its result holds once.",
    (
        *OF_REPEAT,
        TableColumn(
            "started_at", ColumnKind.MOMENT, "Moment at which it began, by the container.", "answer.started_at"
        ),
        TableColumn(
            "measurement_version",
            _INTEGER,
            "Version of the way of measuring; figures of two are never compared.",
            "answer.measurement_version",
            "",
        ),
        *OF_REPEATS,
        TableColumn("cpu_cores", _NUMBER, "Busy cores over the blocks that count.", "measured.cpu_cores", "cores"),
        TableColumn(
            "block_variation",
            _NUMBER,
            "Coefficient of variation over the blocks that count.",
            "measured.block_variation",
            "",
        ),
        TableColumn(
            "waiting", _NUMBER, "Share of a block in which steps waited for data, median.", "measured.waiting", ""
        ),
        _phase("import", "Importing the framework."),
        _phase("data", "Drawing the data and placing it on the device."),
        _phase("build", "Building the model."),
        TableColumn("first_step_phase_s", _NUMBER, "The first step, as a phase.", "result.phases.first_step_s"),
        _phase("warmup", "Steps before the timed ones."),
        _phase("steady", "The timed blocks."),
        TableColumn("latency_phase_s", _NUMBER, "The pass that synchronises at every step.", "result.phases.latency_s"),
        _phase("evaluation", "Evaluation between epochs."),
        TableColumn("first_loss", _NUMBER, "Loss of the first step.", "result.loss.first", ""),
        TableColumn("last_loss", _NUMBER, "Loss of the last step.", "result.loss.last", ""),
        TableColumn("parameters", _INTEGER, "Trainable weights of the model.", "result.model.parameters", "weights"),
        TableColumn(
            "multiply_adds",
            _INTEGER,
            "Multiply-adds of a forward pass, per sample.",
            "result.model.multiply_adds",
            "multiply-adds",
        ),
        TableColumn(
            "peak_rss_bytes",
            _INTEGER,
            "Highest resident memory of the process; of a script that of its largest one.",
            _peak_rss,
        ),
        TableColumn(
            "peak_device_bytes", _INTEGER, "Highest device memory, by the framework.", "result.memory.peak_device_bytes"
        ),
        TableColumn(
            "steady_peak_device_bytes",
            _INTEGER,
            "The same from the end of the warm-up on.",
            "result.memory.steady_peak_device_bytes",
        ),
        _used("user_s", _NUMBER, "CPU time of the process in its own code."),
        _used("system_s", _NUMBER, "CPU time of the process in the kernel."),
        _used("read_bytes", _INTEGER, "Bytes that the process fetched from storage."),
        _used("written_bytes", _INTEGER, "Bytes that the process sent towards storage."),
        _output("elements", _INTEGER, "Values in the output of an operator.", "values"),
        _output("norm", _NUMBER, "Euclidean norm of that output."),
        _output("scale", _NUMBER, "Size that errors are shares of."),
        _output("error", _NUMBER, "Distance of the output from the reference in float64."),
        TableColumn("output_relative_error", _NUMBER, "That distance as a share of the scale.", _scale_of_errors, ""),
        _output("sketch", _JSON, "Values of the output, or a sketch of them."),
        _search("largest_batch_refused", "refused", "Smallest batch that did not fit; null if none was refused."),
        _search("largest_batch_bounded_by", "bounded_by", "Samples of the dataset, if all of them fit."),
        TableColumn("largest_batch_tries", _JSON, "Every size that was tried, in order.", "result.largest_batch.tries"),
        TableColumn("script_wall_s", _NUMBER, "Time of a script from its start to its end.", "printed.wall_s"),
        TableColumn("telemetry_period_s", _NUMBER, "Seconds between two samples of the GPUs.", "telemetry.period_s"),
        TableColumn("telemetry_due", _INTEGER, "Samples that were due.", "telemetry.due", "samples"),
        TableColumn("telemetry_in_time", _INTEGER, "Samples that were taken in time.", "telemetry.in_time", "samples"),
        TableColumn(
            "facts",
            _JSON,
            "All that the container reports of itself, such as versions, threads and layout.",
            "answer.facts",
        ),
        TableColumn("schema", _INTEGER, "Schema of its result.", "answer.schema_", ""),
        TableColumn("problem", _TEXT, "Reason that its result cannot be used; null if it can.", "problem"),
    ),
)


def result_source(stored: OpenedRun, outcome: Outcome) -> ResultSource:
    """Read the result of a repeat that ended `ok`."""
    cell = stored.cells.get(outcome.cell_id)
    evidence = read_repeat(stored.run, outcome, of_script=cell is not None and cell.script is not None)
    return ResultSource(
        run=stored.name,
        cell_id=outcome.cell_id,
        repeat=outcome.repeat,
        result=evidence.result,
        printed=evidence.printed,
        telemetry=evidence.telemetry,
        cell=cell,
        problem=evidence.outcome.reason if evidence.rotten else None,
    )


def repeat_source(source: ResultSource, outcome: Outcome) -> RepeatSource:
    """Work out the figures of a result."""
    figures, problem = _figures(source, outcome)
    values: dict[str, Any] = {name: getattr(source, name) for name in _FIELDS}
    metrics = names_of(source.cell) if isinstance(figures, RepeatMeasurement) else frozenset()
    return RepeatSource(**values | {"problem": source.problem or problem}, figures=figures, metrics=metrics)


_FIELDS = ("run", "cell_id", "repeat", "result", "printed", "telemetry", "cell", "problem")


def _figures(source: ResultSource, outcome: Outcome) -> tuple[RepeatFigures | None, str | None]:
    if source.printed is not None:
        return printed_figures(source.printed), None
    if source.result is None:
        return None, None
    try:
        figures = repeat_measurement(source.result, outcome.create_s, source.telemetry, in_epochs=source.in_epochs)
    except ValueError as error:
        return None, str(error)
    return figures, None
