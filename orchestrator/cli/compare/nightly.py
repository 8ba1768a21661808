"""The commands `nightly` and `nightly accept`, which watch the package index for new releases."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import BaseImage, DataFolder, IdleWait, Json, ModelsFolder, examples
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.workflows.nightly.night import NightResult


NightlyFile = Annotated[Path, typer.Option("-f", "--file", help="What is watched: nightly.yaml by default.")]


def register(app: typer.Typer) -> None:
    """Add the command with what is below it."""
    group = typer.Typer(
        epilog=examples("orchestrator nightly --file nightly.yaml --json"),
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    group.callback()(nightly)
    group.command("accept", epilog=examples("orchestrator nightly accept mxnet==1.9.1"))(accept)
    app.add_typer(group, name="nightly")


def nightly(
    context: typer.Context,
    file: NightlyFile = option_values.NIGHTLY_FILE,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    data: DataFolder = None,
    idle_wait: IdleWait = option_values.IDLE_WAIT_S,
    json: Json = False,
) -> None:
    """Measure new releases on the package index against the baseline. Exit 1 with a regression that is new."""
    if context.invoked_subcommand is not None:
        return
    from orchestrator.workflows.nightly.night import NightlyOptions, night

    options = NightlyOptions(file=file, base_image=base_image, models=models, data=data, idle_wait_s=idle_wait)
    result = night(options, this_host())
    _say(result, json=json)
    if result.night.exit_code:
        raise typer.Exit(result.night.exit_code)


def _say(result: "NightResult", *, json: bool) -> None:
    from orchestrator.reporting.reports.night_words import lines
    from orchestrator.workflows.documents.records import night_document

    night = result.night
    if json:
        speech.print_document(night_document(night))
        return
    if night.posted is not None and not night.posted.delivered:
        speech.say_error(f"warning: the webhook was not delivered: {night.posted.reason}")
    console = speech.output()
    for line in lines(night):
        speech.tell(console, line)
    speech.tell(console, f"page: {result.page}")


def accept(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="Such as mxnet==1.9.1.")],
    file: NightlyFile = option_values.NIGHTLY_FILE,
    models: ModelsFolder = None,
    json: Json = False,
) -> None:
    """Take a release as the baseline of the nights to come, whatever was found of it."""
    from orchestrator.workflows.documents.records import accept_document
    from orchestrator.workflows.nightly.accept import AcceptOptions
    from orchestrator.workflows.nightly.accept import accept as accept_release

    result = accept_release(AcceptOptions(release=release, file=file, models=models), this_host())
    if json:
        speech.print_document(accept_document(result))
    else:
        before = f", in place of {result.before}" if result.before else ""
        speech.say(f"{result.name} {result.accepted} is the baseline of the nights to come{before}")
