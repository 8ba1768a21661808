"""A static site over all runs of a results folder."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.clusters.folder import cluster_runs, counted_runs
from orchestrator.errors import HostError, InputError
from orchestrator.regression.history.acknowledged import load_acknowledged
from orchestrator.regression.nightly.files import NIGHTS_FOLDER, NightFiles
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.record import RECORD_FILE
from orchestrator.reporting.site.courses import SeriesQuestion
from orchestrator.reporting.site.encoding import Document
from orchestrator.reporting.site.kept_records import nights_document, searches_document
from orchestrator.reporting.site.publishing import Published, RunToPublish, SiteContent
from orchestrator.reporting.site.publishing import publish as publish_site
from orchestrator.results.files.writing import locked_folder
from orchestrator.results.results_folder import runs
from orchestrator.wording import clean_line
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.stored_runs import report_hidden_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """The options of `publish`."""

    output: Path
    """The folder of the site: a new one, an empty one, or that of an earlier call, which is brought up to date."""
    results: Path = option_values.RESULTS
    """The results folder."""
    nights: Sequence[Path] = ()
    """Reports folders of nightlies. Those within the results folder are found without it."""
    acknowledged: Path | None = None
    """The file of known changes."""
    min_effect: float = option_values.MIN_EFFECT
    """The smallest change that is looked for in series, as a share."""
    whole: bool = False
    """True to read every run again, also those whose files have kept time and size."""


def publish(options: PublishOptions, host: Host) -> Published:
    """Write a site over all runs of a results folder, or bring one up to date.

    Runs that cannot be read are left out, with the reason in `problems`.
    Raises `InputError` if there is no such results folder, or the output holds something else.
    Raises `HostError` if the output cannot be written, or another process is writing it.

    Example: `publish(PublishOptions(output=Path("site")), this_host()).page`
    """
    if not options.results.is_dir():
        raise InputError(
            f"{options.results}: no such folder; `orchestrator run` makes one, --results DIR looks elsewhere"
        )
    question = SeriesQuestion(options.min_effect, tuple(load_acknowledged(options.acknowledged)))
    report_hidden_runs(options.results, host)
    site = SiteContent(
        runs=tuple(_runs(options.results, host)), nights=_nights(options), question=question,
        searches=_searches(options.results, host),
        results="" if options.results == option_values.RESULTS else f"--results {shlex.quote(str(options.results))}",
        folder=clean_line(str(options.results)),
    )  # fmt: skip
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{options.output}: cannot be made: {error.strerror}; choose another place with -o") from error
    in_use = HostError(f"{options.output}: another process is publishing there; wait for it, or choose another -o")
    with locked_folder(options.output, in_use, "choose another -o"):
        return publish_site(site, options.output, host.say, whole=options.whole)


def _runs(results: Path, host: Host) -> Iterator[RunToPublish]:
    """Yield every run, those of the parts of a run on a cluster by the nodes that measured them."""
    yield from (RunToPublish(run) for run in runs(results))
    for cluster in cluster_runs(results):
        try:
            yield from (RunToPublish(run, cluster.name) for run in counted_runs(cluster))
        except InputError as error:
            host.say(f"the parts of {cluster.name} are left out: {error}")


def _nights(options: PublishOptions) -> Document:
    """Read the nights of every watch. Raises `InputError` for a folder that is named and holds none."""
    found = sorted({path.parent for path in options.results.glob(f"*/{NIGHTS_FOLDER}") if path.is_dir()})
    mistakes = [
        f"--nights {folder}: holds no nights; name the `reports` folder of nightly.yaml"
        for folder in options.nights
        if not (folder / NIGHTS_FOLDER).is_dir()
    ]
    if mistakes:
        raise InputError(*mistakes)
    folders = list(dict.fromkeys((*options.nights, *found)))
    return nights_document((folder.name, NightFiles(folder).nights()) for folder in folders)


def _searches(results: Path, host: Host) -> Document:
    """Read every search that has a record."""
    found = []
    for path in sorted(results.glob(f"*/{RECORD_FILE}")):
        try:
            found.append((path.parent.name, search_record.read(path.parent)))
        except (InputError, OSError) as error:
            host.say(f"a search is left out: {error}")
    return searches_document(found)
