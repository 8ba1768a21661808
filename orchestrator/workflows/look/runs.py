"""The runs of a results folder, and the ends of their repeats."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator.clusters.folder import counted_runs, node_of
from orchestrator.domain import Outcome
from orchestrator.errors import InputError
from orchestrator.planning import Selection
from orchestrator.results.contract import Result
from orchestrator.results.evidence import read_repeat
from orchestrator.results.listing import index
from orchestrator.results.listing.index import RunSummary
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.results.store import PartRun, Run
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import find_cluster_run, listed_clusters
from orchestrator.workflows.inputs.stored_runs import check_shown, find_run, report_hidden_runs

_HOW_TO_NAME_A_CELL = "; a cell is written IMAGE/WORK, as `orchestrator show` lists them"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOptions:
    """The options of `runs`."""

    results: Path = option_values.RESULTS
    """The results folder."""
    select: tuple[str, ...] = ()
    """Globs over the ids of cells. Only runs whose plans have such a cell are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """The options of `show`."""

    run: str = ""
    """A run's name or its beginning, the latest by default. Or a cell, of the latest run that has it."""
    cell: str = ""
    """Only the repeats of this cell."""
    select: tuple[str, ...] = ()
    """Globs over the ids of cells. Only the repeats of these are shown."""
    exclude: tuple[str, ...] = ()
    """Globs over the ids of cells that are not shown."""
    results: Path = option_values.RESULTS
    """The results folder."""


@dataclass(frozen=True, slots=True)
class EndedRepeat:
    """The end of a repeat, in the run that it is of."""

    run: Run
    """On a cluster, the run of a part on one node."""
    outcome: Outcome

    @property
    def node(self) -> str:
        """The node that measured it, for a run on a cluster. Otherwise empty."""
        return node_of(self.run) if isinstance(self.run, PartRun) else ""


@dataclass(frozen=True, slots=True)
class ShowResult:
    """The ends of a run's repeats."""

    run: Run
    """The run. On a cluster it is the folder of the whole."""
    cell: str
    """The cell that was chosen. Empty for all cells."""
    ended: tuple[EndedRepeat, ...]
    """The end of every repeat that has one, with the run of its files."""
    problem: str = ""
    """The reason that more of the run cannot be read. On a cluster it has a line for each such run of a part."""

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes of the repeats."""
        return tuple(each.outcome for each in self.ended)

    def result(self, ended: EndedRepeat) -> tuple[Result | ScriptResult | None, str]:
        """Read the result of a repeat, or the reason it is not readable."""
        stored = read_repeat(ended.run, ended.outcome, of_script=self.is_script)
        return stored.printed or stored.result, stored.outcome.reason if stored.rotten else ""

    @property
    def is_script(self) -> bool:
        """True if the chosen cell is a script."""
        return any(_is_script(run, self.cell) for run in {each.run for each in self.ended}) if self.cell else False


def runs(options: RunsOptions, host: Host) -> tuple[RunSummary, ...]:
    """Return a summary of every run of a results folder, oldest first.

    Raises `InputError` if there is no such folder, or a glob matches no cell of any run.

    Example: `runs(RunsOptions(results=Path("results")), this_host())`
    """
    results = options.results
    if not results.is_dir():
        raise InputError(f"{results}: no such folder; `orchestrator run` makes one, --results DIR looks elsewhere")
    report_hidden_runs(results, host)
    clusters = listed_clusters(results)
    listed = (*index.summaries(results, host.cache), *(each.summary for each in clusters))
    summaries = tuple(sorted(listed, key=lambda run: run.name)) if clusters else listed
    if not options.select:
        return summaries
    cells = {**index.planned_cells(results, host.cache), **{each.summary.name: each.cells for each in clusters}}
    selection = Selection(options.select)
    check_shown(selection, list(cells.values()), host)
    return tuple(run for run in summaries if run.name in cells and selection.takes(*cells[run.name]))


def show(options: ShowOptions, host: Host) -> ShowResult:
    """Return the ends of all repeats of a run, or of one of its cells.

    Raises `InputError` if the run or the cell is not there, a glob matches no cell that has ended, or nothing of the
    run can be read.

    Example: `show(ShowOptions(run="latest"), this_host()).outcomes`
    """
    results, name, cell = options.results, options.run, options.cell
    report_hidden_runs(results, host)
    if "/" in name and not cell:  # the id of a cell always holds one, the name of a run never does
        name, cell = _latest_with(results, name, host), name
    run, ended, problem = _ended(results, name, "" if cell else _HOW_TO_NAME_A_CELL, host)
    if cell:
        ended = tuple(each for each in ended if each.outcome.cell_id == cell)
        if not ended:
            unknown = f"{run.name}: no outcome of a cell {cell!r}; `orchestrator show {run.name}` lists them"
            raise InputError(*(problem.splitlines() or [unknown]))
    if problem and not ended:
        raise InputError(*problem.splitlines())
    selection = Selection(options.select, options.exclude)
    check_shown(selection, [(each.outcome.cell_id,) for each in ended], host)
    ended = tuple(each for each in ended if selection.takes(each.outcome.cell_id))
    return ShowResult(run, cell, ended, problem)


def _ended(results: Path, name: str, hint: str, host: Host) -> tuple[Run, tuple[EndedRepeat, ...], str]:
    """Return a run, the ends of its repeats, and the reason that more of it cannot be read."""
    cluster = find_cluster_run(results, name)
    whole = Run(cluster.folder) if cluster else find_run(results, name, hint)
    measured = [*counted_runs(cluster)] if cluster else [whole]
    recorded = index.recorded(results, host.cache, [run.name for run in measured])
    ended = (
        EndedRepeat(run, outcome) for run, of_run in zip(measured, recorded, strict=True) for outcome in of_run.outcomes
    )
    in_order = sorted(ended, key=lambda each: (each.outcome.cell_id, each.outcome.repeat, each.node))
    return whole, tuple(in_order), "\n".join(of_run.problem for of_run in recorded if of_run.problem)


def _is_script(run: Run, cell: str) -> bool:
    try:
        return any(each.id == cell and each.script is not None for each in run.plan().cells)
    except InputError:  # the outcomes of a run without a readable plan are shown all the same
        return False


def _latest_with(results: Path, cell: str, host: Host) -> str:
    """Return the latest run that holds an outcome of a cell.

    Raises `InputError` if there is none.
    """
    name = index.latest_with(results, host.cache, cell)
    if name is None:
        latest = find_cluster_run(results, "") or find_run(results, "")
        raise InputError(
            f"{results}: no run has an outcome of a cell {cell!r}; `orchestrator show {latest.name}` lists some"
        )
    return name.partition("/")[0]  # of a part, the run that it is of
