"""A run's report as plain values for programs, with stable names and SI units."""

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core.core_schema import CoreSchema

from orchestrator.documents import DocumentKind, Envelope
from orchestrator.reporting.findings.model import Report

SCHEMA: Literal[1] = 1


class _WithNumber:
    """Adds to the schema of a report the number that stands before its fields."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        body = handler.resolve_ref_schema(handler(core))
        number = {"const": SCHEMA, "title": "Schema", "type": "integer"}
        body["properties"] = {"schema": number, **body["properties"]}
        body["required"] = ["schema", *body["required"]]
        return body


ReportData = Annotated[Report, _WithNumber()]
REPORT = DocumentKind("report", 1, ReportData)


def json_value(report: Report) -> dict[str, Any]:
    """Return a report as plain JSON values, without step times, which stay in the run's own files."""
    return {"schema": SCHEMA, **_adapter().dump_python(report, mode="json")}


@cache
def _adapter() -> TypeAdapter[Report]:
    """Return what reads a report, made at its first use, as most commands print no JSON."""
    return TypeAdapter(Report)


def report_document(report: Report) -> Envelope:
    """Return a report for programs."""
    return REPORT.envelope(json_value(report))
