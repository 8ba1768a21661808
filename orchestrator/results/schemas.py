"""The contract as JSON Schemas, made from its types."""

from typing import Any

from pydantic import TypeAdapter

from orchestrator.domain import Outcome
from orchestrator.results.contract import Request, Result
from orchestrator.results.parity.contract import ParityResult
from orchestrator.results.records import EnvironmentsRecord, RunRecord
from orchestrator.results.scripts.contract import ScriptResult

NAMES = ("request", "result", "outcome", "run", "environments", "parity", "script")
_TYPES: dict[str, Any] = {
    "request": Request,
    "result": Result,
    "outcome": Outcome,
    "run": RunRecord,
    "environments": EnvironmentsRecord,
    "parity": ParityResult,
    "script": ScriptResult,
}


def contract_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one file of a run. `name` is one of `NAMES`."""
    schema = TypeAdapter(_TYPES[name]).json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
