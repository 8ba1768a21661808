"""The report of a stored run, or of several side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import InputError
from orchestrator.planning import Selection
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import HTML, TABLE, render
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.run.page import write_html
from orchestrator.reporting.reports.side_by_side.columns import SideBySide, side_by_side
from orchestrator.reporting.reports.side_by_side.report import SIDE_BY_SIDE
from orchestrator.reporting.reports.side_by_side.report import write_html as write_side_by_side
from orchestrator.reporting.selected import selected
from orchestrator.results.files.writing import write_atomically
from orchestrator.results.store import Run
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import find_reported, report_of
from orchestrator.workflows.inputs.stored_runs import check_shown, report_hidden_runs
from orchestrator.workflows.outputs import REPORT_FOLDER, SEVERAL_FOLDER, WrittenPage, chosen_format, report_page


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """The options of `report`."""

    runs: Sequence[str] = ()
    """Names of runs or their beginnings, the latest by default. Several are compared side by side."""
    every: bool = False
    """Every run of the results folder."""
    results: Path = option_values.RESULTS
    """The results folder."""
    format: str | None = None
    """The name of a row of `orchestrator.reporting.formats.FORMATS`. By default the ending of `output` names it."""
    select: tuple[str, ...] = ()
    """Globs over the ids of cells: only these are shown. Ranks and verdicts stay those of the whole run."""
    exclude: tuple[str, ...] = ()
    """Globs over the ids of cells that are not shown."""
    output: Path | None = None
    """File to write, or the folder of a page. By default pages go next to the results, and nothing else is written."""


@dataclass(frozen=True, slots=True)
class ReportResult:
    """The reports of one or more runs."""

    runs: tuple[Run, ...]
    reports: tuple[Report, ...]
    """A report for each run, of the selected cells."""
    side_by_side: SideBySide | None
    """The comparison of several runs. None for one run."""
    format: str
    """The format that was chosen."""
    page: Path | None = None
    """The page, if one was written."""
    problems: tuple[str, ...] = ()
    """The reasons that pages of single runs could not be written."""

    def render(self, format_: str) -> str:
        """Return the report as text in a format. For `html`, its first page."""
        if self.side_by_side is not None:
            return render(SIDE_BY_SIDE, self.side_by_side, format_)
        return render(RUN, self.reports[0], format_)


def report(options: ReportOptions, host: Host) -> ReportResult:
    """Read the report of stored runs, and write it if that is asked for.

    The page of a single run is written for the formats `table` and `html`.
    It is that of every cell, whatever is selected; a page of selected cells needs an output.
    Raises `InputError` if a run is not there, a glob matches no cell, or the output cannot be what it is asked to be.
    Raises `HostError` if the output cannot be written.

    Example: `report(ReportOptions(every=True, format="csv"), this_host()).render("csv")`
    """
    format_ = chosen_format(RUN, options.format, options.output)
    selection = Selection(options.select, options.exclude)
    if format_ == HTML and options.output is None and not selection.takes_all:
        raise InputError(f"--format html with {selection.options} needs -o DIR: the folder of a run has its whole page")
    report_hidden_runs(options.results, host)
    runs = tuple(find_reported(options.results, options.runs, every=options.every))
    whole = tuple(report_of(run) for run in runs)
    reports = _selected(whole, selection, host)
    compared = side_by_side(reports) if len(runs) > 1 else None
    result = ReportResult(runs, reports, compared, format_)
    page, problems = _pages(result, whole, options)
    if options.output is not None and format_ != HTML:
        write_atomically(options.output, result.render(format_))
    return ReportResult(runs, reports, compared, format_, page, problems)


def _selected(whole: tuple[Report, ...], selection: Selection, host: Host) -> tuple[Report, ...]:
    """Return the selected part of each report. Raises `InputError` if a glob matches no cell of any."""
    if selection.takes_all:
        return whole
    cells = [(cell.cell.id,) for report in whole for cell in report.cells]
    check_shown(selection, cells, host, [skip for report in whole for skip in report.skips])
    return tuple(selected(report, selection) for report in whole)


def _pages(
    result: ReportResult, whole: Sequence[Report], options: ReportOptions
) -> tuple[Path | None, tuple[str, ...]]:
    """Write the pages that a format brings with it. Return the one to open, and the problems of the others."""
    if result.side_by_side is not None:
        if result.format != HTML:
            return None, ()
        pages = [report_page(run, report) for run, report in zip(result.runs, whole, strict=True)]
        folder = options.output or options.results / SEVERAL_FOLDER
        return write_side_by_side(result.side_by_side, folder, [page.path for page in pages]), _problems(pages)
    run, report = result.runs[0], result.reports[0]
    if result.format == HTML:
        return write_html(report, options.output or run.folder / REPORT_FOLDER, run.folder), ()
    if result.format != TABLE or options.output is not None:
        return None, ()
    page = report_page(run, whole[0])
    return page.path, _problems([page])


def _problems(pages: Sequence[WrittenPage]) -> tuple[str, ...]:
    return tuple(page.problem for page in pages if page.problem)
