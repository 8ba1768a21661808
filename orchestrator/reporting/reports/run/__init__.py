"""The report of one run."""

from orchestrator.reporting.document import Kind
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.reports.run.cases import suites
from orchestrator.reporting.reports.run.full import full
from orchestrator.reporting.reports.run.measures import measures, traces
from orchestrator.reporting.reports.run.page import pages
from orchestrator.reporting.reports.run.records import records
from orchestrator.reporting.reports.run.short import short
from orchestrator.reporting.reports.run.value import report_document

RUN: Kind[Report] = Kind(
    short=short, full=full, pages=pages, suites=suites, value=report_document, records=records, measures=measures,
    traces=traces,
)  # fmt: skip
