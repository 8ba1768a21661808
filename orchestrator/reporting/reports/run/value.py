"""A run's report as plain values for programs, with stable names and SI units."""

from typing import Any

from pydantic import TypeAdapter

from orchestrator.reporting.findings.model import Report

SCHEMA = 1
_REPORT = TypeAdapter(Report)
_LEFT_OUT: Any = {"cells": {"__all__": {"measurement": {"step_quantiles_s"}}}}


def json_value(report: Report) -> dict[str, Any]:
    """Return a report as plain JSON values, without step times, which stay in the run's own files."""
    return {"schema": SCHEMA, **_REPORT.dump_python(report, mode="json", exclude=_LEFT_OUT)}
