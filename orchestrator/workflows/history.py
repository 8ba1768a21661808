"""The history of a results folder, as series with their changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.catalog import idle_builders
from orchestrator.clusters.folder import cluster_runs, counted_runs
from orchestrator.errors import InputError, did_you_mean
from orchestrator.planning.selection import Selection, matches
from orchestrator.regression.history.acknowledged import load_acknowledged
from orchestrator.regression.history.read import measured_cells
from orchestrator.regression.history.series import LEAST_POINTS, MeasuredCell, Series, series, series_of
from orchestrator.regression.rules import BY_NAME
from orchestrator.reporting.formats import HTML, TABLE, render
from orchestrator.reporting.reports.history.report import HISTORY, write_html
from orchestrator.results.files.writing import write_atomically
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.stored_runs import report_hidden_runs
from orchestrator.workflows.outputs import chosen_format, named_by

ALL_METRICS = "all"
PAGE_FOLDER = "history"
"""In the results folder: the pages of all series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """The options of `history`."""

    results: Path = option_values.RESULTS
    """The results folder."""
    select: tuple[str, ...] = ()
    """Globs of the names of series, as in `mxnet-*/lenet-*`. Empty for all."""
    exclude: tuple[str, ...] = ()
    """Globs over the names of series that are not shown."""
    metrics: tuple[str, ...] = option_values.HISTORY_METRICS
    """Names of metrics, or `all`."""
    host: str = ""
    """The host of the series. Empty for all."""
    by_release: bool = False
    """True to include the series of each release, next to those that follow the newest one."""
    acknowledged: Path | None = None
    """The file of known changes."""
    min_effect: float = option_values.MIN_EFFECT
    """The smallest change that is looked for, as a share."""
    format: str | None = None
    """The name of a row of `orchestrator.reporting.formats.FORMATS`. By default the ending of `output` names it."""
    output: Path | None = None
    """File to write, or the folder of the pages if nothing names a format. By default they go next to the results."""


@dataclass(frozen=True, slots=True)
class HistoryResult:
    """The series of a results folder."""

    series: tuple[Series, ...]
    """The series that were selected, and that have enough points."""
    selected: int
    """The number of series that were selected."""
    every: frozenset[tuple[str, str, str]]
    """Name, metric and host of every series that the folder has."""
    format: str
    """The format that was chosen."""
    has_pages: bool
    """True if the format comes with pages. They are written unless series were selected and none can be shown."""
    page: Path | None = None
    """The page to open, if one was written."""


def history(options: HistoryOptions, host: Host) -> HistoryResult:
    """Read the series of a results folder, and write them if that is asked for.

    Pages are written for the formats `table` and `html`.
    Raises `InputError` with every mistake, and `HostError` if the output cannot be written.

    Example: `history(HistoryOptions(metrics=("all",)), this_host()).series`
    """
    format_, has_pages = _format(options)
    if not options.results.is_dir():
        raise InputError(
            f"{options.results}: no such folder; `orchestrator run` makes one, --results DIR looks elsewhere"
        )
    known = load_acknowledged(options.acknowledged)
    metrics = _metrics(options.metrics)
    report_hidden_runs(options.results, host)
    measured = _counting(measured_cells(options.results, host.cache), options.results, host)
    every = series(measured, known, min_effect=options.min_effect, metrics=metrics, idle_builders=idle_builders())
    selected = _selected(every, options)
    shown = (one for one in selected if one.is_tracked or options.by_release)
    long_enough = tuple(one for one in shown if len(one.points) >= LEAST_POINTS)
    result = HistoryResult(long_enough, len(selected), series_of(measured), format_, has_pages)
    return _written(result, options)


def _counting(measured: Sequence[MeasuredCell], results: Path, host: Host) -> tuple[MeasuredCell, ...]:
    """Return the cells without those of parts that another node has measured as a whole.

    Say which runs on a cluster have records that cannot be read, and leave out their cells.
    """
    counted: set[str] = set()
    for cluster in cluster_runs(results):
        try:
            counted |= {run.name for run in counted_runs(cluster)}
        except InputError as error:
            host.say(f"the parts of {cluster.name} are left out: {error}")
    return tuple(cell for cell in measured if "/" not in cell.run or cell.run in counted)


def _format(options: HistoryOptions) -> tuple[str, bool]:
    """Return the format, and True if it comes with pages. Raises `InputError` if the output cannot be in it."""
    if options.format is None and named_by(options.output) is None:
        return TABLE, True
    format_ = chosen_format(HISTORY, options.format, options.output)
    return format_, format_ == HTML or (format_ == TABLE and options.output is None)


def _written(result: HistoryResult, options: HistoryOptions) -> HistoryResult:
    """Write the pages of the series or the file that is asked for. Return the result with its page."""
    if result.has_pages:
        if result.selected and not result.series:
            return result
        if options.output is not None:
            return replace(result, page=write_html(result.series, options.output))
        return replace(result, page=write_html(result.series, options.results / PAGE_FOLDER, result.every))
    if options.output is not None:
        write_atomically(options.output, render(HISTORY, result.series, result.format))
    return result


def _metrics(names: Sequence[str]) -> Sequence[str] | None:
    """Return the metrics to show, or None for all. Raises `InputError` for unknown ones."""
    if ALL_METRICS in names:
        return None
    mistakes = [
        f"--metric {name!r}: unknown{did_you_mean(name, tuple(BY_NAME))}" for name in names if name not in BY_NAME
    ]
    if mistakes:
        raise InputError(*mistakes)
    return names


def _selected(every: Sequence[Series], options: HistoryOptions) -> list[Series]:
    """Return the series of a host whose names match. Raises `InputError` for a host or glob without any."""
    host = options.host
    if host and all(one.host != host for one in every):
        raise InputError(
            f"--host {host!r}: no series of it here{did_you_mean(host, _distinct(one.host for one in every))}"
        )
    of_host = [one for one in every if not host or one.host == host]
    mistakes = [
        f"--select {glob!r} matches no series{did_you_mean(glob, _distinct(one.name for one in of_host))}"
        for glob in options.select
        if not any(matches(glob, one.name) for one in of_host)
    ]
    if mistakes:
        raise InputError(*mistakes)
    selection = Selection(options.select, options.exclude)
    return [one for one in of_host if selection.takes(one.name)]


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
