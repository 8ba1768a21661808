"""What a night does its work with on this host: trials, the package index, the reports, the webhook, the images."""

import contextlib
import os
import platform
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from orchestrator import matrix
from orchestrator.bundles import loaded as loaded_bundles
from orchestrator.catalog import UnsupportedError, load_faults
from orchestrator.cli import jobs, pairs, places
from orchestrator.cli.beginning import Setting, begun
from orchestrator.cli.jobs import Job
from orchestrator.cli.runtime import RuntimeName
from orchestrator.cli.verdicts import PAGE_FOLDER
from orchestrator.domain import BuildSettings, Framework, Status
from orchestrator.encoded import json_text
from orchestrator.engine import images as engine
from orchestrator.engine.client import connect
from orchestrator.errors import HostError, InputError
from orchestrator.events import Listener, Notice
from orchestrator.images import labels
from orchestrator.images.surplus import given_up
from orchestrator.matrix import pins
from orchestrator.planning import Selection
from orchestrator.regression import Known, Rules, Trial, carry_out, looks_up_to, store_trial, stored_trial
from orchestrator.regression.history import LEAST_POINTS, series, series_of
from orchestrator.regression.measured_nights import measured_nights
from orchestrator.regression.metrics import Gate
from orchestrator.regression.night import Measured
from orchestrator.regression.night_files import NightFiles
from orchestrator.regression.night_model import Night, Posted, Tonight
from orchestrator.regression.nightly_file import AcknowledgedEntry
from orchestrator.regression.nightly_loading import Nightly
from orchestrator.regression.releases import Release
from orchestrator.regression.webhook import message, post
from orchestrator.reporting.histories_as_html import write_html as write_history
from orchestrator.reporting.nights_as_html import night_html, nights_html
from orchestrator.reporting.nights_as_text import junit_text, markdown
from orchestrator.reporting.pages import INDEX
from orchestrator.reporting.regressions_as_html import write_html
from orchestrator.resources import IMAGES
from orchestrator.results.store import Run, write_atomically
from orchestrator.running import Policy, presence


@dataclass(frozen=True)
class Trials:
    """Carries out the trial of one release after the other."""

    nightly: Nightly
    matrix: matrix.Matrix
    known: Known
    gates: tuple[Gate, ...]
    site: pairs.Site
    listener: Listener
    stop: threading.Event
    idle_wait_s: float

    def refused(self, release: Release) -> str:
        """Why no Python of the catalog's environment takes a release; empty where one does, or nobody can tell."""
        pin = pins.parse(self.nightly.asked.watch)
        version = release.version if self.nightly.asked.package is None else pin.version or ""
        backend = Framework(pin.backend.name, pin.backend.version or "") if pin.backend else None
        try:
            pythons = self.known.catalog.pythons(Framework(pin.name, version, backend))
        except UnsupportedError:
            return ""
        if any(release.runs_on(python) for python in pythons):
            return ""
        asked = " or ".join(release.requires_python)
        return f"{self.nightly.name} {release.version} asks for Python {asked}; the catalog has {', '.join(pythons)}"

    def measure(self, tonight: Tonight, told: Callable[[str], None]) -> Measured:
        """Measure a release against its baseline, or go on with it where its run has begun."""
        job, trial = self._again(tonight) or self._new(tonight)
        told(job.run.name)
        policy = Policy(job.plan.seed, extra_repeats=1)
        setting = Setting(self.listener, self.stop, self.idle_wait_s, keep=lambda run: store_trial(run, trial))
        with begun(job, setting) as surroundings:
            found = carry_out(trial, surroundings, policy, load_faults(IMAGES / "known_faults.yaml"))
        write_html(found, job.run.folder / PAGE_FOLDER)
        plan = job.run.plan()
        candidates = {pair.candidate for pair in trial.pairs}
        cells = tuple(cell for cell in plan.cells if cell.id in candidates)
        images = {cell.image for cell in cells}
        return Measured(
            found,
            tuple(job.run.outcomes(cells)),
            tuple(
                made.reference
                for made in job.run.environments().environments
                if made.image in images and made.status is Status.OK and made.reference and made.image_id
            ),
        )

    def _again(self, tonight: Tonight) -> tuple[Job, Trial] | None:
        """The run that was under way; None where there is none, or this host cannot go on with it."""
        run = Run(self.nightly.results / tonight.run)
        if not tonight.run or not run.has_begun:
            return None
        try:
            job = jobs.resumed(self.nightly.results, run.name, RuntimeName.AUTO, self.site.base_image, changed=False)
            return job, stored_trial(run)
        except InputError as error:
            self.listener(Notice(f"begun anew: {error}"))
            return None

    def _new(self, tonight: Tonight) -> tuple[Job, Trial]:
        asked, where = self.nightly.asked, self.nightly.path
        sides = (
            pairs.side(self.nightly.side(tonight.baseline), f"{where}: baseline"),
            pairs.side(self.nightly.side(tonight.release), f"{where}: candidate"),
        )
        selection = Selection(asked.select or (), asked.exclude or ())
        found = pairs.paired(self.matrix, self.known, sides, selection, self.site)
        rules = Rules(gates=self.gates, looks=looks_up_to(asked.max_blocks, "max_blocks"))
        return pairs.new_job(
            self.matrix, self.known, found, rules, (self.nightly.results, RuntimeName(asked.runtime), self.site)
        )


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


def report(files: NightFiles, nightly: Nightly, night: Night) -> Path:
    """Write the reports of a night, each wholly or not at all, and return the path of its page."""
    folder = files.night_folder(night.night)
    pages = {
        trying.record.run: nightly.results / trying.record.run / PAGE_FOLDER / INDEX
        for trying in night.tried
        if trying.record.run
    }
    write_atomically(folder / "report.md", markdown(night))
    write_atomically(folder / "junit.xml", junit_text(night))
    write_atomically(folder / INDEX, night_html(night, folder, pages))
    return folder / INDEX


def list_nights(files: NightFiles, nightly: Nightly, known: Sequence[AcknowledgedEntry]) -> None:
    """Write the page that lists all nights, and the history beside it."""
    nights = measured_nights(nightly.results, places.cache_folder())
    tracked = [one for one in series(nights, known) if one.is_tracked and len(one.points) >= LEAST_POINTS]
    write_history(tracked, files.folder / "history", series_of(nights))
    links = [("History: series over all nights", f"history/{INDEX}")]
    write_atomically(files.folder / INDEX, nights_html(files.nights(), links))


def tell(nightly: Nightly, night: Night, page: Path, settings: BuildSettings) -> Posted | None:
    """Post a night; None where nobody asked for it."""
    webhook = nightly.asked.webhook
    if webhook is None:
        return None
    body = json_text(message(night, str(page))).encode()
    key = os.environ.get(webhook.secret_variable, "") if webhook.secret_variable else ""
    if webhook.secret_variable and not key:
        return Posted(
            url="",
            delivered=False,
            attempts=0,
            reason=f"{webhook.secret_variable} is not set: nothing was posted unsigned",
        )
    given = {"verify": settings.ca_bundle} if settings.ca_bundle else {}
    return post(webhook.url, body, key=key, timeout_s=webhook.timeout, attempts=webhook.attempts, settings=given)


def drop_images(references: tuple[str, ...], listener: Listener) -> tuple[str, ...]:
    """Remove images by their references, with environments that nothing else needs; give the names that went."""
    if not references:
        return ()
    try:
        client = connect(os.environ)
        with contextlib.closing(client):
            needed = presence.needed(places.cache_folder()).references
            bundles = loaded_bundles.registered(places.bundles_folder()).values()
            carried = frozenset(image.image_id for bundle in bundles for image in bundle.record.images)
            found = given_up(engine.labelled(client, labels.KIND), references, needed | carried)
            return tuple(name for image in found for name in image.names if engine.remove(client, name))
    except HostError as error:
        listener(Notice(f"images were left: {error}"))
        return ()


def index_settings(nightly: Nightly, known: Known, settings: BuildSettings) -> BuildSettings:
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


def host() -> str:
    """This host's name."""
    return platform.node()
