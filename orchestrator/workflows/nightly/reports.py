"""The reports of a night, the pages over all nights, and the notification of a webhook."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.build_settings import BuildSettings
from orchestrator.documents import json_text
from orchestrator.regression.history.acknowledged import AcknowledgedEntry
from orchestrator.regression.history.read import measured_cells
from orchestrator.regression.history.series import LEAST_POINTS, Series, series, series_of
from orchestrator.regression.nightly.files import WATCH_FOLDER, NightFiles
from orchestrator.regression.nightly.notify import post, shown
from orchestrator.regression.nightly.settings import WebhookEntry
from orchestrator.regression.nightly.state import Night, Posted
from orchestrator.regression.nightly.watch.whole import Watch
from orchestrator.regression.releases.package_index import proxies_for
from orchestrator.reporting.formats import HTML, render
from orchestrator.reporting.formats.html import INDEX, write_pages
from orchestrator.reporting.inline import Link
from orchestrator.reporting.reports.history.report import write_html as write_history
from orchestrator.reporting.reports.night.report import NIGHT, NIGHTS
from orchestrator.reporting.reports.watch.report import WATCH
from orchestrator.results.files.writing import write_atomically
from orchestrator.workflows.outputs import REGRESSION_FOLDER


def with_pages(files: NightFiles, results: Path, night: Night) -> Night:
    """Return a night with the page of each run, relative to the night's folder."""
    folder = files.night_folder(night.night)
    tried = []
    for trying in night.tried:
        page = results / trying.record.run / REGRESSION_FOLDER / INDEX
        exists = trying.record.run and page.exists()
        relative = Path(os.path.relpath(page, folder)).as_posix() if exists else ""
        tried.append(trying.model_copy(update={"page": relative}))
    return night.model_copy(update={"tried": tuple(tried)})


def write_reports(files: NightFiles, night: Night) -> Path:
    """Write the reports of a night, each wholly or not at all, and return the path of its page."""
    folder = files.night_folder(night.night)
    for name, format_ in (("report.md", "md"), ("junit.xml", "junit")):
        content = render(NIGHT, night, format_)
        write_atomically(folder / name, content)
        # Of the newest night, at a place that other programs need not look for.
        write_atomically(files.folder / name, content)
    write_atomically(folder / INDEX, render(NIGHT, night, HTML))
    return folder / INDEX


@dataclass(frozen=True)
class NightlyHistory:
    """The series of a nightly's results."""

    tracked: tuple[Series, ...]
    """The series that follow the newest release of each run."""
    every: frozenset[tuple[str, str, str]]
    """Name, metric and host of every series, including those of single releases."""


def nightly_history(results: Path, cache: Path, known: Sequence[AcknowledgedEntry]) -> NightlyHistory:
    """Read the series of a nightly's results, with the changes that are known in them."""
    measured = measured_cells(results, cache)
    tracked = (one for one in series(measured, known) if one.is_tracked and len(one.points) >= LEAST_POINTS)
    return NightlyHistory(tuple(tracked), series_of(measured))


def write_watch(watch: Watch, folder: Path) -> Path:
    """Write the page about the watch itself and return its path. Raises `HostError` if it cannot be written."""
    return write_pages(((INDEX, render(WATCH, watch, HTML)),), folder)


def write_overview(files: NightFiles, history: NightlyHistory) -> None:
    """Write the page that lists all nights, and the history next to it."""
    write_history(history.tracked, files.folder / "history", history.every)
    links = (
        Link("History: series over all nights", f"history/{INDEX}"),
        Link("Watch: the noise of the rig, and what alarms were worth", f"{WATCH_FOLDER}/{INDEX}"),
    )
    write_atomically(files.folder / INDEX, render(NIGHTS, (files.nights(), links), HTML))


def notify(
    webhook: WebhookEntry, told: Mapping[str, object], settings: BuildSettings, environment: Mapping[str, str]
) -> Posted:
    """Post the message of a night. Without the key that the webhook names, nothing is posted."""
    key = environment.get(webhook.secret_variable, "") if webhook.secret_variable else ""
    if webhook.secret_variable and not key:
        return Posted(
            url=shown(webhook.url),
            delivered=False,
            attempts=0,
            reason=f"{webhook.secret_variable} is not set: nothing was posted unsigned",
        )
    return post(
        webhook.url,
        json_text(told).encode(),
        key=key,
        timeout_s=webhook.timeout,
        attempts=webhook.attempts,
        proxies=proxies_for(webhook.url, settings),
        verify=settings.ca_bundle or True,
    )
