"""`history`: series over all runs of a results folder, with the points at which they change."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.options import Json, Results
from orchestrator.cli.output import outputs, speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.errors import InputError
from orchestrator.matrix.hints import did_you_mean
from orchestrator.planning.selection import matches
from orchestrator.regression.history.acknowledged import load_acknowledged
from orchestrator.regression.history.read import measured_cells
from orchestrator.regression.history.series import LEAST_POINTS, MIN_EFFECT, Series, series, series_of
from orchestrator.regression.metrics import BY_NAME
from orchestrator.reporting.findings.gather import idle_builders
from orchestrator.reporting.formats import HTML, JSON, TABLE, render, terminal
from orchestrator.reporting.reports.history import HISTORY, write_html
from orchestrator.workflows.inputs.stored_runs import DEFAULT_RESULTS, report_hidden_runs
from orchestrator.workflows.outputs import chosen_format, named_by

PAGE_FOLDER = "history"
_WIDTH = 100


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("history")(history)


def history(
    results: Results = DEFAULT_RESULTS,
    select: Annotated[
        list[str],
        typer.Option("--select", metavar="GLOB", help="Only series whose name matches, such as 'mxnet-*/lenet-*'."),
    ] = [],
    metric: Annotated[
        list[str], typer.Option("--metric", metavar="NAME", help="Which metrics; throughput by default, 'all' for all.")
    ] = ["throughput"],
    host: Annotated[str, typer.Option("--host", help="Only series of this host.")] = "",
    by_release: Annotated[
        bool, typer.Option("--by-release", help="Series of each release too, beside those that follow the newest one.")
    ] = False,
    acknowledged: Annotated[
        Path | None, typer.Option("--acknowledged", metavar="FILE", help="Changes that are known, with their reasons.")
    ] = None,
    min_effect: Annotated[
        float, typer.Option("--min-effect", min=0.001, max=1, help="Smallest change to look for, as a share.")
    ] = MIN_EFFECT,
    format_: Annotated[str | None, outputs.format_option(HISTORY)] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="PATH", help="Write there; the folder of the pages if it names no format."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show a series for each cell, metric and host over all runs, with the points at which it changes."""
    if not results.is_dir():
        raise InputError(f"{results}: no such folder; `orchestrator run` makes one, --results DIR looks elsewhere")
    shown_as = _shown_as(format_, output, json=json)
    known = load_acknowledged(acknowledged)
    wanted = _metrics(metric)
    here = this_host(json=json)
    report_hidden_runs(results, here)
    nights = measured_cells(results, here.cache)
    found = series(nights, known, min_effect=min_effect, metrics=wanted, idle_builders=idle_builders())
    asked = _asked(found, select, host)
    shown = [one for one in asked if (one.is_tracked or by_release) and len(one.points) >= LEAST_POINTS]
    if asked and not shown:
        _say_nothing_to_show(len(asked), writes_page=shown_as in {None, HTML})
    if shown_as not in {None, HTML}:
        outputs.deliver(render(HISTORY, shown, shown_as), output)
        return
    page = None
    if shown or not asked:
        page = write_html(shown, output) if output else write_html(shown, results / PAGE_FOLDER, series_of(nights))
    if shown_as == HTML:
        if page is not None:
            speech.say(f"page: {page}")
    elif json:
        outputs.deliver(render(HISTORY, shown, JSON), None)
    else:
        console = speech.output(_WIDTH)
        if shown:
            console.print(terminal.shown(HISTORY, shown), soft_wrap=True)
        if page is not None:
            speech.tell(console, f"page: {page}")


def _shown_as(format_: str | None, output: Path | None, *, json: bool) -> str | None:
    """Return the format asked for, or None for the series on the terminal, or as JSON, and their pages."""
    if json and format_ not in {None, JSON}:
        raise InputError(f"--json and --format {format_} ask for two formats: leave one out")
    if format_ is None and named_by(output) is None:
        return None
    shown_as = chosen_format(HISTORY, JSON if json else format_, output, "--json" if format_ is None else "--format")
    return None if shown_as == TABLE and output is None else shown_as


def _say_nothing_to_show(number: int, *, writes_page: bool) -> None:
    speech.say(
        f"no series of {LEAST_POINTS} nights or more here; --by-release shows those of one release, and there are "
        f"{number} in all{'; no page is written' if writes_page else ''}"
    )


def _metrics(names: list[str]) -> list[str] | None:
    if "all" in names:
        return None
    mistakes = [
        f"--metric {name!r}: unknown{did_you_mean(name, tuple(BY_NAME))}" for name in names if name not in BY_NAME
    ]
    if mistakes:
        raise InputError(*mistakes)
    return names


def _asked(found: Sequence[Series], globs: list[str], host: str) -> list[Series]:
    """Series of a host whose names match; raises `InputError` for a host without any and a glob that matches none."""
    if host and all(one.host != host for one in found):
        raise InputError(
            f"--host {host!r}: no series of it here{did_you_mean(host, _distinct(one.host for one in found))}"
        )
    there = [one for one in found if not host or one.host == host]
    mistakes = [
        f"--select {glob!r} matches no series{did_you_mean(glob, _distinct(one.name for one in there))}"
        for glob in globs
        if not any(matches(glob, one.name) for one in there)
    ]
    if mistakes:
        raise InputError(*mistakes)
    return [one for one in there if not globs or any(matches(glob, one.name) for glob in globs)]


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
