"""The streams of a command. Answers go to stdout, everything else to stderr."""

import os
import sys
from typing import TYPE_CHECKING, TextIO

from orchestrator.cli.output import manner
from orchestrator.cli.output.manner import Color, Loudness
from orchestrator.encoded import json_text
from orchestrator.wording import clean

if TYPE_CHECKING:
    from rich.console import Console

REPORT_WIDTH = 120
"""Columns of a table that no terminal shows."""


def console(stream: TextIO) -> "Console":
    """Return a console on a stream, with colors as `--color` says."""
    from rich.console import Console

    match manner.current().color:
        case Color.ALWAYS:
            return Console(file=stream, highlight=False, color_system="256", no_color=False)
        case Color.NEVER:
            return Console(file=stream, highlight=False, color_system=None)
        case Color.AUTO:
            return Console(file=stream, highlight=False)


def output(width: int = 1000) -> "Console":
    """Return the console for answers. `width` counts where there is no terminal, so that nothing is cut."""
    answers = console(sys.stdout)
    if not answers.is_terminal and "COLUMNS" not in os.environ:
        answers.width = width
    return answers


def tell(answers: "Console", line: str, style: str = "") -> None:
    """Print one line of an answer as it is. No bracket of a path is markup, and no width folds it."""
    from rich.text import Text

    answers.print(Text(clean(line), style), soft_wrap=True)


def say(message: str) -> None:
    """Print one line for the person on stderr, unless only errors are wanted there."""
    if manner.current().loudness is not Loudness.QUIET:
        say_error(message)


def say_error(message: str) -> None:
    """Print a line on what went wrong. What steers terminals is taken out of names from anywhere."""
    sys.stderr.write(f"{clean(message)}\n")


def print_json(document: object) -> None:
    """Print plain values as JSON on stdout."""
    sys.stdout.write(json_text(document, indent=1) + "\n")
