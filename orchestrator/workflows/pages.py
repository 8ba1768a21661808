"""The pages that workflows write, and the folders they go to."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import HostError
from orchestrator.regression.model import Regression
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.reports.regression import write_html as write_regression
from orchestrator.reporting.reports.run.page import write_html
from orchestrator.results.store import Run

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


def regression_page(run: Run, regression: Regression) -> WrittenPage:
    """Write the page of a regression test into the folder of its run."""
    return page_of(lambda: write_regression(regression, run.folder / REGRESSION_FOLDER))
