"""The table of parity checks."""

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.results.evidence import read_check
from orchestrator.results.listing.stamps import stamped_checks
from orchestrator.results.parity.contract import ParityOutcome, ParityResult
from orchestrator.tables.columns import ColumnKind, TableColumn, TableSchema
from orchestrator.tables.rows.keys import RUN
from orchestrator.tables.stored import OpenedRun

_TEXT, _INTEGER, _NUMBER, _JSON = ColumnKind.TEXT, ColumnKind.INTEGER, ColumnKind.NUMBER, ColumnKind.JSON


@dataclass(frozen=True, slots=True)
class ParitySource:
    """A parity check with its answer."""

    run: str
    check: str
    outcome: ParityOutcome
    result: ParityResult | None


PARITY = TableSchema(
    "parity",
    "A row for each parity check, with all that its container answered.",
    (
        RUN,
        TableColumn("parity_check", _TEXT, "Id of the check; `cells` names it as `parity_check`.", "check"),
        TableColumn("status", _TEXT, "`ok`, or how it ended.", "outcome.status"),
        TableColumn("reason", _TEXT, "One line that says why; empty for `ok`.", "outcome.reason"),
        TableColumn("content", _TEXT, "Content and place of the check, as a hash.", "outcome.content"),
        TableColumn("folder", _TEXT, "Place of the answer, below `parity` in the folder of the run.", "outcome.folder"),
        TableColumn("log", _TEXT, "Log, below the folder of the run.", "outcome.log"),
        TableColumn(
            "reused", ColumnKind.TRUTH, "True if the answer of an earlier run was taken over.", "outcome.reused"
        ),
        TableColumn("started_at", ColumnKind.MOMENT, "Moment at which it began.", "outcome.started_at"),
        TableColumn("wall_s", _NUMBER, "From its launch to its end.", "outcome.wall_s"),
        TableColumn("exit_code", _INTEGER, "Exit status of the container or process.", "outcome.exit_code", ""),
        TableColumn("image_id", _TEXT, "Id of the image at the engine.", "outcome.image_id"),
        TableColumn("schema", _INTEGER, "Schema of its outcome.", "outcome.schema_", ""),
        TableColumn("answer_schema", _INTEGER, "Schema of its answer.", "result.schema_", ""),
        TableColumn(
            "measurement_version", _INTEGER, "Version of the way of measuring.", "result.measurement_version", ""
        ),
        TableColumn(
            "answered_at", ColumnKind.MOMENT, "Moment at which the answer began, by the container.", "result.started_at"
        ),
        TableColumn("answer_wall_s", _NUMBER, "Time that the container took for the answer.", "result.wall_s"),
        TableColumn(
            "parameters", _INTEGER, "Trainable weights, asked of the framework.", "result.parameters", "weights"
        ),
        TableColumn(
            "counted_parameters",
            _INTEGER,
            "Trainable weights, counted from the definition.",
            "result.counted_parameters",
            "weights",
        ),
        TableColumn("learning_rate", _NUMBER, "Learning rate of the steps.", "result.learning_rate"),
        TableColumn("first_loss", _NUMBER, "Loss of the fixed batch before any step.", "result.first_loss"),
        TableColumn("losses", _JSON, "Loss of the same batch after so many steps.", "result.losses"),
        TableColumn("network", _TEXT, "SHA-256 of an exported network; null for a model.", "result.network"),
        TableColumn("layers", _JSON, "Layers of the framework, with shapes and weights.", "result.layers"),
        TableColumn("counted", _JSON, "Layers counted from the definition.", "result.counted"),
        TableColumn("weights", _JSON, "Initial weights by name, each with its norm and a sketch.", "result.weights"),
        TableColumn("gradients", _JSON, "Gradients of the first step by name, as `weights`.", "result.gradients"),
        TableColumn("logits", _JSON, "Logits of the fixed batch with the initial weights.", "result.logits"),
        TableColumn("inferred", _JSON, "The same by the step that inference times.", "result.inferred"),
        TableColumn("outputs", _JSON, "Outputs of an exported network by name.", "result.outputs"),
        TableColumn("quantised", _JSON, "Answers of a quantised session next to those without.", "result.quantised"),
        TableColumn("generated", _JSON, "Tokens after the prompts of the fixed batch.", "result.generated"),
        TableColumn("dropouts", _JSON, "Losses where one dropout drops alone.", "result.dropouts"),
        TableColumn("optimizer", _JSON, "What the timed steps do to each tensor.", "result.optimizer"),
        TableColumn("lacking", _JSON, "What the session could not be asked.", "result.lacking"),
        TableColumn("facts", _JSON, "All that the container reports of itself.", "result.facts"),
    ),
)


def parity_sources(stored: OpenedRun) -> Iterator[ParitySource]:
    """Yield every check of a run that has an outcome. The status is `invalid_result` if its answer has rotted."""
    for check_id, _, _ in sorted(stamped_checks(stored.run.folder), key=lambda each: each[0]):
        check = read_check(stored.run, check_id)
        if check.outcome is not None:
            yield ParitySource(stored.name, check_id, check.outcome, check.result)
