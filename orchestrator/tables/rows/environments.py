"""The table of environments."""

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.results.records import EnvironmentRecord
from orchestrator.tables.columns import ColumnKind, TableColumn, TableSchema
from orchestrator.tables.rows.keys import RUN
from orchestrator.tables.stored import OpenedRun

_TEXT = ColumnKind.TEXT


@dataclass(frozen=True, slots=True)
class EnvironmentSource:
    """An environment of a run."""

    run: str
    environment: EnvironmentRecord


ENVIRONMENTS = TableSchema(
    "environments",
    "A row for each environment that a run asked for, with all that is installed in it.",
    (
        RUN,
        TableColumn("image", _TEXT, "Name of the image in the plan.", "environment.image"),
        TableColumn("status", _TEXT, "`ok`, or how making it ended.", "environment.status"),
        TableColumn("reason", _TEXT, "One line that says why; empty for `ok`.", "environment.reason"),
        TableColumn(
            "reference",
            _TEXT,
            "What cells are launched by, such as the path of an interpreter.",
            "environment.reference",
        ),
        TableColumn("image_id", _TEXT, "Id of the image at the engine.", "environment.image_id"),
        TableColumn("base_digest", _TEXT, "Digest of the base image.", "environment.base_digest"),
        TableColumn(
            "size_bytes", ColumnKind.INTEGER, "Size of the image with all that it stands on.", "environment.size_bytes"
        ),
        TableColumn(
            "seccomp", _TEXT, "Profile of system calls of its containers, with its SHA-256.", "environment.seccomp"
        ),
        TableColumn(
            "versions",
            ColumnKind.JSON,
            "Every distribution that is installed in it, with its version.",
            "environment.versions",
        ),
        TableColumn("log", _TEXT, "Log of a making that failed, below the folder of the run.", "environment.log"),
    ),
)


def environment_sources(stored: OpenedRun) -> Iterator[EnvironmentSource]:
    """Yield the environments of a run."""
    for environment in stored.environments.environments:
        yield EnvironmentSource(stored.name, environment)
