"""The command `render`."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import (
    BaseImage,
    Exclude,
    ExtraRepeats,
    IdleWait,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    NoParity,
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
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.wording import counted, listing
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.workflows.cluster.render import RenderResult


class ManifestForm(StrEnum):
    """The kind of file that is written."""

    K8S = "k8s"


Site = Annotated[
    str | None,
    typer.Option("--site", metavar="FILE", help="Site file with `executor: kubernetes`; by default that of `run`."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "render",
        epilog=examples("orchestrator render k8s --site cluster.yaml", "orchestrator render k8s --resume latest"),
    )(render)


def render(
    form: Annotated[ManifestForm, typer.Argument(metavar="k8s", help="The kind of file: Jobs of Kubernetes.")],
    file: MatrixFile = None,
    select: Select = [],
    exclude: Exclude = [],
    limit: Limit = option_values.LIMIT,
    no_parity: NoParity = False,
    strict: Strict = False,
    quick: Quick = False,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    runtime: RuntimeOption = option_values.RuntimeName.AUTO,
    repeats: Repeats = None,
    results: Results = option_values.RESULTS,
    resume: Resume = None,
    retries: Retries = option_values.RETRIES,
    retry_failed: RetryFailed = False,
    extra_repeats: ExtraRepeats = option_values.EXTRA_REPEATS,
    idle_wait: IdleWait = option_values.IDLE_WAIT_S,
    site: Site = None,
    replicate: Replicate = None,
    json: Json = False,
) -> None:
    """Plan a run, and write a Job of Kubernetes for each of its parts. Nothing is submitted."""
    from orchestrator.workflows.cluster import render as workflow
    from orchestrator.workflows.cluster.options import ClusterOptions
    from orchestrator.workflows.documents.measure import rendered_document

    del form  # there is one
    options = ClusterOptions(
        file=file, select=select, exclude=exclude, limit=limit, base_image=base_image, models=models,
        no_parity=no_parity, strict=strict, quick=quick, runtime=runtime, repeats=repeats, results=results,
        resume=resume, retries=retries, retry_failed=retry_failed, extra_repeats=extra_repeats,
        idle_wait_s=idle_wait, site=site, replicate=replicate,
    )  # fmt: skip
    result = workflow.render(options, this_host())
    if json:
        speech.print_document(rendered_document(result))
    else:
        _show(result)


def _show(result: "RenderResult") -> None:
    folder = result.cluster.folder
    if result.path is None:
        speech.say(f"nothing is left to measure: orchestrator report {folder.name} --results {folder.parent}")
        return
    if result.pythons:
        speech.say(f"the image needs Python {listing(result.pythons)}")
    speech.say(f"{counted(len(result.jobs), 'Job')}: copy {folder} to the top of the claim {result.claim!r}, then")
    speech.tell(speech.output(), f"kubectl create -f {result.path}")
