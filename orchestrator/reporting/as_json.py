"""JSON: the whole report for programs, with stable names and SI units."""

from typing import Any

from pydantic import TypeAdapter

from orchestrator import encoded
from orchestrator.reporting.model import Report

SCHEMA = 1
_REPORT = TypeAdapter(Report)
_LEFT_OUT: Any = {"cells": {"__all__": {"measurement": {"step_quantiles_s"}}}}


def json_value(report: Report) -> dict[str, Any]:
    """A report as plain JSON values; step times stay in the run's own files."""
    return {"schema": SCHEMA, **_REPORT.dump_python(report, mode="json", exclude=_LEFT_OUT)}


def json_text(report: Report) -> str:
    """Render a report as JSON, indented."""
    return encoded.json_text(json_value(report), indent=1) + "\n"
