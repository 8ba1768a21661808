"""The command `build`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import (
    BaseImage,
    Exclude,
    Images,
    Jobs,
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
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.workflows.build import BuildResult


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("build", epilog=examples("orchestrator build --jobs 4", "orchestrator build --render dockerfiles"))(
        build
    )


def build(
    file: MatrixFile = None,
    plan: PlanName = None,
    select: Select = [],
    exclude: Exclude = [],
    limit: Limit = option_values.LIMIT,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    jobs: Jobs = option_values.JOBS,
    images: Images = None,
    json: Json = False,
    logs: Annotated[Path | None, typer.Option("--logs", metavar="DIR", help="Where the build logs go.")] = None,
    render: Annotated[
        Path | None, typer.Option("--render", metavar="DIR", help="Only write the Dockerfiles there; no engine needed.")
    ] = None,
) -> None:
    """Build the images that are missing, or pull them; GPU images too, no GPU is needed for that."""
    from orchestrator.workflows import build as workflow
    from orchestrator.workflows.build import BuildOptions
    from orchestrator.workflows.documents.measure import build_document

    options = BuildOptions(
        file=file, plan=plan, select=select, exclude=exclude, limit=limit, base_image=base_image, models=models,
        jobs=jobs, images=images, logs=logs, render=render,
    )  # fmt: skip
    result = workflow.build(options, this_host())
    for path in result.dockerfiles:
        speech.say(str(path))
    if json:
        speech.print_document(build_document(result, rendered=render is not None))
    elif render is None:
        _show(result)
    if result.stopped:
        raise typer.Exit(INTERRUPTED)
    if result.failures:
        raise typer.Exit(1)


def _show(result: "BuildResult") -> None:
    if result.bundle is not None:
        count = len(result.bundled)
        speech.say(f"nothing to build: all {count} images came with the bundle {result.bundle.name}, and are here")
        return
    # The view has named each image that failed, with its reason.
    logged = f"; logs: {result.logs}" if any(failure.log for failure in result.failures) else ""
    speech.say(f"{len(result.images) - len(result.failures)} of {len(result.images)} images are ready{logged}")
