"""The commands as functions, for notebooks, services and tests.

Each function takes one value of options and the host, and returns a value.
It prints nothing and exits nothing: mistakes are errors of `orchestrator.errors`, and a cell that fails is part of the
result.
"""

import os
from pathlib import Path

from orchestrator.bundles.returns.collect import Collected
from orchestrator.errors import HostError, InputError, OrchestratorError
from orchestrator.events import Event, Listener, Notice, ignore
from orchestrator.regression.nightly.records import Answer
from orchestrator.reporting.site.publishing import Published
from orchestrator.results.listing.index import RunSummary
from orchestrator.tables.lazy import ResultTable, ResultTables, result_tables
from orchestrator.workflows import option_values
from orchestrator.workflows.build import BuildOptions, BuildResult, build
from orchestrator.workflows.cluster.attach import FollowOptions, follow, submit
from orchestrator.workflows.cluster.cancel import CancelOptions, CancelResult, cancel
from orchestrator.workflows.cluster.options import ClusterOptions
from orchestrator.workflows.cluster.run import ClusterResult
from orchestrator.workflows.compare import CompareOptions, CompareResult, compare
from orchestrator.workflows.data import DataOptions, DatasetFiles, data
from orchestrator.workflows.fitness.doctor import DoctorOptions, DoctorResult, doctor
from orchestrator.workflows.fitness.interference import InterferenceOptions, prove
from orchestrator.workflows.history import HistoryOptions, HistoryResult, history
from orchestrator.workflows.host.clean import CleanOptions, CleanResult, clean
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.interference import InterferenceProof
from orchestrator.workflows.look.catalog import ModelsOptions, frameworks, models
from orchestrator.workflows.look.runs import EndedRepeat, RunsOptions, ShowOptions, ShowResult, runs, show
from orchestrator.workflows.networks.anonymise import AnonymiseOptions, AnonymiseResult, anonymise
from orchestrator.workflows.nightly.accept import AcceptOptions, AcceptResult, accept
from orchestrator.workflows.nightly.ack import AckOptions, AckResult, ack
from orchestrator.workflows.nightly.night import NightlyOptions, NightResult, night
from orchestrator.workflows.nightly.status import StatusOptions, StatusResult, status
from orchestrator.workflows.option_values import RuntimeName, TablesFormat
from orchestrator.workflows.plan import PlanOptions, PlanResult, plan
from orchestrator.workflows.regress import RegressOptions, RegressResult, regress
from orchestrator.workflows.report import ReportOptions, ReportResult, report
from orchestrator.workflows.run import RunOptions, RunResult, run
from orchestrator.workflows.search.options import SearchOptions, SearchResult
from orchestrator.workflows.search.search import search
from orchestrator.workflows.ship.export import ExportOptions, ExportResult, export
from orchestrator.workflows.ship.load import BundleOptions, LoadResult, VerifyResult, load, verify
from orchestrator.workflows.ship.push import PushOptions, PushResult, push
from orchestrator.workflows.ship.returns import CollectOptions, MergeOptions, MergeResult, collect, merge
from orchestrator.workflows.site.publish import PublishOptions, publish
from orchestrator.workflows.site.tables import TablesOptions, TablesResult, export_tables

__all__ = [
    "AcceptOptions",
    "AcceptResult",
    "AckOptions",
    "AckResult",
    "AnonymiseOptions",
    "AnonymiseResult",
    "Answer",
    "BuildOptions",
    "BuildResult",
    "BundleOptions",
    "CancelOptions",
    "CancelResult",
    "CleanOptions",
    "CleanResult",
    "ClusterOptions",
    "ClusterResult",
    "CollectOptions",
    "Collected",
    "CompareOptions",
    "CompareResult",
    "DataOptions",
    "DatasetFiles",
    "DoctorOptions",
    "DoctorResult",
    "EndedRepeat",
    "Event",
    "ExportOptions",
    "ExportResult",
    "FollowOptions",
    "HistoryOptions",
    "HistoryResult",
    "Host",
    "HostError",
    "InputError",
    "InterferenceOptions",
    "InterferenceProof",
    "Listener",
    "LoadResult",
    "MergeOptions",
    "MergeResult",
    "ModelsOptions",
    "NightResult",
    "NightlyOptions",
    "Notice",
    "OrchestratorError",
    "PlanOptions",
    "PlanResult",
    "PublishOptions",
    "Published",
    "PushOptions",
    "PushResult",
    "RegressOptions",
    "RegressResult",
    "ReportOptions",
    "ReportResult",
    "ResultTable",
    "ResultTables",
    "RunOptions",
    "RunResult",
    "RunSummary",
    "RunsOptions",
    "RuntimeName",
    "SearchOptions",
    "SearchResult",
    "ShowOptions",
    "ShowResult",
    "StatusOptions",
    "StatusResult",
    "TablesFormat",
    "TablesOptions",
    "TablesResult",
    "VerifyResult",
    "accept",
    "ack",
    "anonymise",
    "build",
    "cancel",
    "clean",
    "collect",
    "compare",
    "data",
    "doctor",
    "export",
    "export_tables",
    "follow",
    "frameworks",
    "history",
    "load",
    "merge",
    "models",
    "night",
    "plan",
    "prove",
    "publish",
    "push",
    "regress",
    "report",
    "results",
    "run",
    "runs",
    "search",
    "show",
    "status",
    "submit",
    "this_host",
    "verify",
]


def this_host(*, listener: Listener = ignore) -> Host:
    """Return this host with the variables of this process; `listener` is called with every event.

    Example: `host = this_host(listener=print)`
    """
    return Host(os.environ, listener)


def results(folder: Path | str = option_values.RESULTS) -> ResultTables:
    """Return the runs of a results folder as tidy tables in Arrow, each read when it is asked for.

    Raises `InputError` if there is no such folder, or without pyarrow, which the extra `data` installs.

    Example: `results("results").repeats.to_pandas()`
    """
    return result_tables(Path(folder))
