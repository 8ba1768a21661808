"""The options of every command, before its name or after it."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from orchestrator.cli.output import manner
from orchestrator.cli.output.manner import Color, Loudness
from orchestrator.errors import InputError


def _choose(loudness: Loudness) -> None:
    if manner.current().loudness not in {Loudness.NORMAL, loudness}:
        raise InputError("--quiet and --verbose contradict each other: leave one out")
    manner.choose_loudness(loudness)


def _be_quiet(wanted: bool) -> None:
    if wanted:
        _choose(Loudness.QUIET)


def _be_verbose(wanted: bool) -> None:
    if wanted:
        _choose(Loudness.VERBOSE)


def _use_color(color: Color | None) -> None:
    if color is not None:
        manner.choose_color(Color(color))


def _do_not_page(wanted: bool) -> None:
    if wanted:
        manner.choose_no_pager()


Quiet = Annotated[
    bool,
    typer.Option(
        "-q", "--quiet", expose_value=False, callback=_be_quiet, help="Only errors on stderr: no progress, no notices."
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "-v", "--verbose", expose_value=False, callback=_be_verbose, help="Every event on stderr, with its time."
    ),
]
UseColor = Annotated[
    Color | None,
    typer.Option(
        "--color",
        expose_value=False,
        callback=_use_color,
        help="Colors; auto by default: on a terminal, as NO_COLOR and FORCE_COLOR say.",
    ),
]
NoPager = Annotated[
    bool,
    typer.Option(
        "--no-pager",
        expose_value=False,
        callback=_do_not_page,
        help="Do not page long output on a terminal; nor does NO_PAGER. PAGER names the pager.",
    ),
]
_NAMES = {"quiet", "verbose", "color", "no_pager"}


def offer(command: Any, top: Sequence[Any]) -> None:
    """Let a command, and those below it, take the options of every command among those of the program."""
    command.params.extend(option for option in top if option.name in _NAMES)
    for below in getattr(command, "commands", {}).values():
        offer(below, top)
