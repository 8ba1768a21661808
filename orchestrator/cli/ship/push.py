"""The command `push`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import (
    BaseImage,
    Exclude,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    PlanName,
    Select,
    examples,
)
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import INTERRUPTED, this_host
from orchestrator.wording import counted
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.workflows.ship.push import PushResult

Registry = Annotated[
    str,
    typer.Argument(metavar="REGISTRY", help="HOST[:PORT][/PREFIX]; credentials are those of `docker login HOST`."),
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="List the images with their digests, for `run --images FILE`."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "push",
        epilog=examples(
            "orchestrator push registry:5000/team --output images.json",
            "orchestrator push registry:5000 --select 'mxnet-*'",
        ),
    )(push)


def push(
    registry: Registry,
    file: MatrixFile = None,
    plan: PlanName = None,
    select: Select = [],
    exclude: Exclude = [],
    limit: Limit = option_values.LIMIT,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Push the images of a plan to a registry, from which `run --images` takes them by digest."""
    from orchestrator.images.registries.pushed_file import pushed_document
    from orchestrator.workflows.ship import push as workflow
    from orchestrator.workflows.ship.push import PushOptions

    options = PushOptions(
        registry=registry, file=file, plan=plan, select=select, exclude=exclude, limit=limit, base_image=base_image,
        models=models, output=output,
    )  # fmt: skip
    result = workflow.push(options, this_host())
    if json:
        speech.print_document(pushed_document(result.registry, result.images, result.missing))
    else:
        _show(result, output)
    for name in result.missing:
        speech.say_error(f"{name} is not on this engine; bring it first with: {result.remedy}")
    if result.stopped:
        raise typer.Exit(INTERRUPTED)
    if result.missing:
        raise typer.Exit(1)


def _show(result: "PushResult", output: Path | None) -> None:
    for image in result.images:
        sent = "" if image.layers_sent is None else f" ({counted(image.layers_sent, 'layer')} sent)"
        speech.say(f"{image.digest}{sent}")
    if output is not None and not result.stopped:
        speech.say(f"{output}: on another host: orchestrator run --images {output}")
