"""The command `run`."""

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.measure import cluster
from orchestrator.cli.options import (
    BaseImage,
    DataFolder,
    Exclude,
    Exclusive,
    ExtraRepeats,
    IdleWait,
    Images,
    Jobs,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    NoParity,
    PlanName,
    Quick,
    Repeats,
    Replicate,
    Results,
    Resume,
    Retries,
    RetryFailed,
    RuntimeOption,
    Select,
    Strict,
    examples,
)
from orchestrator.cli.output.hosts import this_host
from orchestrator.workflows import option_values


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "run",
        epilog=examples(
            "orchestrator run --select 'mxnet-*' --repeats 10",
            "orchestrator run --until-decided --budget 2h",
        ),
    )(run)


PruneImages = Annotated[
    bool,
    typer.Option("--prune-images", help="Remove each image that was built by this program after its last cell."),
]
Site = Annotated[
    str | None,
    typer.Option(
        "--site",
        metavar="FILE",
        help="Measure the parts on the nodes that this file says; by default site.yaml next to the matrix or in your "
        "configuration, 'none' for neither.",
    ),
]
Detach = Annotated[bool, typer.Option("--detach", help="With a scheduler: submit, and return at once.")]
PartFolder = Annotated[
    Path | None,
    typer.Option("--part", metavar="DIR", hidden=True, help="Measure one part of a run on this node, as its job does."),
]
OnNode = Annotated[
    Path | None,
    typer.Option(
        "--on-node",
        metavar="DIR",
        hidden=True,
        help="With --part: take its inputs from standard input, and leave its results in a file there.",
    ),
]
UntilDecided = Annotated[
    bool,
    typer.Option(
        "--until-decided",
        help="Measure block by block, and only cells whose place in a ranking is open, until all are decided.",
    ),
]
MaxBlocks = Annotated[
    int | None, typer.Option("--max-blocks", metavar="N", help="The last look of --until-decided, in place of 64.")
]
Budget = Annotated[
    str | None,
    typer.Option("--budget", metavar="TIME", help="Most time of a run --until-decided, such as 2h or 90m."),
]
FailFast = Annotated[bool, typer.Option("--fail-fast", help="Leave the rest not run after a failure.")]


def run(
    file: MatrixFile = None,
    plan: PlanName = None,
    select: Select = [],
    exclude: Exclude = [],
    limit: Limit = option_values.LIMIT,
    no_parity: NoParity = False,
    strict: Strict = False,
    quick: Quick = False,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    data: DataFolder = None,
    jobs: Jobs = option_values.JOBS,
    runtime: RuntimeOption = option_values.RuntimeName.AUTO,
    images: Images = None,
    repeats: Repeats = None,
    until_decided: UntilDecided = False,
    max_blocks: MaxBlocks = None,
    budget: Budget = None,
    results: Results = option_values.RESULTS,
    resume: Resume = None,
    fail_fast: FailFast = False,
    retries: Retries = option_values.RETRIES,
    retry_failed: RetryFailed = False,
    extra_repeats: ExtraRepeats = option_values.EXTRA_REPEATS,
    idle_wait: IdleWait = option_values.IDLE_WAIT_S,
    prune_images: PruneImages = False,
    exclusive: Exclusive = False,
    site: Site = None,
    detach: Detach = False,
    replicate: Replicate = None,
    part: PartFolder = None,
    on_node: OnNode = None,
    json: Json = False,
) -> None:
    """Run a matrix, or the plan of a bundle: build what is missing, launch every cell, and report."""
    from orchestrator.workflows import run as workflow
    from orchestrator.workflows.cluster.options import ClusterOptions

    if part is not None:
        cluster.measure_part(part, on_node, retry_failed=retry_failed)
        return
    options = ClusterOptions(
        file=file, plan=plan, select=select, exclude=exclude, limit=limit, base_image=base_image, models=models,
        no_parity=no_parity, strict=strict, quick=quick, data=data, jobs=jobs, runtime=runtime, repeats=repeats,
        results=results, resume=resume, fail_fast=fail_fast, retries=retries, retry_failed=retry_failed,
        extra_repeats=extra_repeats, idle_wait_s=idle_wait,
        prune_images=prune_images, exclusive=exclusive, images=images,
        until_decided=until_decided, max_blocks=max_blocks, budget=budget,
        site=site, detach=detach, replicate=replicate,
    )  # fmt: skip
    if cluster.run(options, json=json):
        return
    result = workflow.run(options, this_host())
    cluster.end(result, result.report, result.page, json=json)
