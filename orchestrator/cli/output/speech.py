"""The streams of a command. Answers go to stdout, everything else to stderr."""

import os
import sys

from rich.console import Console
from rich.text import Text

from orchestrator.encoded import json_text
from orchestrator.wording import clean

REPORT_WIDTH = 120
"""Columns of a table that no terminal shows."""


def output(width: int = 1000) -> Console:
    """Return the console for answers. `width` counts where there is no terminal, so that nothing is cut."""
    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = width
    return console


def tell(console: Console, line: str, style: str = "") -> None:
    """Print one line of an answer as it is. No bracket of a path is markup, and no width folds it."""
    console.print(Text(clean(line), style), soft_wrap=True)


def say(message: str) -> None:
    """Print one line for the person on stderr. What steers terminals is taken out of names from anywhere."""
    sys.stderr.write(f"{clean(message)}\n")


def print_json(document: object) -> None:
    """Print plain values as JSON on stdout."""
    sys.stdout.write(json_text(document, indent=1) + "\n")
