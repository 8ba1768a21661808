"""Options that several commands which measure share."""

from typing import Annotated

import typer

from orchestrator.cli.completion import run_names
from orchestrator.limits import MAX_REPEATS
from orchestrator.workflows.option_values import RuntimeName

RuntimeOption = Annotated[RuntimeName, typer.Option("--runtime", help="Where cells run.")]
Repeats = Annotated[int | None, typer.Option("--repeats", min=1, max=MAX_REPEATS, help="In place of the matrix's own.")]
Resume = Annotated[
    str | None,
    typer.Option(
        "--resume", metavar="RUN", autocompletion=run_names, help="Take up a run again ('latest' for the last one)."
    ),
]
Retries = Annotated[int, typer.Option("--retries", min=0, help="Further attempts after a crash.")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="With --resume: try again what has failed.")]
ExtraRepeats = Annotated[
    int, typer.Option("--extra-repeats", min=0, help="How often a repeat that was disturbed is measured again.")
]
IdleWait = Annotated[
    float,
    typer.Option(
        "--idle-wait",
        min=0,
        metavar="S",
        envvar="ORCHESTRATOR_IDLE_WAIT",
        help="Wait so long at most for an idle host before a cell.",
    ),
]
