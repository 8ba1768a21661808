"""Several runs side by side as plain values for programs."""

from typing import Any, Literal

from typing_extensions import TypedDict

from orchestrator.documents import DocumentKind, Envelope
from orchestrator.domain import Status
from orchestrator.reporting.reports.run.value import ReportData, json_value
from orchestrator.reporting.reports.side_by_side.columns import Beside, SideBySide


class HostData(TypedDict):
    """The known facts of a host as texts, `–` for one that is unknown."""

    hostname: str
    cpu: str
    cpus: str
    cores: str
    memory_bytes: str
    """With its unit, such as `16.0 GB`."""
    kernel: str
    engine: str
    gpus: str
    driver: str
    governor: str


class ColumnData(TypedDict):
    """A run, with the whole of its report."""

    label: str
    host: HostData
    report: ReportData


class CellInRunData(TypedDict):
    """A cell in one of the runs."""

    run: str
    samples_per_s: float | None
    statuses: dict[Status, int] | None
    """None if the run's plan lacks the cell."""
    over_first: float | None
    """The ratio to the first run, which compares hosts."""
    over_first_low: float | None
    over_first_high: float | None


class CellInRunsData(TypedDict):
    """A cell in all runs."""

    cell: str
    note: str
    """The reason that there is no ratio although it was measured."""
    runs: list[CellInRunData]


class GroupInRunsData(TypedDict):
    """Cells of the same work on the same kind of system."""

    label: str
    cells: list[CellInRunsData]


class SideBySideData(TypedDict):
    """Several runs, and the figures that stand side by side."""

    schema: Literal[1]
    notes: list[str]
    runs: list[ColumnData]
    groups: list[GroupInRunsData]


RUNS_SIDE_BY_SIDE = DocumentKind("side-by-side", 1, SideBySideData)


def side_by_side_document(several: SideBySide) -> Envelope:
    """Return every run's whole report, and the figures that stand side by side."""
    groups: list[GroupInRunsData] = [
        {"label": group.label, "cells": [_cell(several, cell) for cell in group.cells]} for group in several.groups
    ]
    data: dict[str, Any] = {
        "schema": 1,
        "notes": list(several.notes),
        "runs": [
            {"label": run.label, "host": dict(run.facts), "report": json_value(run.report)} for run in several.runs
        ],
        "groups": groups,
    }
    return RUNS_SIDE_BY_SIDE.envelope(data)


def _cell(several: SideBySide, cell: Beside) -> CellInRunsData:
    in_runs: list[CellInRunData] = [
        {
            "run": run.report.run,
            "samples_per_s": one.measurement.throughput.value if one and one.measurement else None,
            "statuses": dict(one.statuses) if one else None,
            "over_first": over.value if over else None,
            "over_first_low": over.low if over else None,
            "over_first_high": over.high if over else None,
        }
        for run, one, over in zip(several.runs, cell.found, cell.over_first, strict=True)
    ]
    return {"cell": cell.cell_id, "note": cell.note, "runs": in_runs}
