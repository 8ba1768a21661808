"""The command `bisect`, which searches for the release that changed a cell."""

from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import (
    BaseImage,
    DataFolder,
    Exclusive,
    IdleWait,
    Images,
    Jobs,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    NoParity,
    Results,
    RetryFailed,
    examples,
)
from orchestrator.cli.output import outputs, speech
from orchestrator.cli.output.hosts import stopped, this_host
from orchestrator.errors import HostError
from orchestrator.workflows import option_values
from orchestrator.workflows.option_values import RuntimeName

if TYPE_CHECKING:
    from orchestrator.workflows.search.options import SearchResult


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "bisect", epilog=examples("orchestrator bisect --good mxnet==1.2.0 --bad mxnet==1.9.1 --cell lenet-train-b200")
    )(bisect)


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
    typer.Option("--max-blocks", metavar="N", help="Most blocks of a release and the one before it; 52 by default."),
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
    limit: Limit = option_values.LIMIT,
    no_parity: NoParity = False,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    data: DataFolder = None,
    jobs: Jobs = option_values.JOBS,
    runtime: Annotated[RuntimeName, typer.Option("--runtime", help="Where cells run.")] = RuntimeName.AUTO,
    images: Images = None,
    results: Results = option_values.RESULTS,
    resume: Resume = None,
    retry_failed: RetryFailed = False,
    idle_wait: IdleWait = option_values.IDLE_WAIT_S,
    exclusive: Exclusive = False,
    json: Json = False,
) -> None:
    """Find the published release that changed a cell, and what moved it. Exit 1 if it is for the worse, else 0."""
    from orchestrator.reporting.formats.html import INDEX
    from orchestrator.reporting.reports.search.words import headlines
    from orchestrator.workflows.search.options import SearchOptions
    from orchestrator.workflows.search.search import search

    options = SearchOptions(
        good=good, bad=bad, cell=cell, metric=metric, every=every, file=file, max_blocks=max_blocks,
        prereleases=prereleases, yanked=yanked, base_image=base_image, models=models, data=data, no_parity=no_parity,
        limit=limit, runtime=runtime, images=images, results=results, resume=resume, retry_failed=retry_failed,
        jobs=jobs, idle_wait_s=idle_wait, exclusive=exclusive,
    )  # fmt: skip
    result = search(options, this_host())
    findings = result.record.found
    if not result.complete or findings is None:
        raise stopped(result.resume_command)
    if findings.releases.ends is None:
        speech.say(f"evidence: {result.folder / INDEX}")
        raise HostError("\n".join(headlines(result.record)))
    _show(result, json=json)
    if findings.is_worse:
        raise typer.Exit(1)


def _show(result: "SearchResult", *, json: bool) -> None:
    from orchestrator.reporting.formats.html import INDEX
    from orchestrator.reporting.reports.search.report import SEARCH
    from orchestrator.workflows.documents.records import search_document

    evidence = f"evidence: {result.folder / INDEX}"
    if json:
        speech.print_document(search_document(result.record))
        speech.say(evidence)
        return
    speech.tell(outputs.print_table(SEARCH, result.record), f"\n{evidence}")
