"""Markdown: a report to paste into a pull request or a wiki."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence

from orchestrator.reporting import printed
from orchestrator.reporting.floors import lines as floor_lines
from orchestrator.reporting.model import CellReport, Group, Placed, Report
from orchestrator.reporting.parity import lines as parity_lines
from orchestrator.reporting.text import (
    EPOCH_HEADS,
    EPOCH_NOTE,
    LEGEND,
    clean,
    clean_line,
    epoch_figures,
    factor,
    factor_interval,
    latency,
    memory,
    rate,
    rate_interval,
    repeats,
    seconds,
    statuses,
    verdict,
)

_SPECIAL = re.compile(r"([\\`*\[\]<>|~&#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_RANKING = ("Rank", "Framework", "Samples/s", "95 % interval", "× best", "its interval", "Verdict")
_DETAILS = ("Step p50", "Step p99", "its interval", "Start", "Memory", "Repeats")


def markdown(report: Report) -> str:
    """Render a report as Markdown with tables (GitHub's dialect)."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def escape(text: str) -> str:
    """One line of text that Markdown shows as it is, in a table cell too."""
    return _SPECIAL.sub(r"\\\1", clean_line(text))


def fence(text: str) -> str:
    """A code block around any text, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}text\n{clean(text)}\n{mark}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> str:
    """A table of texts that are escaped here; columns in `right` are aligned right."""
    rule = ["---:" if index in right else "---" for index in range(len(heads))]
    lines = [[escape(head) for head in heads], rule, *[[escape(cell) or " " for cell in row] for row in rows]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _lines(report: Report) -> Iterator[str]:
    yield f"# {escape(report.matrix)}: run {escape(report.run)}\n"
    ended = statuses(report.statuses) or "nothing planned"
    yield f"{escape(report.created_at)}, runtime {escape(report.runtime)}: {ended}.\n"
    for warning in report.warnings:
        yield f"> **Warning:** {escape(warning)}\n"
    cells = report.by_id
    for group in report.groups:
        yield f"## {escape(group.label)}\n"
        yield f"{escape(group.sentence)}\n"
        if group.places:
            yield _group(cells, group) + "\n"
        if found := [*parity_lines(group), *floor_lines(group)]:
            yield "\n".join(f"- {escape(said)}" for said in found) + "\n"
        yield from _epochs(cells, group)
    if report.groups:
        yield f"{LEGEND}\n"
    if report.scripts:
        yield f"## {printed.TITLE}\n"
        yield f"{printed.NOTE}\n"
        yield table(printed.HEADS, printed.rows(report.scripts), frozenset({2, 3, 5})) + "\n"
    yield from _problems(report)
    yield from _skips(report)
    yield from _environment(report)


def _group(cells: Mapping[str, CellReport], group: Group) -> str:
    rows = [_row(cells[place.cell_id], place) for place in group.places]
    return table((*_RANKING, *_DETAILS), rows, frozenset({0, 2, 3, 4, 5, 7, 8, 9, 10, 11}))


def _row(cell: CellReport, place: Placed) -> tuple[str, ...]:
    found = cell.measurement
    if found is None:
        return ("–", place.label, *["–"] * 10, statuses(cell.statuses))
    over, device = place.to_best, found.peak_device_bytes
    return (
        place.rank.label if place.rank else "–",
        place.label,
        rate(found.throughput.value),
        rate_interval(found.throughput),
        *((factor(over.value), factor_interval(over), verdict(over)) if over else ("1", "–", "–")),
        *latency(found.latency),
        seconds(found.start_s),
        memory(found.peak_rss_bytes) + (f", {memory(device)} on the device" if device is not None else ""),
        statuses(cell.statuses),
    )


def _epochs(cells: Mapping[str, CellReport], group: Group) -> Iterator[str]:
    rows = []
    for place in group.places:
        epochs = cells[place.cell_id].epochs
        if epochs:
            figures = epoch_figures(epochs)
            texts = [f"{figure.text} ({figure.below})" if figure.below else figure.text for figure in figures]
            rows.append([place.label, *texts])
    if rows:
        yield table(("Framework", *EPOCH_HEADS), rows, frozenset(range(1, 1 + len(EPOCH_HEADS)))) + "\n"
        yield f"{EPOCH_NOTE}\n"


def _problems(report: Report) -> Iterator[str]:
    if report.problems:
        yield "## Not ok\n"
    for problem in report.problems:
        expected = " (expected)" if problem.expected else ""
        reason = f": {escape(problem.reason)}" if problem.reason else ""
        yield f"**{problem.status.value}**{expected}{reason}\n"
        yield "\n".join(f"- {escape(cell.cell_id)}, {repeats(cell.repeats)}" for cell in problem.cells) + "\n"
        for log in problem.logs:
            if log.tail:
                more = len(log.cell_ids) - 1
                alike = f" and of {more} more" if more else ""
                name = html.escape(clean_line(log.cell_ids[0]))  # within HTML a backslash of Markdown escapes nothing
                yield f"<details><summary>End of the log of {name}{alike}</summary>\n"
                yield fence(log.tail) + "\n"
                yield "</details>\n"


def _skips(report: Report) -> Iterator[str]:
    if report.skips:
        yield "## Skipped by the plan\n"
        yield table(("Cell", "Reason"), [(skip.cell_id, skip.reason) for skip in report.skips]) + "\n"


def _environment(report: Report) -> Iterator[str]:
    yield "## Environment\n"
    if report.host:
        yield table(("Host", ""), report.host) + "\n"
    for image in report.images:
        rows = [
            *[("launched by", value) for value in image.references],
            *[("base", value) for value in image.base_digests],
            *[("image id", value) for value in image.image_ids],
            *[("measurement version", str(value)) for value in image.measurement_versions],
            *([("versions", ", ".join(image.versions))] if image.versions else []),
            *[(name, value) for name, value in image.facts if not name.startswith("versions.")],
        ]
        without = [] if image.measurement_versions else [("–", "no container of it has measured")]
        yield table((image.name, ""), [*rows, *without]) + "\n"
