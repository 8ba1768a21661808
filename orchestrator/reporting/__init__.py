"""Reports: one value, `Report`, and a renderer for each format."""

from collections.abc import Callable, Mapping

from orchestrator.reporting.as_csv import csv_text
from orchestrator.reporting.as_html import html_text, write_hosts_html, write_html
from orchestrator.reporting.as_json import json_text, json_value
from orchestrator.reporting.as_junit import junit_text
from orchestrator.reporting.as_lines import LinesView, event_schema
from orchestrator.reporting.as_markdown import markdown
from orchestrator.reporting.as_table import table
from orchestrator.reporting.document import document
from orchestrator.reporting.gather import report
from orchestrator.reporting.hosts import SideBySide, side_by_side
from orchestrator.reporting.hosts_as_text import HOSTS_FORMATS, hosts_table
from orchestrator.reporting.live import LiveView
from orchestrator.reporting.model import Report
from orchestrator.reporting.plain import PlainView

FORMATS: Mapping[str, Callable[[Report], str]] = {
    "md": markdown,
    "csv": csv_text,
    "json": json_text,
    "junit": junit_text,
    "html": html_text,
}
"""Formats that are texts; the terminal's `table` is a renderable, and `write_html` writes a page, or many."""

__all__ = [
    "FORMATS",
    "HOSTS_FORMATS",
    "LinesView",
    "LiveView",
    "PlainView",
    "Report",
    "SideBySide",
    "csv_text",
    "document",
    "event_schema",
    "hosts_table",
    "html_text",
    "json_text",
    "json_value",
    "junit_text",
    "markdown",
    "report",
    "side_by_side",
    "table",
    "write_hosts_html",
    "write_html",
]
