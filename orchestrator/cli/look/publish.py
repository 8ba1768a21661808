"""The command `publish`, which writes a site over all runs."""

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.options import Json, Results, examples
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.wording import counted, memory
from orchestrator.workflows import option_values


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "publish",
        epilog=examples("orchestrator publish -o site", "orchestrator publish -o /srv/www/bench --nights nightly"),
    )(publish)


def publish(
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="DIR", help="Folder of the site; one that is there is brought up to date."
        ),
    ],
    results: Results = option_values.RESULTS,
    nights: Annotated[
        list[Path] | None,
        typer.Option("--nights", metavar="DIR", help="Reports folder of a nightly; may be repeated."),
    ] = None,
    acknowledged: Annotated[
        Path | None, typer.Option("--acknowledged", metavar="FILE", help="Changes that are known, with their reasons.")
    ] = None,
    min_effect: Annotated[
        float, typer.Option("--min-effect", min=0.001, max=1, help="Smallest change to look for, as a share.")
    ] = option_values.MIN_EFFECT,
    whole: Annotated[bool, typer.Option("--whole", help="Read every run again, not only what has changed.")] = False,
    json: Json = False,
) -> None:
    """Write a static site over all runs, nights, searches and studies, which needs no server and no network."""
    from orchestrator.workflows.documents.publish import publish_document
    from orchestrator.workflows.site import publish as workflow
    from orchestrator.workflows.site.publish import PublishOptions

    options = PublishOptions(
        output=output, results=results, nights=tuple(nights or ()), acknowledged=acknowledged, min_effect=min_effect,
        whole=whole,
    )  # fmt: skip
    published = workflow.publish(options, this_host())
    for problem in published.problems:
        speech.say(f"left out: {problem}")
    if json:
        speech.print_document(publish_document(published))
        return
    speech.say(
        f"{counted(published.runs, 'run')}, {published.read:,} of them read; {memory(published.size_bytes)} in all"
    )
    speech.say(f"page: {published.page}")
