"""`history`: series over all runs of a results folder, with the points at which they change."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli import composition, places, speech
from orchestrator.cli.options import DEFAULT_RESULTS, Json, Results
from orchestrator.errors import InputError
from orchestrator.matrix.hints import did_you_mean
from orchestrator.planning.selection import matches
from orchestrator.regression.history.acknowledged import load_acknowledged
from orchestrator.regression.history.read import measured_cells
from orchestrator.regression.history.series import LEAST_POINTS, MIN_EFFECT, Series, series, series_of
from orchestrator.regression.metrics import BY_NAME
from orchestrator.reporting.findings.gather import idle_builders
from orchestrator.reporting.reports import history_words as words
from orchestrator.reporting.reports.history import write_html

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
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Write the pages there, not into the results.")
    ] = None,
    json: Json = False,
) -> None:
    """Show a series for each cell, metric and host over all runs, with the points at which it changes."""
    if not results.is_dir():
        raise InputError(f"{results}: no such folder; `orchestrator run` makes one, --results DIR looks elsewhere")
    known = load_acknowledged(acknowledged)
    wanted = _metrics(metric)
    composition.tell_of_hidden(results)
    nights = measured_cells(results, places.cache_folder())
    found = series(nights, known, min_effect=min_effect, metrics=wanted, idle_builders=idle_builders())
    asked = _asked(found, select, host)
    shown = [one for one in asked if (one.is_tracked or by_release) and len(one.points) >= LEAST_POINTS]
    page = None
    if shown or not asked:
        page = write_html(shown, output) if output else write_html(shown, results / PAGE_FOLDER, series_of(nights))
    else:
        speech.say(
            f"no series of {LEAST_POINTS} nights or more here; --by-release shows those of one release, and there are "
            f"{len(asked)} in all; no page is written"
        )
    if json:
        speech.print_json([words.entry(one) for one in shown])
        return
    console = speech.output(_WIDTH)
    for one in shown:
        speech.tell(console, words.label(one), "bold")
        latest = words.figure(one.metric, one.points[-1].value)
        speech.tell(console, f"  {words.sparkline(one)}  {latest}; {words.summary(one)}")
        for shift in one.shifts:
            row = words.shift_row(one, shift)
            text = f"  {row[0]} {row[1]}: {row[2]} → {row[3]}, × {row[4]}, p {row[5]}, {row[6]}"
            speech.tell(console, text)
    if page is not None:
        speech.tell(console, f"page: {page}")


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
