"""The terminal: one table per group, then what did not end well and what was skipped."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from orchestrator.analysis import Measurement, Ratio, Verdict
from orchestrator.domain import Status
from orchestrator.reporting import printed
from orchestrator.reporting.floors import lines as floor_lines
from orchestrator.reporting.model import CellReport, Group, LogEnd, Placed, Problem, Report
from orchestrator.reporting.parity import lines as parity_lines
from orchestrator.reporting.text import (
    EPOCH_HEADS,
    EPOCH_NOTE,
    LEGEND,
    clean,
    clean_line,
    counted,
    epoch_figures,
    factor,
    factor_interval,
    latency,
    listing_of,
    memory,
    plural,
    rate,
    rate_interval,
    repeats,
    seconds,
    statuses,
)

_VERDICT_STYLES = {
    Verdict.FASTER: "green",
    Verdict.SLOWER: "red",
    Verdict.SAME: "default",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.NOT_COMPARABLE: "yellow",
}
_TAIL_LINES = 6
_MOST_NAMED = 3
"""Cells or groups that one reason names; the rest is a count."""


_NARROW = 100


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A report that takes the width of the console it is printed on."""

    report: Report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        yield from _parts(self.report, gap=0 if options.max_width < _NARROW else 1)


def table(report: Report) -> RenderableType:
    """Render a report for a Rich console; readable from 80 columns, and without colour."""
    return _Fitted(report)


def _parts(report: Report, gap: int) -> Iterator[RenderableType]:
    yield _line(f"{report.matrix}: run {report.run} ({report.runtime})", "bold")
    for warning in report.warnings:
        yield _line(f"warning: {warning}", "yellow")
    yield from _groups(report, gap)
    yield from _printed(report, gap)
    if report.problems:
        yield Text()
        yield _line("Not ok", "bold")
        for problem in report.problems:
            yield from _problem(problem)
    if report.skips:
        yield Text()
        yield _line(f"Skipped by the plan: {len(report.skips)} {plural('cell', len(report.skips))}", "bold")
        for line in _skips(report):
            yield _line(line)
    yield Text()
    if _has_more(report):
        yield _line("orchestrator report --format md names every cell and log.", "dim")
    if report.groups:
        yield _line(LEGEND, "dim")
    yield _statuses(report)


def _groups(report: Report, gap: int) -> Iterator[RenderableType]:
    cells = report.by_id
    silent = [group for group in report.groups if _is_silent(group, cells)]
    folded = silent if silent[1:] else []
    for group in report.groups:
        if group not in folded:
            yield from _shown(group, cells, gap)
    if folded:
        yield Text()
        names = listing_of([group.label for group in folded], _MOST_NAMED)
        yield _line(f"Nothing was measured in {counted(len(folded), 'group')}: {names}")


def _shown(group: Group, cells: dict[str, CellReport], gap: int) -> Iterator[RenderableType]:
    yield Text()
    yield _line(group.label, "bold")
    yield _line(group.sentence)
    # A group without a figure would be a table of dashes; its cells stand under "Not ok".
    if any(cells[place.cell_id].measurement for place in group.places):
        yield _group(group, cells, gap)
    for said in (*parity_lines(group), *floor_lines(group)):
        yield _line(said, "dim")
    yield from _epochs(group, cells, gap)


def _is_silent(group: Group, cells: dict[str, CellReport]) -> bool:
    """Tell whether there is nothing to show of a group but that it was not measured."""
    measured = any(cells[place.cell_id].measurement for place in group.places)
    floors = any(floor.step_s is not None for floor in group.floors)
    return not (measured or floors or any(parity_lines(group)))


def _skips(report: Report) -> Iterator[str]:
    """Give a line for each reason, with the cells that it names."""
    alike: dict[str, list[str]] = {}
    for skip in report.skips:
        alike.setdefault(skip.reason, []).append(skip.cell_id)
    for reason, ids in alike.items():
        yield f"{listing_of(ids, _MOST_NAMED)}: {reason}"


def _has_more(report: Report) -> bool:
    """Whether some reason names fewer cells than it has."""
    most = _MOST_NAMED + 1
    reasons = Counter(skip.reason for skip in report.skips)
    return any(number > most for number in (*(len(problem.cells) for problem in report.problems), *reasons.values()))


def _printed(report: Report, gap: int) -> Iterator[RenderableType]:
    if not report.scripts:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, gap), header_style="bold")
    for head in printed.HEADS:
        table.add_column(head, overflow="fold")
    for row in printed.rows(report.scripts):
        table.add_row(*(_line(text) for text in row))
    yield Text()
    yield _line(printed.TITLE, "bold")
    yield _line(printed.NOTE)
    yield table


def _line(text: str, style: str = "") -> Text:
    return Text(clean_line(text), style=style)


def _statuses(report: Report) -> Text:
    total = sum(count for _, count in report.statuses)
    return _line(f"{total} planned {plural('repeat', total)}: {statuses(report.statuses) or 'none'}", "bold")


def _group(group: Group, cells: dict[str, CellReport], gap: int) -> Table:
    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, gap), header_style="bold")
    found.add_column("Rank", justify="right", no_wrap=True)
    found.add_column("Framework", overflow="fold", min_width=14)
    found.add_column("Samples/s\ninterval", justify="right", no_wrap=True)
    found.add_column("× best\ninterval", justify="right", no_wrap=True)
    found.add_column("Step p50\np99\ninterval", justify="right", no_wrap=True)
    found.add_column("Start\nmemory", justify="right", no_wrap=True)
    found.add_column("Status", overflow="fold")
    for place in group.places:
        found.add_row(*_row(place, cells[place.cell_id]))
    return found


def _epochs(group: Group, cells: dict[str, CellReport], gap: int) -> Iterator[RenderableType]:
    timed = [(place.label, epochs) for place in group.places if (epochs := cells[place.cell_id].epochs)]
    if not timed:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, gap), header_style="bold")
    table.add_column("Framework", overflow="fold", min_width=14)
    for head in EPOCH_HEADS:
        table.add_column(head, justify="right")
    for label, epochs in timed:
        table.add_row(_line(label), *(_two(figure.text, figure.below) for figure in epoch_figures(epochs)))
    yield Text()
    yield table
    yield _line(EPOCH_NOTE, "dim")


def _row(place: Placed, cell: CellReport) -> tuple[Text, ...]:
    measured = cell.measurement
    status = Text(statuses(cell.statuses).replace(", ", "\n"), style=_status_style(cell))
    if measured is None:
        return (Text("–"), _line(place.label), *[Text("–")] * 4, status)
    return (
        Text(place.rank.label if place.rank else "–"),
        _line(place.label),
        _two(rate(measured.throughput.value), rate_interval(measured.throughput)),
        _ratio(place.to_best),
        _latency(measured),
        _two(seconds(measured.start_s), "\n".join(_memory(measured))),
        status,
    )


def _memory(measured: Measurement) -> list[str]:
    on_device = measured.peak_device_bytes
    return [memory(measured.peak_rss_bytes), *([] if on_device is None else [f"{memory(on_device)} device"])]


def _latency(measured: Measurement) -> Text:
    p50, p99, bounds = latency(measured.latency)
    if " " not in bounds.partition("–")[0]:  # both ends are in the unit of the p99 above them
        bounds = bounds.partition(" ")[0]
    return _two(p50, f"{p99}\n{bounds}")


def _two(first: str, second: str) -> Text:
    return Text.assemble(first, "\n", (second, "dim"))


def _ratio(over: Ratio | None) -> Text:
    if over is None:
        return Text("1 ×\nbest")
    style = _VERDICT_STYLES[over.verdict]
    return Text.assemble(
        f"{factor(over.value)} ×\n", (f"{factor_interval(over)}\n", "dim"), (over.verdict.value, style)
    )


def _status_style(cell: CellReport) -> str:
    if all(status is Status.OK for status, _ in cell.statuses):
        return ""
    return "red" if any(status.is_failure for status, _ in cell.statuses) else "yellow"


def _problem(problem: Problem) -> Iterator[RenderableType]:
    expected = " (expected)" if problem.expected else ""
    style = "red" if problem.status.is_failure and not problem.expected else "yellow"
    reason = f": {clean_line(problem.reason)}" if problem.reason else ""
    yield Text.assemble((f"{problem.status.value}{expected}", style), reason)
    named = problem.cells if len(problem.cells) <= _MOST_NAMED + 1 else problem.cells[:_MOST_NAMED]
    for cell in named:
        yield Padding(_line(f"{cell.cell_id}, {repeats(cell.repeats)}"), (0, 0, 0, 2), expand=False)
    if named != problem.cells:
        total = sum(len(cell.repeats) for cell in problem.cells)
        more = f"and {len(problem.cells) - len(named):,} more cells; {counted(total, 'repeat')} in all"
        yield Padding(_line(more), (0, 0, 0, 2), expand=False)
    for log in problem.logs[:_MOST_NAMED] if problem.status.is_failure else ():
        yield from _log(log, len(problem.logs))


def _log(log: LogEnd, logs: int) -> Iterator[RenderableType]:
    lines = clean(log.tail).splitlines()[-_TAIL_LINES:]
    if lines:
        yield Padding(Text("\n".join(lines), style="dim"), (0, 0, 0, 4), expand=False)
    more = len(log.cell_ids) - 1
    alike = f" (and of {more} more {plural('cell', more)})" if more and logs > 1 else ""
    yield Padding(_line(f"log: {log.log}{alike}", "dim"), (0, 0, 0, 4), expand=False)
