"""The command `regress`, which says if it is safe to move from one release to another."""

from typing import TYPE_CHECKING, Annotated

import typer

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
    Repeats,
    Results,
    Resume,
    Retries,
    RetryFailed,
    Select,
    examples,
)
from orchestrator.cli.output import outputs
from orchestrator.cli.output.hosts import stopped, this_host
from orchestrator.cli.output.outputs import Output, RegressionFormat
from orchestrator.errors import HostError
from orchestrator.workflows import option_values
from orchestrator.workflows.option_values import RuntimeName

if TYPE_CHECKING:
    from orchestrator.workflows.regress import RegressResult


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "regress",
        epilog=examples(
            "orchestrator regress --baseline mxnet==1.5.1 --candidate mxnet==1.9.1",
            "orchestrator regress --resume latest --strict",
        ),
    )(regress)


Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="PIN",
        help="What is in use: 'mxnet==1.5.1', with packages 'mxnet==1.9.1,numpy==1.22.4', or a package of the matrix.",
    ),
]
Candidate = Annotated[str | None, typer.Option("--candidate", metavar="PIN", help="What is to take its place.")]
Metrics = Annotated[
    list[str],
    typer.Option(
        "--metric",
        metavar="NAME[@MODEL][=TOLERANCE]",
        help="What decides, such as throughput or latency_p50=3%, or a tolerance for one model, such as "
        "throughput@mlp=5%, or a figure of scripts, such as printed.step; may be repeated.",
    ),
]
UntilPrecise = Annotated[
    bool, typer.Option("--until-precise", help="Look after 6, 12 and 24 blocks; only undecided pairs go on.")
]
MaxBlocks = Annotated[
    int | None, typer.Option("--max-blocks", metavar="N", help="The last look of --until-precise, in place of 24.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit 1 unless every pair is shown to be as good: inconclusive is not enough.")
]
Confirm = Annotated[bool, typer.Option("--confirm/--no-confirm", help="Measure what is slower again, on fresh blocks.")]


def regress(
    baseline: Baseline = None,
    candidate: Candidate = None,
    file: MatrixFile = None,
    metric: Metrics = [],
    select: Select = [],
    exclude: Exclude = [],
    until_precise: UntilPrecise = False,
    max_blocks: MaxBlocks = None,
    repeats: Repeats = None,
    confirm: Confirm = True,
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
    retries: Retries = option_values.RETRIES,
    retry_failed: RetryFailed = False,
    extra_repeats: ExtraRepeats = option_values.EXTRA_REPEATS,
    idle_wait: IdleWait = option_values.IDLE_WAIT_S,
    exclusive: Exclusive = False,
    json: Json = False,
    format_: RegressionFormat = None,
    output: Output = None,
    strict: Strict = False,
) -> None:
    """Measure two releases in turn and judge the second. Exit 1 if it is worse or broke, 3 if nothing was measured."""
    from orchestrator.reporting.reports.regression.report import REGRESSION
    from orchestrator.workflows import regress as workflow
    from orchestrator.workflows.regress import RegressOptions

    shown_as = outputs.wanted_format(REGRESSION, format_, output, json=json)
    options = RegressOptions(
        baseline=baseline, candidate=candidate, file=file, metrics=tuple(metric), select=tuple(select),
        exclude=tuple(exclude), until_precise=until_precise, max_blocks=max_blocks, repeats=repeats, confirm=confirm,
        base_image=base_image, models=models, data=data, no_parity=no_parity, limit=limit, runtime=runtime,
        images=images, results=results, resume=resume, jobs=jobs, retries=retries, retry_failed=retry_failed,
        extra_repeats=extra_repeats, idle_wait_s=idle_wait, exclusive=exclusive, format=shown_as, output=output,
    )  # fmt: skip
    result = workflow.regress(options, this_host())
    outputs.show_regression(result.regression, result.page, shown_as, is_written=output is not None)
    if not result.regression.complete:
        raise stopped(result.resume_command)
    _end(result, strict=strict)


def _end(result: "RegressResult", *, strict: bool) -> None:
    """Exit with 1 if a verdict is bad (or, if `strict`, not good), and with 3 if there is none."""
    regression = result.regression
    if regression.tells_nothing:
        first = regression.unmeasured[0]
        raise HostError(
            f"nothing could be measured of {regression.candidate.label} and {regression.baseline.label}: "
            f"{first.id}: {first.reason}\nonce that is mended, start again, or go on with: {result.resume_command} "
            "--retry-failed"
        )
    if regression.regressions or (strict and regression.doubtful):
        raise typer.Exit(1)
