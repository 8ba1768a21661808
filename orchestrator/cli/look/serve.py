"""The command `serve`, which serves the site over all runs with what is measured at the moment."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.options import Results, examples
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.workflows import option_values

ENDING = "the server ends"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "serve",
        epilog=examples("orchestrator serve --port 8000", "orchestrator serve --bind 0.0.0.0 --results /srv/bench"),
    )(serve)


def serve(
    results: Results = option_values.RESULTS,
    bind: Annotated[
        str, typer.Option("--bind", metavar="ADDRESS", help="Address to listen at; others than loopback need a token.")
    ] = option_values.SERVE_ADDRESS,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen at, 0 for any that is free.")
    ] = option_values.SERVE_PORT,
    token: Annotated[
        str,
        typer.Option(
            "--token", metavar="TEXT", envvar="ORCHESTRATOR_TOKEN", show_default=False,
            help="What viewers have to know; one is made where it is needed.",
        ),
    ] = "",
    site: Annotated[
        Path | None, typer.Option("--site", metavar="DIR", help="Folder of the site, in place of one in the cache.")
    ] = None,
    nights: Annotated[
        list[Path] | None,
        typer.Option("--nights", metavar="DIR", help="Reports folder of a nightly; may be repeated."),
    ] = None,
    acknowledged: Annotated[
        Path | None, typer.Option("--acknowledged", metavar="FILE", help="Changes that are known, with their reasons.")
    ] = None,
) -> None:  # fmt: skip
    """Serve the site over all runs, with what is measured at the moment, until Ctrl-C. It only reads results."""
    from orchestrator.workflows.site import serve as workflow
    from orchestrator.workflows.site.serve import ServeOptions

    options = ServeOptions(
        results=results, address=bind, port=port, token=token, site=site, nights=tuple(nights or ()),
        acknowledged=acknowledged,
    )  # fmt: skip
    workflow.serve(options, this_host(ENDING), _show_address)


def _show_address(address: str) -> None:
    speech.tell(speech.output(), address)
    sys.stdout.flush()
