"""The search for the published release that changed a cell."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.errors import HostError, InputError
from orchestrator.events import Event, Listener, Notice
from orchestrator.images.registries.pushed_file import image_source
from orchestrator.regression.rules import Gate
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.carry_out import SearchInProgress, SearchServices
from orchestrator.regression.search.record import Bisection
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.joint import JointSide, JointTrial, recorded_packages, stored_joint_trial
from orchestrator.regression.trials.joint_result import JointResult
from orchestrator.reporting.reports.search.report import write_report
from orchestrator.results.files.writing import locked_folder
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.joint import JointRun, measure_joint
from orchestrator.workflows.measure.pair import MeasureOptions
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
    folder, record = prepared.folder, prepared.record
    with _alone(folder), host.working():
        if isinstance(record, Bisection):
            search_record.write(folder, record)
            progress = _in_progress(record, prepared, options, host)
            try:
                record = progress.carry_out()
            except StoppedError:
                return SearchResult(progress.record, folder, complete=False)
            except HostError as error:
                message = f"{error}\nwhat is measured is kept; go on with: {resume_command(folder)}"
                raise HostError(message) from error
        write_report(record, folder)
    return SearchResult(record, folder, complete=True)


def _in_progress(record: Bisection, prepared: PreparedSearch, options: SearchOptions, host: Host) -> SearchInProgress:
    folder = prepared.folder
    listening = replace(host, listener=_each_notice_once(host.listener))
    rounds = Rounds(
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
        {measured.run for measured in record.rounds},
    )
    services = SearchServices(rounds.measure, _packages_in(folder), listening.listener)
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
class Rounds:
    """The measuring of releases in joint blocks, each round in a new run or in the one that was begun for it."""

    setup: SearchSetup
    gate: Gate
    folder: Path
    runtime: RuntimeName
    options: MeasureOptions
    host: Host
    measured: set[str]
    """Names of the runs whose blocks are in the record."""

    def measure(self, sides: Sequence[Side], blocks: int) -> JointResult:
        """Measure sides in so many blocks. Raises `HostError` where this host cannot, and `StoppedError`."""
        joint = self._begun(sides, blocks)
        if joint is None:
            try:
                joint = self._new(sides, blocks)
            except InputError as error:  # the catalog or the matrix has no such environments
                return JointResult(reasons={side.text: error.messages[0] for side in sides[1:]})
        result = measure_joint(joint, self.options, self.host)
        if result is None:
            raise StoppedError
        self.measured.add(result.run)
        return result

    def _begun(self, sides: Sequence[Side], blocks: int) -> JointRun | None:
        """Return the run that was begun for a round and whose blocks are not in the record, or None."""
        asked, pythons = frozenset(side.text for side in sides), {side.python for side in sides}
        for run in reversed(runs(self.folder)):
            if run.name in self.measured:
                continue
            trial = stored_joint_trial(run)
            if (trial.asked, trial.blocks) == (asked, blocks) and trial.pythons <= pythons:
                base_image = self.setup.tests.options.base_image
                return JointRun(jobs.resumed(self.folder, run.name, RuntimeName.AUTO, base_image, self.host), trial)
        return None

    def _new(self, sides: Sequence[Side], blocks: int) -> JointRun:
        """Return a new run, on the runtime of the first run of this search."""
        before = runs(self.folder)
        runtime = RuntimeName(before[0].record().runtime) if before else self.runtime
        joint = self.setup.joint(sides, blocks)
        planned = self.setup.tests.planned(joint.plan)
        cells = tuple(JointSide(side, joint.cells[side.text]) for side in sides if side.text in joint.cells)
        # The order of the blocks is drawn anew in each run.
        trial = JointTrial(cells, self.gate, blocks, joint.plan.seed + len(before), joint.reasons)
        return JointRun(jobs.new(planned, self.folder, runtime, None), trial)
