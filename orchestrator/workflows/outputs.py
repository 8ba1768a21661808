"""The outputs of workflows: the format of a report, by its name or by the ending of its file, and the pages written."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import HostError, InputError
from orchestrator.regression.model import Regression
from orchestrator.reporting.document import Content, Kind
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import FORMATS, HTML, TABLE, formats_of, render
from orchestrator.reporting.reports.regression.report import REGRESSION
from orchestrator.reporting.reports.regression.report import write_html as write_regression
from orchestrator.reporting.reports.run.page import write_html
from orchestrator.results.files.writing import write_atomically
from orchestrator.results.store import Run

ENDINGS = {ending: each.name for each in FORMATS for ending in each.endings}
"""The ending of a file and the format that it names. A file of any other ending may hold any format."""

ALSO = {each.name: each.also for each in FORMATS}


def named_by(output: Path | None) -> str | None:
    """Return the format that the ending of `-o` names, None if there is none or a folder is there."""
    return ENDINGS.get(output.suffix.lower()) if output is not None and not output.is_dir() else None


def chosen_format(kind: Kind[Content], given: str | None, output: Path | None, option: str = "--format") -> str:
    """Return the named format, or the one that the ending of `-o` names. `option` is the option that named it.

    Raises `InputError` if there is no such format, if the two contradict each other, or if nothing can be written to
    `-o`.
    """
    if given is not None and given not in formats_of(kind):
        raise InputError(f"--format {given!r}: unknown; there is {', '.join(formats_of(kind))}")
    named = named_by(output)
    if output is not None and named is not None:
        _check_ending(formats_of(kind), given, output, named, option)
    name = given or named or TABLE
    if output is not None and name != HTML:
        check_file(output)
    return name


def check_file(output: Path) -> None:
    """Raise `InputError` if a file cannot be made at `output`."""
    if output.is_dir():
        raise InputError(f"-o {output}: is a folder; name a file in it")
    folder = output.parent
    if folder.is_dir():
        return
    if folder.exists() or folder.is_symlink():
        raise InputError(f"-o {output}: {folder} is no folder; choose another place")
    raise InputError(f"-o {output}: there is no folder {folder}; create it first: mkdir -p {folder}")


def _check_ending(formats: tuple[str, ...], given: str | None, output: Path, named: str, option: str) -> None:
    if given is not None and output.suffix.lower() in ALSO.get(given, ()):
        return
    if given is not None and given != named:
        raise InputError(f"-o {output}: its ending says {named}, not {given}: drop {option}, or rename the file")
    if named not in formats:
        raise InputError(f"-o {output}: this command writes no {named}; there is {', '.join(formats)}")
    if named == HTML:
        raise InputError(
            f"-o {output}: a page is a folder with {output.stem}/index.html in it; "
            f"write --format html -o {output.with_suffix('')}"
        )


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
