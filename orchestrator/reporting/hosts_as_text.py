"""Several runs beside each other, as the terminal's table, Markdown, CSV, JSON and JUnit."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import junitparser
from rich import box
from rich.console import Group as Parts
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from orchestrator.analysis import Ratio
from orchestrator.encoded import json_text
from orchestrator.reporting.as_csv import csv_of
from orchestrator.reporting.as_json import json_value
from orchestrator.reporting.as_junit import junit_text
from orchestrator.reporting.as_markdown import escape
from orchestrator.reporting.as_markdown import table as markdown_table
from orchestrator.reporting.hosts import FACTS, Beside, HostRun, SideBySide, surely
from orchestrator.reporting.model import CellReport
from orchestrator.reporting.text import clean_line, factor, factor_interval, rate, rate_interval, seconds, statuses

TITLE = "Runs side by side"
NOT_PLANNED = "not in its plan"


def heads(several: SideBySide) -> tuple[str, ...]:
    """The columns of a group: the cell, one for every run, and how the others relate to the first."""
    return ("Cell", *(run.label for run in several.runs), *(f"{run.label} ÷ first" for run in several.runs[1:]))


def figures(cell: CellReport | None) -> tuple[str, str]:
    """What a run found of a cell, in two short texts: samples/s with rank, and interval or how it ended."""
    if cell is None:
        return "–", NOT_PLANNED
    if cell.measurement is None:
        return "–", statuses(cell.statuses)
    if not cell.computes and cell.step_s is not None:
        return seconds(cell.step_s), "a step: harness floor"
    return rate(cell.measurement.throughput.value), rate_interval(cell.measurement.throughput)


def rank(run: HostRun, cell_id: str) -> str:
    """A cell's place among those of its own run; empty where it has none."""
    found = (place.rank for group in run.report.groups for place in group.places if place.cell_id == cell_id)
    place = next(found, None)
    return f"rank {place.label}" if place else ""


def between(cell: Beside) -> tuple[tuple[str, str], ...]:
    """Every run but the first over the first: the ratio with its interval, and what it says of the hosts."""
    return tuple(_between(over, cell.note) for over in cell.over_first[1:])


def _between(over: Ratio | None, note: str) -> tuple[str, str]:
    if over is None:
        return "–", note
    return f"{factor(over.value)} × ({factor_interval(over)})", surely(over)


def host_rows(several: SideBySide) -> list[tuple[str, ...]]:
    """What each run ran on: the name of a fact, and a text for every run; what nobody knows is left out."""
    facts = [(title, *(dict(run.facts)[name] for run in several.runs)) for name, title in FACTS]
    return [
        ("Run", *(run.report.run for run in several.runs)),
        ("Started", *(run.report.created_at for run in several.runs)),
        *(row for row in facts if set(row[1:]) != {"–"}),
    ]


def _ended(several: SideBySide) -> tuple[str, ...]:
    return ("Ended", *(statuses(run.report.statuses) for run in several.runs))


def hosts_table(several: SideBySide) -> RenderableType:
    """Render for a Rich console; readable from 80 columns for two runs."""
    return Parts(*_parts(several))


def _parts(several: SideBySide) -> Iterator[RenderableType]:
    yield Text(TITLE, style="bold")
    yield _table(("", *(run.label for run in several.runs)), [*host_rows(several), _ended(several)])
    for note in several.notes:
        yield Text(clean_line(note), style="yellow")
    for group in several.groups:
        yield Text()
        yield Text(clean_line(group.label), style="bold")
        rows = []
        for cell in group.cells:
            ranks = [rank(run, cell.cell_id) for run in several.runs]
            found = [
                "\n".join(part for part in (*figures(one), place) if part)
                for one, place in zip(cell.found, ranks, strict=True)
            ]
            rows.append((cell.label, *found, *("\n".join(filter(None, pair)) for pair in between(cell))))
        yield _table(heads(several), rows)
    yield Text()
    yield Text("Samples/s with their interval. What failed, and why: orchestrator report RUN", style="dim")


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), header_style="bold")
    for column in columns:
        found.add_column(Text(clean_line(column)), overflow="fold")
    for row in rows:
        found.add_row(*(Text("\n".join(clean_line(line) for line in text.split("\n"))) for text in row))
    return found


def hosts_markdown(several: SideBySide) -> str:
    """Render as Markdown with tables (GitHub's dialect)."""
    return "\n".join(_markdown(several)).rstrip() + "\n"


def _markdown(several: SideBySide) -> Iterator[str]:
    yield f"# {TITLE}\n"
    yield markdown_table(("", *(run.label for run in several.runs)), [*host_rows(several), _ended(several)]) + "\n"
    for note in several.notes:
        yield f"> {escape(note)}\n"
    for group in several.groups:
        yield f"## {escape(group.label)}\n"
        rows = [
            (
                cell.label,
                *(
                    ", ".join(filter(None, (*figures(one), rank(run, cell.cell_id))))
                    for one, run in zip(cell.found, several.runs, strict=True)
                ),
                *(", ".join(filter(None, pair)) for pair in between(cell)),
            )
            for cell in group.cells
        ]
        yield markdown_table(heads(several), rows) + "\n"


def hosts_csv(several: SideBySide) -> str:
    """Every run's own rows under one header, with what is known of its host behind them."""
    return csv_of([(run.report, dict(run.facts)) for run in several.runs])


def hosts_value(several: SideBySide) -> dict[str, Any]:
    """As plain JSON values: every run's whole report, and what stands beside what."""
    return {
        "schema": 1,
        "notes": list(several.notes),
        "runs": [
            {"label": run.label, "host": dict(run.facts), "report": json_value(run.report)} for run in several.runs
        ],
        "groups": [
            {"label": group.label, "cells": [_cell_value(several, cell) for cell in group.cells]}
            for group in several.groups
        ],
    }


def _cell_value(several: SideBySide, cell: Beside) -> Mapping[str, Any]:
    found = [
        {
            "run": run.report.run,
            "samples_per_s": one.measurement.throughput.value if one and one.measurement else None,
            "statuses": {status.value: number for status, number in one.statuses} if one else None,
            "over_first": over.value if over else None,
            "over_first_low": over.low if over else None,
            "over_first_high": over.high if over else None,
        }
        for run, one, over in zip(several.runs, cell.found, cell.over_first, strict=True)
    ]
    return {"cell": cell.cell_id, "note": cell.note, "runs": found}


def hosts_json(several: SideBySide) -> str:
    """Render as JSON, indented."""
    return json_text(hosts_value(several), indent=1) + "\n"


def hosts_junit(several: SideBySide) -> str:
    """Every run's own suites, one after another; each says which host it is of."""
    suites = junitparser.JUnitXml(TITLE)
    for run in several.runs:
        for suite in junitparser.JUnitXml.fromstring(junit_text(run.report).encode()):
            suite.name = f"{suite.name} ({run.report.run})"
            suites.add_testsuite(suite)
    suites.update_statistics()  # type: ignore[no-untyped-call]  # the library has no annotations here
    found: bytes = suites.tostring()  # type: ignore[no-untyped-call]
    return found.decode() + "\n"


HOSTS_FORMATS: Mapping[str, Callable[[SideBySide], str]] = {
    "md": hosts_markdown,
    "csv": hosts_csv,
    "json": hosts_json,
    "junit": hosts_junit,
}
