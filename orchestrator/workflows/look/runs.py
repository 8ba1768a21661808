"""The runs of a results folder, and the ends of their repeats."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator.domain import Outcome
from orchestrator.errors import InputError
from orchestrator.planning import Selection
from orchestrator.results.contract import Result
from orchestrator.results.evidence import read_repeat
from orchestrator.results.listing import index
from orchestrator.results.listing.index import RunSummary
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.results.store import Run
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import listed_clusters
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
class ShowResult:
    """The ends of a run's repeats."""

    run: Run
    cell: str
    """The cell that was chosen. Empty for all cells."""
    outcomes: tuple[Outcome, ...]
    problem: str = ""
    """The reason that more of the run cannot be read."""

    is_script: bool = False
    """True if the chosen cell is a script."""

    def result(self, outcome: Outcome) -> tuple[Result | ScriptResult | None, str]:
        """Read the result of a repeat, or the reason it is not readable."""
        stored = read_repeat(self.run, outcome, of_script=self.is_script)
        return stored.printed or stored.result, stored.outcome.reason if stored.rotten else ""


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
    run = find_run(results, name, "" if cell else _HOW_TO_NAME_A_CELL)
    outcomes = index.outcomes(results, host.cache, run.name)
    problem = index.problem(results, host.cache, run.name)
    if cell:
        outcomes = tuple(outcome for outcome in outcomes if outcome.cell_id == cell)
        if not outcomes:
            raise InputError(
                problem or f"{run.name}: no outcome of a cell {cell!r}; `orchestrator show {run.name}` lists them"
            )
    if problem and not outcomes:
        raise InputError(problem)
    selection = Selection(options.select, options.exclude)
    check_shown(selection, [(outcome.cell_id,) for outcome in outcomes], host)
    outcomes = tuple(outcome for outcome in outcomes if selection.takes(outcome.cell_id))
    return ShowResult(run, cell, outcomes, problem or "", _is_script(run, cell))


def _is_script(run: Run, cell: str) -> bool:
    try:
        return any(each.id == cell and each.script is not None for each in run.plan().cells)
    except InputError:  # the outcomes of a run without a readable plan are shown all the same
        return False


def _latest_with(results: Path, cell: str, host: Host) -> str:
    """Return the latest run that holds an outcome of a cell.

    Raises `InputError` if there is none.
    """
    latest = find_run(results, "").name
    name = index.latest_with(results, host.cache, cell)
    if name is None:
        raise InputError(
            f"{results}: no run has an outcome of a cell {cell!r}; `orchestrator show {latest}` lists some"
        )
    return name
