"""The command `nightly`, which watches the package index for new releases, and the commands below it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import BaseImage, DataFolder, IdleWait, Json, ModelsFolder, examples
from orchestrator.cli.output import outputs, speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.workflows import option_values
from orchestrator.workflows.option_values import AnswerName

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
    group.command("ack", epilog=examples("orchestrator nightly ack mxnet==1.9.1 wrong --cell 'cpu/lenet-*'"))(ack)
    group.command("status", epilog=examples("orchestrator nightly status --json"))(status)
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
    from orchestrator.reporting.reports.night.words import lines
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


def ack(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="Whose alarms: such as mxnet==1.9.1.")],
    answer: Annotated[AnswerName, typer.Argument(metavar="right|wrong|known", help="What the alarms were.")],
    cell: Annotated[str, typer.Option("--cell", metavar="GLOB", help="Only alarms of cells that match.")] = "*",
    metric: Annotated[str, typer.Option("--metric", metavar="NAME", help="Only alarms of this metric, or broke.")] = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="For those who come after.")] = "",
    file: NightlyFile = option_values.NIGHTLY_FILE,
    models: ModelsFolder = None,
    json: Json = False,
) -> None:
    """Say of the alarms of a release whether they were right, wrong, or known before."""
    from orchestrator.regression.nightly.records import Answer
    from orchestrator.workflows.documents.records import ack_document
    from orchestrator.workflows.nightly.ack import AckOptions
    from orchestrator.workflows.nightly.ack import ack as answer_alarms

    options = AckOptions(
        release=release, answer=Answer(answer), cell=cell, metric=metric, reason=reason, file=file, models=models
    )
    result = answer_alarms(options, this_host())
    if json:
        speech.print_document(ack_document(result))
        return
    for score in result.scores:
        next_to = f" next to {score.anchor}" if score.anchor else ""
        speech.say(
            f"{result.name} {score.release} {score.cell} {score.metric or 'broke'}{next_to}: {score.answer.value}"
        )
    for name, of_metric in result.doubted:
        speech.say(f"{name} {of_metric}: three alarms were wrong; it takes twice the fresh blocks to alarm again")


def status(
    file: NightlyFile = option_values.NIGHTLY_FILE,
    format_: Annotated[str | None, outputs.format_option("suites", "records")] = None,
    output: outputs.Output = None,
    json: Json = False,
) -> None:
    """Show heartbeat, noise of the rig and worth of alarms. Exit 1 if no night has had a result for too long."""
    from orchestrator.reporting.formats import HTML, TABLE, render
    from orchestrator.reporting.reports.watch.report import WATCH
    from orchestrator.workflows.nightly.status import StatusOptions
    from orchestrator.workflows.nightly.status import status as read_status

    shown_as = outputs.wanted_format(WATCH, format_, output, json=json)
    result = read_status(StatusOptions(file=file, format=shown_as, output=output))
    if shown_as == TABLE and output is None:
        outputs.show(WATCH, result.watch, result.page)
    elif shown_as == HTML:
        if result.page.path is not None:
            speech.say(f"page: {result.page.path}")
    elif output is None:
        sys.stdout.write(render(WATCH, result.watch, shown_as))
    if result.exit_code:
        raise typer.Exit(result.exit_code)
