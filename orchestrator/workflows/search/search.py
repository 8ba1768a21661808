"""The search for the published release that changed a cell."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from orchestrator.errors import HostError
from orchestrator.events import Event, Listener, Notice
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.carry_out import SearchInProgress, SearchServices
from orchestrator.regression.search.probe import packages
from orchestrator.regression.sides import Side
from orchestrator.reporting.reports.search import write_report
from orchestrator.results.locks import locked_folder
from orchestrator.results.store import Run
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import MeasureOptions
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.search.new import new_search
from orchestrator.workflows.search.options import SearchOptions, SearchResult, resume_command
from orchestrator.workflows.search.prepared import PreparedSearch
from orchestrator.workflows.search.probes import Probes, StoppedError
from orchestrator.workflows.search.resume import resumed_search


def search(options: SearchOptions, host: Host) -> SearchResult:
    """Find the release that changed a cell, and the packages that moved it.

    The record, a page and all runs lie in the folder of the search. Raises `InputError` with every mistake, before
    anything is measured, and `HostError` where this host cannot measure.

    Example: `search(SearchOptions(good="mxnet==1.2.0", bad="mxnet==1.9.1", cell="lenet-train-*"), this_host()).record`
    """
    prepared = new_search(options, host) if options.resume is None else resumed_search(options, options.resume, host)
    folder = prepared.folder
    with _alone(folder), host.working():
        search_record.write(folder, prepared.record)
        progress = _in_progress(prepared, options, host)
        try:
            record = progress.carry_out()
        except StoppedError:
            return SearchResult(progress.record, folder, complete=False)
        except HostError as error:
            raise HostError(f"{error}\nwhat is measured is kept; go on with: {resume_command(folder)}") from error
        write_report(record, folder)
    return SearchResult(record, folder, complete=True)


def _in_progress(prepared: PreparedSearch, options: SearchOptions, host: Host) -> SearchInProgress:
    record, folder = prepared.record, prepared.folder
    listening = replace(host, listener=_each_notice_once(host.listener))
    probes = Probes(
        prepared.setup,
        record.asked.metric,
        folder,
        RuntimeName(record.asked.runtime),
        MeasureOptions(jobs=options.jobs, idle_wait_s=options.idle_wait_s),
        listening,
        set(prepared.retried),
    )
    services = SearchServices(probes.measure, _packages_in(folder), listening.listener)
    return SearchInProgress(record, folder, prepared.subject, services)


def _packages_in(folder: Path) -> Callable[[str, Side], Mapping[str, str]]:
    """Return a function that reads the packages of a side in a run of a search."""
    return lambda run, side: packages(Run(folder / run), side)


def _alone(folder: Path) -> AbstractContextManager[None]:
    """Keep a second search out of a folder."""
    in_use = HostError(f"{folder}: this search is under way already; this one ends")
    return locked_folder(folder, in_use, "choose other --results")


def _each_notice_once(listener: Listener) -> Listener:
    """Return a listener that leaves out repeated notices, as the runs of a search all begin with the same ones."""
    said: set[str] = set()

    def tell(event: Event) -> None:
        if isinstance(event, Notice):
            if event.message in said:
                return
            said.add(event.message)
        listener(event)

    return tell
