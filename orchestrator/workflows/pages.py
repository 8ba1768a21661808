"""The pages that workflows write, and the folders they go to."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import HostError
from orchestrator.regression.model import Regression
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import HTML, render
from orchestrator.reporting.reports.regression import REGRESSION
from orchestrator.reporting.reports.regression import write_html as write_regression
from orchestrator.reporting.reports.run.page import write_html
from orchestrator.results.store import Run
from orchestrator.results.writing import write_atomically

REPORT_FOLDER = "report"
"""In a run's folder: the page of its report."""
SEVERAL_FOLDER = "side-by-side"
"""In the results folder: the page of several runs."""
REGRESSION_FOLDER = "regression"
"""In a run's folder: the page of its regression test."""


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page next to stored results, or the reason there is none."""

    path: Path | None = None
    problem: str = ""
    """The reason. Results of a colleague may be read only, and are worth reading all the same."""


def page_of(write: Callable[[], Path]) -> WrittenPage:
    """Write a page. A folder that cannot be written to is part of the result."""
    try:
        return WrittenPage(write())
    except HostError as error:
        return WrittenPage(problem=str(error))


def report_page(run: Run, report: Report) -> WrittenPage:
    """Write the page of a run's report into its folder."""
    return page_of(lambda: write_html(report, run.folder / REPORT_FOLDER, run.folder))


def write_to(output: Path | None, regression: Regression, format_: str, own: WrittenPage) -> WrittenPage:
    """Write a regression test to a file, or its page to a folder, if there is an output. Return the page to open.

    `own` is the page in the folder of its run. Raises `HostError` if the output cannot be written.
    """
    if output is None:
        return own
    if format_ == HTML:
        return WrittenPage(write_regression(regression, output))
    write_atomically(output, render(REGRESSION, regression, format_))
    return own


def regression_page(run: Run, regression: Regression) -> WrittenPage:
    """Write the page of a regression test into the folder of its run."""
    return page_of(lambda: write_regression(regression, run.folder / REGRESSION_FOLDER))
