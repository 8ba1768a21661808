"""The state of the watch: its heartbeat, the quiet of its rig, and what its alarms were worth."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.watch.whole import Watch, watch
from orchestrator.reporting.formats import HTML, TABLE, render
from orchestrator.reporting.reports.watch.report import WATCH
from orchestrator.results.files.writing import write_atomically
from orchestrator.workflows import option_values
from orchestrator.workflows.nightly.reports import write_watch
from orchestrator.workflows.nightly.settings import load_nightly
from orchestrator.workflows.outputs import WrittenPage, chosen_format, page_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusOptions:
    """The options of `status`."""

    file: Path = option_values.NIGHTLY_FILE
    """The package that is watched, and the way it is measured."""
    format: str = TABLE
    """The name of a row of `orchestrator.reporting.formats.FORMATS`."""
    output: Path | None = None
    """File to write, or the folder of the page."""


@dataclass(frozen=True, slots=True)
class StatusResult:
    """The state of the watch with its page."""

    watch: Watch
    format: str
    page: WrittenPage = field(default_factory=WrittenPage)

    @property
    def exit_code(self) -> int:
        """Return 1 if there was no result for so many nights that this is an alarm, or else 0."""
        return int(self.watch.heartbeat.is_silent)


def status(options: StatusOptions) -> StatusResult:
    """Read what the nights say of the watch, and write its page. It measures nothing, and needs no lock.

    Raises `InputError` with every mistake in the settings, and if the state cannot be read.

    Example: `status(StatusOptions()).watch.heartbeat.is_silent`
    """
    nightly = load_nightly(options.file)
    files = NightFiles(nightly.reports)
    state = files.state(nightly.watched)
    found = watch(state, files.nights(), datetime.now(UTC), nightly.settings.heartbeat)
    format_ = chosen_format(WATCH, options.format, options.output)
    if format_ not in {HTML, TABLE} and options.output is not None:
        write_atomically(options.output, render(WATCH, found, format_))
        return StatusResult(found, format_)
    if format_ in {HTML, TABLE} and files.folder.is_dir():
        folder = options.output if format_ == HTML and options.output is not None else files.watch_folder
        return StatusResult(found, format_, page_of(lambda: write_watch(found, folder)))
    return StatusResult(found, format_)
