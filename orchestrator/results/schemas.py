"""The contract as JSON Schemas, made from its types."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from orchestrator.domain import Outcome
from orchestrator.results.contract import Request, Result
from orchestrator.results.decisions import Decisions
from orchestrator.results.parity.contract import ParityResult
from orchestrator.results.records import EnvironmentsRecord, RunRecord
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.results.telemetry.contract import Telemetry

CONTRACT: Final[Mapping[str, Any]] = {
    "request": Request,
    "result": Result,
    "outcome": Outcome,
    "run": RunRecord,
    "environments": EnvironmentsRecord,
    "parity": ParityResult,
    "script": ScriptResult,
    "telemetry": Telemetry,
    "decisions": Decisions,
}
"""The types of the files of a run."""


def contract_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one file of a run. `name` is one of `CONTRACT`."""
    schema = TypeAdapter(CONTRACT[name]).json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
