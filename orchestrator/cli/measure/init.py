"""The command `init`, which asks on a terminal what it is not told."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import examples
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.errors import InputError
from orchestrator.limits import MAX_REPEATS
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.workflows.init import WrittenMatrix


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "init",
        epilog=examples(
            "orchestrator init --framework torch --framework mxnet==1.9.1 --model lenet",
            "orchestrator init --framework torch -f training.yaml",
        ),
    )(init)


def init(
    framework: Annotated[
        list[str],
        typer.Option(
            "--framework",
            metavar="NAME[==VERSION]",
            help="A framework to compare; without a version the newest that was seen to train. May be repeated.",
        ),
    ] = [],
    model: Annotated[
        list[str], typer.Option("--model", metavar="NAME", help="A model, lenet by default; may be repeated.")
    ] = [],
    mode: Annotated[
        list[str], typer.Option("--mode", metavar="MODE", help="train, infer or another mode; train by default.")
    ] = [],
    repeats: Annotated[
        int | None, typer.Option("--repeats", min=1, max=MAX_REPEATS, help="Fresh containers for each cell.")
    ] = None,
    file: Annotated[
        Path, typer.Option("-f", "--file", metavar="FILE", help="Write there; a file that is there stays as it is.")
    ] = option_values.MATRIX_FILE,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema", metavar="ADDRESS", help="Where editors find the schema; by default the file of this program."
        ),
    ] = None,
) -> None:
    """Write an annotated matrix to begin with, and overwrite nothing.

    On a terminal it asks for what no option says.
    """
    from orchestrator.workflows import init as workflow
    from orchestrator.workflows.init import InitOptions

    if file.exists():
        raise InputError(f"{file}: is there already, and is left as it is; -f names another file")
    if not framework:
        if not _is_terminal():
            raise InputError("nothing to compare: --framework names a framework; there is no terminal to ask on")
        framework = _asked("Frameworks, separated by commas (orchestrator frameworks lists them)", ["torch"])
        model = model or _asked("Models (orchestrator models lists them)", list(option_values.INIT_MODELS))
        mode = mode or _asked("Modes", list(option_values.INIT_MODES))
        repeats = repeats or typer.prompt(
            "Repeats of each cell", default=option_values.INIT_REPEATS, type=int, err=True
        )
    options = InitOptions(
        frameworks=framework,
        models=model or option_values.INIT_MODELS,
        modes=mode or option_values.INIT_MODES,
        repeats=repeats or option_values.INIT_REPEATS,
        file=file,
        schema=schema,
    )
    _say(workflow.init(options, this_host()), file)


def _say(written: "WrittenMatrix", file: Path) -> None:
    """Say how many cells the matrix has, which are skipped, and what comes next."""
    named = "" if file == option_values.MATRIX_FILE else f" -f {file}"
    cells = len(written.plan.cells)
    speech.tell(speech.output(), f"{file}: {cells} {'cell' if cells == 1 else 'cells'}")
    for skip in written.plan.skips:
        speech.tell(speech.output(), f"skipped: {skip.cell_id}: {skip.reason}")
    speech.tell(speech.output(), f"next: orchestrator plan{named}, then orchestrator run{named}")


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _asked(question: str, default: list[str]) -> list[str]:
    """Ask on stderr, where a terminal is even if the answer goes elsewhere."""
    answer: str = typer.prompt(question, default=", ".join(default), err=True)
    return [each.strip() for each in answer.split(",") if each.strip()]
