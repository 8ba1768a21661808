"""`bisect`: which release changed it, and what in that release's environment."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.measure.options import IdleWait, RetryFailed
from orchestrator.cli.options import (
    BaseImage,
    DataFolder,
    Jobs,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    NoParity,
    Results,
)
from orchestrator.cli.output import speech, views
from orchestrator.cli.output.hosts import this_host
from orchestrator.cli.output.signals import INTERRUPTED
from orchestrator.errors import HostError, InputError
from orchestrator.planning import DEFAULT_LIMIT
from orchestrator.regression.rules import looks_up_to
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.algorithm import PROBED
from orchestrator.regression.search.carry_out import SearchInProgress, SearchServices
from orchestrator.regression.search.probe import packages
from orchestrator.regression.search.record import Bisection
from orchestrator.reporting.formats.html import INDEX
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.search import SEARCH, write_report
from orchestrator.reporting.reports.search_words import headlines
from orchestrator.results.store import Run
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.stored_runs import DEFAULT_RESULTS
from orchestrator.workflows.measure import pairs
from orchestrator.workflows.measure.runtime import RuntimeName
from orchestrator.workflows.search import start as searches
from orchestrator.workflows.search.probes import Probes, StoppedError
from orchestrator.workflows.search.start import PreparedSearch, Question

DEFAULT_METRIC = "throughput"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("bisect")(bisect)


Good = Annotated[
    str | None,
    typer.Option(
        "--good",
        metavar="PIN",
        help="A release from before the change: 'mxnet==1.2.0', or with packages 'mxnet==1.9.1,numpy==1.19.5'.",
    ),
]
Bad = Annotated[str | None, typer.Option("--bad", metavar="PIN", help="A later one that shows it.")]
Cell = Annotated[
    str | None, typer.Option("--cell", metavar="GLOB", help="The one cell that shows it, such as 'lenet-train-b200'.")
]
Metric = Annotated[
    str | None,
    typer.Option("--metric", metavar="NAME[@MODEL][=TOLERANCE]", help="What changed; throughput by default."),
]
Every = Annotated[
    bool,
    typer.Option("--all", help="Find every change between the two, also those that cancel, in place of the first."),
]
MaxBlocks = Annotated[
    int | None,
    typer.Option("--max-blocks", metavar="N", help="Most blocks of two releases side by side; 48 by default."),
]
Prereleases = Annotated[bool, typer.Option("--prereleases", help="Search pre-releases too.")]
Yanked = Annotated[bool, typer.Option("--yanked", help="Search releases too that were withdrawn.")]
Resume = Annotated[
    str | None, typer.Option("--resume", metavar="NAME", help="Take up a search again ('latest' for the last one).")
]


def bisect(
    good: Good = None,
    bad: Bad = None,
    cell: Cell = None,
    metric: Metric = None,
    every: Every = False,
    file: MatrixFile = None,
    max_blocks: MaxBlocks = None,
    prereleases: Prereleases = False,
    yanked: Yanked = False,
    limit: Limit = DEFAULT_LIMIT,
    no_parity: NoParity = False,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    data: DataFolder = None,
    jobs: Jobs = 2,
    runtime: Annotated[RuntimeName, typer.Option("--runtime", help="Where cells run.")] = RuntimeName.AUTO,
    results: Results = DEFAULT_RESULTS,
    resume: Resume = None,
    retry_failed: RetryFailed = False,
    idle_wait: IdleWait = 10.0,
    json: Json = False,
) -> None:
    """Find the published release that changed a cell, and what moved it: exit 1 where it is for the worse, else 0."""
    host = this_host(json=json)
    host = replace(host, listener=views.each_notice_once(host.listener))
    if resume is not None:
        asked = (good, bad, cell, metric, every, file, max_blocks, prereleases, yanked)
        if (
            any((*asked, no_parity, base_image, models, data))
            or limit != DEFAULT_LIMIT
            or runtime is not RuntimeName.AUTO
        ):
            raise InputError(
                "--resume goes on with what the search was to find out: leave out everything but --results, --jobs, "
                "--retry-failed, --idle-wait and --json"
            )
        prepared = searches.resumed(results, resume, host, retry_failed=retry_failed)
    else:
        if retry_failed:
            raise InputError("--retry-failed tries again what a search has recorded: say which with --resume NAME")
        if good is None or bad is None or cell is None:
            missing = "--good" if good is None else "--bad" if bad is None else "--cell"
            raise InputError(
                f"{missing} is missing: say what is to be searched, such as "
                "--good mxnet==1.2.0 --bad mxnet==1.9.1 --cell lenet-train-b200"
            )
        looks = looks_up_to(PROBED[-1] if max_blocks is None else max_blocks)
        sought = (prereleases, yanked, file, runtime)
        question = Question(good, bad, cell, metric or DEFAULT_METRIC, every, looks, *sought)
        prepared = searches.new(question, pairs.Site(host, base_image, models, data, no_parity, limit), results)
    record = _carried_out(prepared, jobs, idle_wait, host)
    _show(record, prepared.folder, json=json)
    assert record.found is not None, "it has come to its end"  # noqa: S101 -- for the type alone
    if record.found.is_worse:
        raise typer.Exit(1)


def _carried_out(prepared: PreparedSearch, jobs: int, idle_wait_s: float, host: Host) -> Bisection:
    record, folder = prepared.record, prepared.folder
    go_on = f"orchestrator bisect --resume {record.name} --results {folder.parent}"
    with searches.alone(folder), host.working():
        search_record.write(folder, record)
        probes = Probes(
            prepared.ground, record.asked.metric, folder, RuntimeName(record.asked.runtime), jobs, idle_wait_s,
            set(prepared.anew),
        )  # fmt: skip
        means = SearchServices(probes.measure, lambda run, side: packages(Run(folder / run), side), host.listener)
        try:
            done = SearchInProgress(record, folder, prepared.searched, means).carry_out()
        except StoppedError:
            speech.say(f"stopped; go on with: {go_on}")
            raise typer.Exit(INTERRUPTED) from None
        except HostError as error:
            raise HostError(f"{error}\nwhat is measured is kept; go on with: {go_on}") from error
        write_report(done, folder)
    if done.found is not None and done.found.releases.ends is None:
        speech.say(f"evidence: {folder / INDEX}")
        raise HostError("\n".join(headlines(done)))
    return done


def _show(record: Bisection, folder: Path, *, json: bool) -> None:
    if json:
        speech.print_json(record.model_dump(mode="json", by_alias=True))
        speech.say(f"evidence: {folder / INDEX}")
        return
    console = speech.output(speech.REPORT_WIDTH)
    console.print(shown(SEARCH, record))
    speech.tell(console, f"\nevidence: {folder / INDEX}")
