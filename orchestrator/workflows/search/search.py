"""The search for the published release that changed a cell."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.errors import HostError, InputError
from orchestrator.events import Event, Listener, Notice
from orchestrator.images.registries.pushed_file import image_source
from orchestrator.regression.rules import Gate, Rules
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.carry_out import SearchInProgress, SearchServices
from orchestrator.regression.search.probe import ProbeResult, probe_result
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.files import recorded_packages, stored_trial
from orchestrator.reporting.reports.search import write_report
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.results.writing import locked_folder
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import MeasureOptions, PairRun, measure, new_pair_run, resumed_pair_run
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.search.options import SearchOptions, SearchResult, resume_command
from orchestrator.workflows.search.prepared import PreparedSearch, new_search, resumed_search
from orchestrator.workflows.search.setup import SearchSetup


def search(options: SearchOptions, host: Host) -> SearchResult:
    """Find the release that changed a cell, and the packages that moved it.

    The record, a page and all runs lie in the folder of the search. Raises `InputError` with every mistake, before
    anything is measured, and `HostError` where this host cannot measure.

    Example: `search(SearchOptions(good="mxnet==1.2.0", bad="mxnet==1.9.1", cell="lenet-train-*"), this_host()).record`
    """
    if options.images is not None:
        image_source(options.images)  # its mistakes come before the index is asked
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
        MeasureOptions(
            jobs=options.jobs,
            idle_wait_s=options.idle_wait_s,
            exclusive=options.exclusive,
            images=options.images,
        ),
        listening,
        set(prepared.retried),
    )
    services = SearchServices(probes.measure, _packages_in(folder), listening.listener)
    return SearchInProgress(record, folder, prepared.subject, services)


def _packages_in(folder: Path) -> Callable[[str, Side], Mapping[str, str]]:
    """Return a function that reads the packages of a side in a run of a search."""
    return lambda run, side: recorded_packages(Run(folder / run), side)


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


class StoppedError(Exception):
    """A search that was stopped on request. What is measured is stored."""


@dataclass(frozen=True)
class Probes:
    """The measuring of pairs of releases, each in a new run or in the one that was begun for it."""

    setup: SearchSetup
    gate: Gate
    folder: Path
    runtime: RuntimeName
    options: MeasureOptions
    host: Host
    retried: set[tuple[str, str]]
    """Baseline and candidate, as `Side.text` writes them, whose next run is a new one.

    What one side failed at is not repeated next to what the other has done long ago.
    """

    def measure(self, baseline: Side, candidate: Side, blocks: int) -> ProbeResult:
        """Measure up to so many blocks. Raises `HostError` where this host cannot, and `StoppedError`."""
        rules = Rules(gates=(self.gate,), looks=(blocks,), confirm=False)
        pair_run = self._begun(baseline, candidate)
        if pair_run is None:
            try:
                pair_run = self._new(baseline, candidate, rules)
            except InputError as error:  # the catalog or the matrix has no such environment
                return ProbeResult(reason=error.messages[0])
        trial = replace(pair_run.trial, rules=rules)
        measured = measure(replace(pair_run, trial=trial), self.options, self.host)
        self.retried.discard((baseline.text, candidate.text))
        if not measured.regression.complete:
            raise StoppedError
        return probe_result(measured, blocks)

    def _begun(self, baseline: Side, candidate: Side) -> PairRun | None:
        """Return the newest run of two sides, or None if the next one is to be new."""
        if (baseline.text, candidate.text) in self.retried:
            return None
        for run in reversed(runs(self.folder)):
            trial = stored_trial(run)
            if (trial.baseline.text, trial.candidate.text) == (baseline.text, candidate.text):
                return resumed_pair_run(self.folder, run.name, self.setup.tests.options.base_image, self.host)
        return None

    def _new(self, baseline: Side, candidate: Side, rules: Rules) -> PairRun:
        """Return a new run, on the runtime of the first run of this search."""
        first = next(iter(runs(self.folder)), None)
        runtime = RuntimeName(first.record().runtime) if first else self.runtime
        pairing = self.setup.pair(baseline, candidate)
        return new_pair_run(self.setup.tests, pairing, rules, self.folder, runtime)
