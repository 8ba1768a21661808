"""The commands as functions, for notebooks, services and tests.

Each function takes one value of options and the host, and returns a value.
It prints nothing and exits nothing: mistakes are errors of `orchestrator.errors`, and a cell that fails is part of the
result.
"""

import os

from orchestrator.bundles.returns.collect import Collected
from orchestrator.errors import HostError, InputError, OrchestratorError
from orchestrator.events import Event, Listener, Notice, ignore
from orchestrator.results.listing.index import RunSummary
from orchestrator.workflows.build import BuildOptions, BuildResult, build
from orchestrator.workflows.compare import CompareOptions, CompareResult, compare
from orchestrator.workflows.history import HistoryOptions, HistoryResult, history
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.look.runs import RunsOptions, runs
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.plan import PlanOptions, PlanResult, plan
from orchestrator.workflows.regress import RegressOptions, RegressResult, regress
from orchestrator.workflows.report import ReportOptions, ReportResult, report
from orchestrator.workflows.run import RunOptions, RunResult, run
from orchestrator.workflows.search.options import SearchOptions, SearchResult
from orchestrator.workflows.search.search import search
from orchestrator.workflows.ship.export import ExportOptions, ExportResult, export
from orchestrator.workflows.ship.load import BundleOptions, LoadResult, VerifyResult, load, verify
from orchestrator.workflows.ship.returns import CollectOptions, MergeOptions, MergeResult, collect, merge

__all__ = [
    "BuildOptions",
    "BuildResult",
    "BundleOptions",
    "CollectOptions",
    "Collected",
    "CompareOptions",
    "CompareResult",
    "Event",
    "ExportOptions",
    "ExportResult",
    "HistoryOptions",
    "HistoryResult",
    "Host",
    "HostError",
    "InputError",
    "Listener",
    "LoadResult",
    "MergeOptions",
    "MergeResult",
    "Notice",
    "OrchestratorError",
    "PlanOptions",
    "PlanResult",
    "RegressOptions",
    "RegressResult",
    "ReportOptions",
    "ReportResult",
    "RunOptions",
    "RunResult",
    "RunSummary",
    "RunsOptions",
    "RuntimeName",
    "SearchOptions",
    "SearchResult",
    "VerifyResult",
    "build",
    "collect",
    "compare",
    "export",
    "history",
    "load",
    "merge",
    "plan",
    "regress",
    "report",
    "run",
    "runs",
    "search",
    "this_host",
    "verify",
]


def this_host(*, listener: Listener = ignore) -> Host:
    """Return this host with the variables of this process; `listener` is called with every event.

    Example: `host = this_host(listener=print)`
    """
    return Host(os.environ, listener)
