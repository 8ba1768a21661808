"""The documents of a host's state."""

from collections.abc import Sequence
from dataclasses import asdict

from typing_extensions import TypedDict

from orchestrator.devices.fitness import HostFinding
from orchestrator.documents import DocumentKind, Envelope
from orchestrator.workflows.data import DatasetFiles, DataState
from orchestrator.workflows.fitness.doctor import DoctorResult
from orchestrator.workflows.fleet.findings import FleetReport
from orchestrator.workflows.host.clean import CleanResult, SurplusItem
from orchestrator.workflows.option_values import TablesFormat
from orchestrator.workflows.site.tables import TablesResult


class FitnessData(TypedDict):
    """The fitness of a host to measure."""

    fit: bool
    findings: list[HostFinding]


class SurplusData(TypedDict):
    """Disk use of things that can be made again."""

    engine: str | None
    """The reason that no images were looked at."""
    removed: bool
    """True if the surplus was to be removed."""
    surplus: list[SurplusItem]


class DatasetData(TypedDict):
    """A dataset with the files that are expected of it."""

    name: str
    folder: str
    formats: dict[str, list[str]]
    """The files of each format; one format is enough."""
    where: str
    state: DataState
    problems: list[str]
    made: bool
    """True if this command has made the files."""


class ExportedTablesData(TypedDict):
    """An export of all results as data."""

    format: TablesFormat
    path: str
    read: list[str]
    """Runs that were new or had changed."""
    unchanged: list[str]
    """Runs that were not read again."""
    removed: list[str]
    """Runs that the results folder has no more."""
    rows: dict[str, int]
    """The rows of each table, of all runs."""


DATASETS = DocumentKind("datasets", 1, list[DatasetData])
EXPORTED_TABLES = DocumentKind("exported-tables", 1, ExportedTablesData)
FITNESS = DocumentKind("fitness", 1, FitnessData)
FLEET = DocumentKind("fleet", 1, FleetReport)
SURPLUS = DocumentKind("surplus", 1, SurplusData)


def datasets_document(datasets: Sequence[DatasetFiles]) -> Envelope:
    """Return the files of datasets."""
    return DATASETS.envelope([asdict(each) for each in datasets])


def exported_tables_document(result: TablesResult) -> Envelope:
    """Return what an export of all results has read, and what it holds."""
    return EXPORTED_TABLES.envelope(
        {
            "format": result.format,
            "path": str(result.path),
            "read": list(result.read),
            "unchanged": list(result.unchanged),
            "removed": list(result.removed),
            "rows": dict(result.rows),
        }
    )


def fitness_document(result: DoctorResult) -> Envelope:
    """Return the findings on a host."""
    return FITNESS.envelope({"fit": result.is_fit, "findings": [asdict(finding) for finding in result.findings]})


def fleet_document(report: FleetReport) -> Envelope:
    """Return the findings on the nodes of a fleet."""
    return FLEET.envelope(asdict(report))


def surplus_document(result: CleanResult, *, removed: bool) -> Envelope:
    """Return the surplus of a host, and what became of it."""
    surplus = [asdict(item) for item in result.surplus]
    return SURPLUS.envelope({"engine": result.engine_problem or None, "removed": removed, "surplus": surplus})
