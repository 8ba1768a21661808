"""The table of outcomes."""

from dataclasses import dataclass

from orchestrator.domain import Outcome
from orchestrator.tables.columns import ColumnKind, TableColumn, TableSchema
from orchestrator.tables.rows.keys import OF_REPEAT, RepeatKey

_TEXT, _INTEGER, _NUMBER = ColumnKind.TEXT, ColumnKind.INTEGER, ColumnKind.NUMBER


@dataclass(frozen=True, slots=True)
class OutcomeSource(RepeatKey):
    """The end of a repeat."""

    outcome: Outcome


OUTCOMES = TableSchema(
    "outcomes",
    "A row for each repeat that has ended, as its `outcome.json` says.",
    (
        *OF_REPEAT,
        TableColumn("status", _TEXT, "`ok`, or how it ended.", "outcome.status"),
        TableColumn("reason", _TEXT, "One line that says why; empty for `ok`.", "outcome.reason"),
        TableColumn("log", _TEXT, "Log, below the folder of the run; null where nothing was launched.", "outcome.log"),
        TableColumn("attempts", _INTEGER, "Attempts until then.", "outcome.attempts", "attempts"),
        TableColumn("started_at", ColumnKind.MOMENT, "Moment at which it began.", "outcome.started_at"),
        TableColumn("wall_s", _NUMBER, "From its launch to its end.", "outcome.wall_s"),
        TableColumn("create_s", _NUMBER, "From asking for the container or process to its start.", "outcome.create_s"),
        TableColumn("exit_code", _INTEGER, "Exit status of the container or process.", "outcome.exit_code", ""),
        TableColumn("image_id", _TEXT, "Id of the image at the engine; null outside `docker`.", "outcome.image_id"),
        TableColumn(
            "idle_wait_s", _NUMBER, "Time of waiting for an idle host; null where nobody waited.", "outcome.idle_wait_s"
        ),
        TableColumn(
            "busy", _TEXT, "Work that still went on at its launch; empty if the host was idle.", "outcome.busy"
        ),
        TableColumn(
            "disturbed_blocks",
            _INTEGER,
            "Timed blocks that something else disturbed; null if not known.",
            "outcome.disturbed_blocks",
            "blocks",
        ),
        TableColumn(
            "disturbance", _TEXT, "What disturbed the whole repeat; empty if nothing did.", "outcome.disturbance"
        ),
        TableColumn(
            "remeasured",
            _INTEGER,
            "Earlier measurements of it that were disturbed.",
            "outcome.remeasured",
            "measurements",
        ),
        TableColumn(
            "not_remeasured", _TEXT, "Reason that measuring it again came to nothing.", "outcome.not_remeasured"
        ),
        TableColumn(
            "log_omitted_bytes",
            _INTEGER,
            "Part of its output that the bound of the log left out.",
            "outcome.log_omitted_bytes",
        ),
        TableColumn("ran_on", _TEXT, "UUIDs of its GPUs, separated by commas.", "outcome.ran_on"),
        TableColumn(
            "beside",
            _TEXT,
            "Cells that ran at the same time, separated by commas; empty if it ran alone.",
            "outcome.beside",
        ),
    ),
)


def outcome_source(run: str, outcome: Outcome) -> OutcomeSource:
    """Return the source of a row."""
    return OutcomeSource(run=run, cell_id=outcome.cell_id, repeat=outcome.repeat, outcome=outcome)
