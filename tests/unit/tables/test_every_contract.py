"""No field of a stored file and no metric is left out of the tables."""

import dataclasses
import types
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from orchestrator import modes
from orchestrator.domain import Outcome
from orchestrator.results.contract import Block, Conditions, Result
from orchestrator.results.decisions import Decisions
from orchestrator.results.parity.contract import ParityOutcome, ParityResult
from orchestrator.results.records import EnvironmentsRecord, RunRecord
from orchestrator.results.schemas import CONTRACT
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.results.telemetry.contract import Telemetry
from orchestrator.tables.columns import TableColumn
from orchestrator.tables.reading import TABLES
from orchestrator.tables.rows.blocks import BlockSource, GpuBlockSource, LatencySource
from orchestrator.tables.rows.cells import CellSource
from orchestrator.tables.rows.environments import EnvironmentSource
from orchestrator.tables.rows.gpus import SAMPLED, SampleSource
from orchestrator.tables.rows.outcomes import OutcomeSource
from orchestrator.tables.rows.parity import ParitySource
from orchestrator.tables.rows.printed import PrintedSource
from orchestrator.tables.rows.repeats import RepeatSource
from orchestrator.tables.rows.runs import RunSource

SOURCES = {
    "runs": RunSource, "cells": CellSource, "outcomes": OutcomeSource, "repeats": RepeatSource, "blocks": BlockSource,
    "gpu_blocks": GpuBlockSource, "latencies": LatencySource, "printed": PrintedSource, "telemetry": SampleSource,
    "environments": EnvironmentSource, "parity": ParitySource,
}  # fmt: skip
FILES = {
    "result": Result, "outcome": Outcome, "run": RunRecord, "environments": EnvironmentsRecord, "parity": ParityResult,
    "script": ScriptResult, "telemetry": Telemetry, "decisions": Decisions,
}  # fmt: skip
"""The contract but for the request, which says of a cell what the plan says."""
COMPUTED = {
    # The names of rows.
    "RunRecord.run", "Outcome.cell_id", "Outcome.repeat", "ParityOutcome.check",
    *(f"{answer}.{key}" for answer in ("Result", "ScriptResult", "ParityResult") for key in ("cell", "repeat")),
    # Taken by functions, as the tests of rows see.
    "LargestBatch.fits", "Memory.peak_rss_bytes", "PrintedMemory.peak_rss_bytes", "Result.latency_s",
    "PrintedValues.values", "RequestMoments.arrival_s", "RequestMoments.waited_s", "StoredTokenTimes.first_token_s",
    "StoredTokenTimes.between_tokens_s", "Telemetry.at_s", *(f"GpuSeries.{column.name}" for column in SAMPLED),
    # The plan is the table of cells, and the matrix is what it was made of.
    "RunRecord.plan", "RunRecord.matrix",
    # Always the same.
    "Telemetry.schema_", "Telemetry.clock", "EnvironmentsRecord.schema_",
}  # fmt: skip


def test_every_file_of_the_contract_is_walked() -> None:
    assert set(FILES) == set(CONTRACT) - {"request"}
    assert all(FILES[name] is CONTRACT[name] for name in FILES)


def covered() -> set[str]:
    """Return every field that a column is taken from, as `Phases.import_s`."""
    return {
        field
        for table in TABLES
        for column in table.columns
        if isinstance(column.source, str)
        for field in _passed(SOURCES[table.name], column)
    }


def _passed(source: Any, column: TableColumn) -> Iterator[str]:
    """Yield the last field of the path of a column, for each type that it may be of."""
    owners = [source]
    *parts, last = str(column.source).split(".")
    for part in parts:
        owners = [model for owner in owners for model in _models(_hint(owner, part))]
        assert owners, f"{column.name}: {column.source} leads nowhere"
    for owner in owners:
        if (hint := _hint(owner, last)) is not None:
            yield f"{owner.__name__}.{last}"
            yield from (f"{model.__name__}.*" for model in _models(hint))  # as JSON, with all that is in it


def _hint(owner: Any, name: str) -> Any:
    hints = typing.get_type_hints(owner)
    if name in hints:
        return hints[name]
    value = getattr(owner, name, None)
    return typing.get_type_hints(value.fget)["return"] if isinstance(value, property) else None


def _models(hint: Any) -> list[Any]:
    """Return the models and dataclasses in a type, however deep."""
    if isinstance(hint, type) and not isinstance(hint, types.GenericAlias):
        return [hint] if issubclass(hint, BaseModel) or dataclasses.is_dataclass(hint) else []
    return [model for inner in typing.get_args(hint) for model in _models(inner)]


def _missing(model: Any, present: set[str]) -> Iterator[str]:
    for name, hint in typing.get_type_hints(model).items():
        if typing.get_origin(hint) is typing.ClassVar or name.startswith("_") or name == "model_config":
            continue
        if {f"{model.__name__}.{name}", f"{model.__name__}.*"} & present:
            continue
        inner = _models(hint)
        if not inner:
            yield f"{model.__name__}.{name}"
        for each in inner:
            yield from _missing(each, present)


@pytest.mark.parametrize("name", FILES)
def test_every_field_is_in_a_column(name: str) -> None:
    assert list(_missing(FILES[name], covered() | COMPUTED)) == []


def test_parity_outcomes_are_whole() -> None:
    assert list(_missing(ParityOutcome, covered() | COMPUTED)) == []


@pytest.mark.parametrize("model", [Result, Block, Conditions, Outcome, ParityResult])
def test_a_new_field_would_be_noticed(model: Any) -> None:
    """Without its column, or with a field that no column knows, a file is not complete."""
    present = covered() | COMPUTED
    planted = type(model.__name__, (), {"__annotations__": {"planted_s": float | None}})
    gone = sorted(field for field in present if field.startswith(f"{model.__name__}."))[-1]

    assert list(_missing(planted, present)) == [f"{model.__name__}.planted_s"]
    assert gone in set(_missing(model, present - {gone})) or _models(typing.get_type_hints(model)[gone.split(".")[1]])


def test_no_exemption_is_idle() -> None:
    fields = {field for model in (*FILES.values(), ParityOutcome) for field in _missing(model, covered())}

    known = {each for each in COMPUTED if not each.startswith(("ScriptResult.", "Result.", "ParityResult."))}
    assert known - fields == set()


def test_every_metric_has_its_column() -> None:
    rules = (*modes.RULES.values(), *modes.SEARCHES.values())
    metrics = {metric for each in rules for metric in (*each.metrics, *each.columns)} | set(modes.METRICS)
    columns = {(table.name, column.name): column for table in TABLES for column in table.columns}

    for metric in metrics:
        column = columns["cells" if metric.is_exact else "repeats", metric.name]
        assert column.unit == metric.unit
        assert metric.title.lower() in column.description.lower()
