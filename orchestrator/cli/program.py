"""The program: every command, and what becomes of their errors."""

import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import groupby, pairwise, takewhile
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from orchestrator import __version__
from orchestrator.cli import everywhere, parsing
from orchestrator.cli.output import manner, pages, paging
from orchestrator.errors import HostError, InputError, OrchestratorError, plain_words

_NO_CHOICE = re.compile(r"'(?P<given>.*)' is not one of (?P<choices>'.*')\.?")
_NUMBERS = {
    "int_parsing": "{given!r} is no whole number",
    "int_parsing_size": "{given!r} is no whole number that this program can read",
    "float_parsing": "{given!r} is no number",
    "greater_than_equal": "should be at least {ge:g}, not {given!r}",
    "less_than_equal": "should be at most {le:g}, not {given!r}",
}
"""A sentence for each type of error that pydantic has for the number of an option."""
_MOST_CHARACTERS = 40
"""Of a number that was given and cannot be used."""

COMMANDS = {
    "init": ("measure.init", "Write a matrix to begin with, from the catalog."),
    "plan": ("measure.plan", "Show what would run, and what is skipped and why."),
    "build": ("measure.build", "Build the images that are missing."),
    "run": ("measure.run", "Run a matrix, or the plan of a bundle, and report."),
    "cancel": ("measure.cluster", "Cancel the jobs of a run on a cluster."),
    "render": ("measure.render", "Write the Jobs of a run for Kubernetes."),
    "report": ("look.report", "Show runs again from their files, alone or side by side."),
    "runs": ("look.runs", "List the runs of a results folder."),
    "show": ("look.runs", "Show how every repeat of a run or of a cell ended."),
    "publish": ("look.publish", "Write a static site over all runs, nights and searches."),
    "serve": ("look.serve", "Serve that site, with what is measured at the moment."),
    "models": ("look.catalog", "List the models with their defaults."),
    "frameworks": ("look.catalog", "List the frameworks and the releases known to work."),
    "schema": ("look.schema", "Print the JSON Schema of a file, such as matrix.yaml."),
    "regress": ("compare.regress", "Measure two releases in turn and judge the second."),
    "bisect": ("compare.bisect", "Find the published release that changed a cell."),
    "compare": ("compare.runs", "Compare runs, or files of other tools, where that is fair."),
    "nightly": ("compare.nightly", "Measure new releases against the baseline."),
    "history": ("compare.history", "Show a series for each cell, metric and host over all runs."),
    "export": ("ship.export", "Write a bundle for a server without internet."),
    "verify": ("ship.load", "Prove every byte of a bundle against its manifest."),
    "load": ("ship.load", "Verify a bundle, and put its images on the engine."),
    "push": ("ship.push", "Push the images of a plan to a registry."),
    "anonymise": ("ship.anonymise", "Replace what a network has learned, and prove its speed."),
    "collect": ("ship.returns", "Gather runs into one checksummed file."),
    "merge": ("ship.returns", "Add the runs of such a file to those that are there."),
    "data": ("host.data", "Say which files datasets need, verify them, make stand-ins."),
    "doctor": ("host.doctor", "Say whether this host is fit to measure."),
    "clean": ("host.clean", "Remove what of ours takes disk and can be made again."),
}
"""The module and the short help of every command, by the group of its module.

A module is imported where its command is named.
"""


_UsageError: Any = typer.BadParameter.__base__
"""The error of options that cannot be read."""


class _Commands(TyperGroup):
    """The group of all commands. It says in plain words what is wrong with a value of an option."""

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the commands by their groups, each with the whole of its short help."""
        del ctx
        width = max(map(len, COMMANDS))
        for group, names in groupby(COMMANDS, lambda name: COMMANDS[name][0].partition(".")[0]):
            with formatter.section(group.capitalize()):
                formatter.write_dl([(name.ljust(width), COMMANDS[name][1]) for name in names])

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> tuple[Any, Any, list[str]]:  # type: ignore[override]
        """Return the command that is named, with its options; what it needs may take long to import."""
        name, _, rest = super().resolve_command(ctx, args)
        command = _loaded(name) if name else None
        everywhere.offer(command, self.params)
        parsing.validate_late(command, ctx)
        return name, command, rest

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the options of the program."""
        parsing.validate_late(self, ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command that was named."""
        with _mistakes_as_lines():
            try:
                return super().invoke(ctx)
            except typer.BadParameter as error:
                error.message = _number_said(error.__cause__) or _said(error.message)
                raise

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """Read the options before the name of the command."""
        with _mistakes_as_lines():
            return super().make_context(*arguments, **settings)


@contextmanager
def _mistakes_as_lines() -> Iterator[None]:
    """Turn a mistake in the options, which is shown with the usage, into an error of one line for programs."""
    try:
        yield
    except _UsageError as error:
        if not manner.current().for_programs:
            raise
        raise InputError(error.format_message()) from error


def _number_said(cause: BaseException | None) -> str:
    """Return what is wrong with a number, by the error of pydantic behind it, or nothing."""
    from pydantic import ValidationError

    if not isinstance(cause, ValidationError):
        return ""
    details = cause.errors()[0]
    sentence = _NUMBERS.get(details["type"], "")
    given = str(details["input"])
    given = given if len(given) <= _MOST_CHARACTERS else f"{given[:_MOST_CHARACTERS]}…"
    return sentence.format(given=given, **details.get("ctx", {}))


def _said(message: str) -> str:
    """Return what is wrong with a value, with a close match where the value is none of a few words."""
    message = plain_words(message)
    wrong = _NO_CHOICE.fullmatch(message)
    if wrong is None:
        return message
    choices = [choice.strip("'") for choice in wrong["choices"].split(", ")]
    close = get_close_matches(wrong["given"].lower(), choices, n=1)
    return f"{message.rstrip('.')}; did you mean {close[0]!r}?" if close else message


def _loaded(name: str) -> Any:
    module, _ = COMMANDS[name]
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    app.callback()(lambda: None)  # with it, a single command too is one of a group
    importlib.import_module(f"orchestrator.cli.{module}").register(app)
    return typer.main.get_group(app).commands[name]


def program() -> typer.Typer:
    """Return the program."""
    app = typer.Typer(
        name="orchestrator",
        cls=_Commands,
        help="Benchmark deep-learning frameworks against each other, in containers, on your own servers.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_top)
    for name, (_, short_help) in COMMANDS.items():
        app.command(name, help=short_help)(lambda: None)  # stands in for the command until it is named
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
    quiet: everywhere.Quiet = False,
    verbose: everywhere.Verbose = False,
    color: everywhere.UseColor = None,
    no_pager: everywhere.NoPager = False,
) -> None:
    del version, quiet, verbose, color, no_pager


def run(arguments: Sequence[str] | None) -> int:
    """Run one command, `sys.argv` by default, and give its exit status; its errors are told on stderr."""
    written = sys.argv[1:] if arguments is None else list(arguments)
    with manner.of_one_command(for_programs=_asks_json(written)), paging.held(_named(written)):
        return _run(written)


def _named(arguments: Sequence[str]) -> str:
    """Return the command that a line names, or an empty text."""
    return next((argument for argument in arguments if argument in COMMANDS), "")


def _asks_json(arguments: Sequence[str]) -> bool:
    """Return True if options ask for JSON, which counts for mistakes in other options too."""
    options = [*takewhile(lambda argument: argument != "--", arguments), ""]
    return any(
        option in {"--json", "--format=json"} or (option, value) == ("--format", "json")
        for option, value in pairwise(options)
    )


def _run(arguments: Sequence[str]) -> int:
    stdout = sys.stdout
    try:
        with parsing.plain_completion():
            program()(args=arguments, complete_var=parsing.COMPLETE)
        sys.stdout.flush()
    except SystemExit as end:
        # Typer puts another stdout there when the reader of ours has gone, as in `| head`: no failure of the command.
        return end.code if isinstance(end.code, int) and sys.stdout is stdout else 0
    except InputError as error:
        for message in error.messages:
            _say(message)
        pages.say_pages(_named(arguments), error.messages, error)
        return error.exit_code
    except OrchestratorError as error:
        _say(str(error))
        pages.say_pages(_named(arguments), [str(error)], error)
        return error.exit_code
    except BrokenPipeError:
        # The reader has seen enough. Nothing more may be written to it, not even when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno is None:  # of a library whose errors are subclasses, such as that of an engine which is too slow
            _say(f"no answer: {error}; try again")
        elif error.filename is None:
            _say(f"output cannot be written: {error.strerror}")
        else:
            _say(f"{error.filename}: cannot be used: {error.strerror}; choose another place")
        return HostError.exit_code
    return 0


def _say(message: str) -> None:
    from orchestrator.cli.output import speech

    speech.say_error(message)
