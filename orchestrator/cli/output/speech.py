"""The streams of a command. Answers go to stdout, everything else to stderr."""

import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from orchestrator.cli.output import manner
from orchestrator.cli.output.manner import Color, Loudness
from orchestrator.documents import json_text
from orchestrator.wording import clean

if TYPE_CHECKING:
    from rich.console import Console

    from orchestrator.documents import Envelope
    from orchestrator.events import Notice
    from orchestrator.reporting.live.lines import Error

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
    from orchestrator.events import Notice

    if manner.current().loudness is not Loudness.QUIET:
        write(Notice(message))


def say_error(message: str) -> None:
    """Print a line on what went wrong. What steers terminals is taken out of names from anywhere."""
    from orchestrator.reporting.live.lines import Error

    write(Error(message))


def write(event: "Notice | Error") -> None:
    """Write an event on stderr, as a line of JSON for programs."""
    from orchestrator.reporting.live.lines import event_line

    for_programs = manner.current().for_programs
    sys.stderr.write(event_line(event, datetime.now(UTC)) if for_programs else f"{clean(event.message)}\n")


def print_document(envelope: "Envelope") -> None:
    """Print a document for programs on stdout."""
    sys.stdout.writelines(envelope.texts())


def print_json(schema: object) -> None:
    """Print plain values without an envelope on stdout."""
    sys.stdout.write(json_text(schema, indent=1) + "\n")
