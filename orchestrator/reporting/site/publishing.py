"""A site from the runs of a results folder, of which only what is new or has changed is read."""

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import __version__
from orchestrator.errors import InputError
from orchestrator.reporting.site.axes import AXES
from orchestrator.reporting.site.courses import SeriesQuestion, courses
from orchestrator.reporting.site.encoding import Document, compact, decoded, digest, script
from orchestrator.reporting.site.figures import ORDER
from orchestrator.reporting.site.folder import INDEX, PublishedRun, SiteFolder, open_folder
from orchestrator.reporting.site.front import front_files, page
from orchestrator.reporting.site.kept_records import claims_document
from orchestrator.reporting.site.overall import Overall, StoredRun, overall
from orchestrator.reporting.site.run_data import run_files
from orchestrator.results.listing.stamps import opened, stamp, stamped_checks
from orchestrator.results.store import Run
from orchestrator.wording import clean_line

_VERSION = f"2 {__version__} {' '.join((*AXES, *ORDER))}"
"""Changes if the same files of a run would be published in another way."""
_RECORDS = ("run.json", "environments.json", "regression.json")


@dataclass(frozen=True, slots=True)
class RunToPublish:
    """A run with the name of the run on a cluster that it is part of, if it is part of one."""

    run: Run
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class SiteContent:
    """The sources of a site."""

    runs: Sequence[RunToPublish]
    nights: Document
    searches: Document
    question: SeriesQuestion
    results: str
    """The option that names the results folder in commands; empty for the default one."""
    folder: str
    """The results folder, as it was named."""


@dataclass(frozen=True, slots=True)
class Published:
    """A site that was written."""

    page: Path
    runs: int
    read: int
    """Runs that were read, because they are new or have changed."""
    repeats: int
    """Repeats that ended well."""
    written: int
    """Files that were written."""
    size_bytes: int
    problems: tuple[str, ...]
    """The reasons that runs could not be read."""


def publish(site: SiteContent, folder: Path, say: Callable[[str], None], *, whole: bool = False) -> Published:
    """Write a site into a folder, or bring the one that is there up to date.

    With `whole`, every run is read again. Raises `InputError` if the folder holds something else, and `HostError` if
    it cannot be written.
    """
    place = open_folder(folder, _VERSION, whole=whole)
    stored, published, read, problems = _runs(site.runs, place, say)
    stored.sort(key=lambda run: (run.document["created"], run.document["run"]))
    every = overall(stored)
    series = _series(stored, site.question, place)
    shared = {"series": series, "claims": claims_document(stored), "problems": problems}
    index = _index(every, site, shared, place)
    for name, content in front_files():
        place.put(name, content)
    size = place.complete(page(index), published, series)
    repeats = sum(every.index["runs"]["ok"])
    return Published(folder / INDEX, len(stored), read, repeats, place.written, size, tuple(problems))


def _runs(
    runs: Sequence[RunToPublish], place: SiteFolder, say: Callable[[str], None]
) -> tuple[list[StoredRun], dict[str, PublishedRun], int, list[str]]:
    """Return every run with its document, read again only if a file of it has changed."""
    kept = {each.run.name: document for each in runs if (document := _kept(place, each.run)) is not None}
    if len(runs) - len(kept) > 1:
        say(f"reading {len(runs) - len(kept):,} of {len(runs):,} runs")
    stored: list[StoredRun] = []
    published: dict[str, PublishedRun] = {}
    problems: list[str] = []
    for each in runs:
        name = each.run.name
        document = kept.get(name)
        if document is not None:
            stored.append(StoredRun(place.runs[name].file, document))
            published[name] = place.runs[name]
            continue
        try:
            new, stamped = _read(each, place)
        except (InputError, OSError) as error:
            text = clean_line(str(error))
            problems.append(text if name in text else f"{name}: {text}")
            continue
        stored.append(new)
        published[name] = PublishedRun(stamped, new.file)
    return stored, published, len(runs) - len(kept), problems


def _read(each: RunToPublish, place: SiteFolder) -> tuple[StoredRun, str]:
    """Read a run and add its files. Return it with the stamp that its files had before."""
    plan = each.run.plan()
    stamped = _stamp(each.run.folder, [(cell.id, cell.repeats) for cell in plan.cells], has_checks=plan.parity)
    made = run_files(each.run, each.cluster)
    for of_details, details in made.details.items():
        place.add(of_details, details)
    text = compact(made.document)
    file = f"r-{digest(text)}"
    place.add(file, script(file, text))
    return StoredRun(file, made.document), stamped


def _kept(place: SiteFolder, run: Run) -> Document | None:
    """Return the document of a run that has not changed since it was published, with all its files still there."""
    before = place.runs.get(run.name)
    document = place.read(before.file) if before else None
    if before is None or document is None:
        return None
    try:
        cells = list(zip(decoded(document["cells"]["id"]), document["planned"], strict=True))
        details, has_checks = document["files"], document["paired"]
    except (KeyError, TypeError, ValueError, IndexError):
        return None  # somebody has written something else there
    if _stamp(run.folder, cells, has_checks=has_checks) != before.stamp:
        return None
    return document if place.keep([before.file, *details]) else None


def _stamp(folder: Path, cells: Iterable[tuple[str, int]], *, has_checks: bool) -> str:
    """Return a text that changes if a file of a run, or of these cells, is written again.

    An outcome is written last, so that it stands for all files of its repeat.
    """
    names = [*_RECORDS, *(f"{cell}/{repeat}/outcome.json" for cell, repeats in cells for repeat in range(repeats))]
    try:
        with opened(folder) as within:
            stamps = [stamp(name, within) for name in names]
    except OSError:
        stamps = []
    whole = hashlib.sha256(repr(stamps).encode())
    if has_checks:
        whole.update(repr(sorted(stamped_checks(folder))).encode())
    return whole.hexdigest()[:24]


def _series(stored: Sequence[StoredRun], question: SeriesQuestion, place: SiteFolder) -> str:
    """Add the series, and return the name of their file."""
    before = place.read(place.series) if place.series else None
    known: Mapping[tuple[str, str], Document] = {}
    if before is not None:
        with contextlib.suppress(KeyError, TypeError):
            known = {(each["name"], each["host"]): each for each in before["series"]}
    return _added("s", {"series": courses(stored, question, known), "min_effect": question.min_effect}, place)


def _index(every: Overall, site: SiteContent, shared: Document, place: SiteFolder) -> str:
    """Add the columns over all runs and the index, and return the name of the index."""
    claims = shared.pop("claims")
    files = {
        "metrics": {name: _added("m", column, place) for name, column in every.metrics.items()},
        "series": shared.pop("series"),
        "nights": _added("n", site.nights, place),
        "searches": _added("b", site.searches, place),
        "claims": _added("c", claims, place),
    }
    index = {
        **every.index,
        **shared,
        "files": files,
        "counts": {
            "nights": sum(len(each["nights"]) for each in site.nights["watches"]),
            "searches": len(site.searches["searches"]),
            "studies": len(claims["studies"]),
        },
        "results": site.results,
        "folder": site.folder,
        "orchestrator": __version__,
    }
    text = compact(index)
    name = f"i-{digest(text)}"
    place.add(name, script("index", text))
    return name


def _added(kind: str, document: Document, place: SiteFolder) -> str:
    text = compact(document)
    name = f"{kind}-{digest(text)}"
    place.add(name, script(name, text))
    return name
