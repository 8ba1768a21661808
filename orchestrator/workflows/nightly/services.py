"""What a night does its work with on this host: trials, the package index, the reports, the webhook, the images."""

import contextlib
import os
import platform
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.bundles.read import registry
from orchestrator.domain import BuildSettings
from orchestrator.encoded import json_text
from orchestrator.engine import images as engine
from orchestrator.engine.client import connect
from orchestrator.errors import HostError
from orchestrator.images import labels
from orchestrator.images.surplus import given_up
from orchestrator.regression.history.acknowledged import AcknowledgedEntry
from orchestrator.regression.history.read import measured_cells
from orchestrator.regression.history.series import LEAST_POINTS, Series, series, series_of
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.loading import Nightly
from orchestrator.regression.nightly.notify import message, post, shown
from orchestrator.regression.nightly.state import Night, Posted
from orchestrator.regression.pairing import PlanInputs
from orchestrator.regression.releases.package_index import proxies_for
from orchestrator.reporting.formats import HTML, render
from orchestrator.reporting.formats.html import INDEX
from orchestrator.reporting.reports.history import write_html as write_history
from orchestrator.reporting.reports.night import NIGHT, NIGHTS
from orchestrator.reporting.sentences import Link
from orchestrator.results.writing import write_atomically
from orchestrator.running import active_runs
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.pages import REGRESSION_FOLDER


@dataclass
class Budget:
    """Sets the stop of a night when its time is over; a signal sets the same one."""

    stop: threading.Event
    is_spent: bool = False

    def _spend(self) -> None:
        self.is_spent = True
        self.stop.set()

    @property
    def is_interrupted(self) -> bool:
        """Whether a signal came, rather than the end of the budget."""
        return self.stop.is_set() and not self.is_spent

    @contextlib.contextmanager
    def running(self, seconds: float | None) -> Iterator[None]:
        """Let the time run until the context ends."""
        timer = threading.Timer(seconds, self._spend) if seconds is not None else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()


def with_pages(files: NightFiles, nightly: Nightly, night: Night) -> Night:
    """Say of every release where the page of its run is, as seen from the night's folder."""
    folder = files.night_folder(night.night)
    tried = []
    for trying in night.tried:
        page = nightly.results / trying.record.run / REGRESSION_FOLDER / INDEX
        there = Path(os.path.relpath(page, folder)).as_posix() if trying.record.run and page.exists() else ""
        tried.append(trying.model_copy(update={"page": there}))
    return night.model_copy(update={"tried": tuple(tried)})


def report(files: NightFiles, night: Night) -> Path:
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
class History:
    """All that was measured on all nights."""

    tracked: tuple[Series, ...]
    """The series that follow the newest release of each night."""
    there: frozenset[tuple[str, str, str]]
    """Name, metric and host of every series, of single releases too."""


def history(nightly: Nightly, known: Sequence[AcknowledgedEntry], host: Host) -> History:
    """Read the history of a nightly's results, with the changes that are known in it."""
    measured = measured_cells(nightly.results, host.cache)
    tracked = (one for one in series(measured, known) if one.is_tracked and len(one.points) >= LEAST_POINTS)
    return History(tuple(tracked), series_of(measured))


def list_nights(files: NightFiles, found: History) -> None:
    """Write the page that lists all nights, and the history beside it."""
    write_history(found.tracked, files.folder / "history", found.there)
    links = (Link("History: series over all nights", f"history/{INDEX}"),)
    write_atomically(files.folder / INDEX, render(NIGHTS, (files.nights(), links), HTML))


def tell(nightly: Nightly, night: Night, page: Path, settings: BuildSettings, host: Host) -> Posted | None:
    """Post a night; None where nobody asked for it."""
    webhook = nightly.asked.webhook
    if webhook is None:
        return None
    body = json_text(message(night, str(page))).encode()
    key = host.environment.get(webhook.secret_variable, "") if webhook.secret_variable else ""
    if webhook.secret_variable and not key:
        return Posted(
            url=shown(webhook.url),
            delivered=False,
            attempts=0,
            reason=f"{webhook.secret_variable} is not set: nothing was posted unsigned",
        )
    return post(
        webhook.url,
        body,
        key=key,
        timeout_s=webhook.timeout,
        attempts=webhook.attempts,
        proxies=proxies_for(webhook.url, settings),
        verify=settings.ca_bundle or True,
    )


def drop_images(references: tuple[str, ...], host: Host) -> tuple[str, ...]:
    """Remove images by their references, with environments that nothing else needs; give the names that went."""
    if not references:
        return ()
    try:
        client = connect(host.environment)
        with contextlib.closing(client):
            needed = active_runs.images_in_use(host.cache).references
            bundles = registry.registered(host.bundles).values()
            carried = frozenset(image.image_id for bundle in bundles for image in bundle.record.images)
            found = given_up(engine.labelled(client, labels.KIND), references, needed | carried)
            return tuple(name for image in found for name in image.names if engine.remove(client, name))
    except HostError as error:
        host.say(f"images were left: {error}")
        return ()


def index_settings(nightly: Nightly, known: PlanInputs, settings: BuildSettings) -> BuildSettings:
    """Where the watched distribution comes from: the framework's own index, where the catalog names one."""
    asked = nightly.asked
    entry = known.catalog.entry(nightly.name) if asked.package is None else None
    own = next((release.cpu_index for release in entry.releases if release.cpu_index), None) if entry else None
    if own is None or settings.no_index:
        return settings
    return replace(settings, extra_indexes=(*settings.extra_indexes, own))


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def hostname() -> str:
    """Return this host's name."""
    return platform.node()
