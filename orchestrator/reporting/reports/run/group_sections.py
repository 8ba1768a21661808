"""The section of a group on a run's page, with ranking, charts, pairs and tables."""

from collections.abc import Iterator, Mapping, Sequence

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.estimates import CONFIDENCE
from orchestrator.analysis.measurements import Measurement
from orchestrator.analysis.parity.work import PairParity, WorkParity
from orchestrator.analysis.ratios import Ratio
from orchestrator.reporting.blocks import (
    Block,
    Column,
    CurveCharts,
    Details,
    Heading,
    Items,
    LaneCharts,
    Paragraph,
    Row,
    Table,
    TableCell,
    table,
)
from orchestrator.reporting.charts.cells import charts
from orchestrator.reporting.charts.curves import curves
from orchestrator.reporting.document import Section
from orchestrator.reporting.findings import shared_texts
from orchestrator.reporting.findings.certainty.limits import limits_lines
from orchestrator.reporting.findings.certainty.looks import looks_lines
from orchestrator.reporting.findings.model import CellReport, Floor, Group, Placed, verdict_on
from orchestrator.reporting.findings.shared_texts import parity_lines
from orchestrator.reporting.findings.tables import under_load
from orchestrator.reporting.findings.tables.efficiency import (
    EFFICIENCY_HEADS,
    EFFICIENCY_NOTE,
    EFFICIENCY_NUMBERS,
    EFFICIENCY_TITLE,
    efficiency_rows,
)
from orchestrator.reporting.findings.tables.option_effects import (
    EFFECTS_HEADS,
    EFFECTS_NOTE,
    EFFECTS_TITLE,
    effect_rows,
)
from orchestrator.reporting.inline import (
    AT_ITS_LOOK,
    EPOCH_HEADS,
    EPOCH_NOTE,
    Chip,
    Phrase,
    Tone,
    VerdictWord,
    epoch_figures,
    factor_interval,
    interval_name,
    rate_interval,
    seconds_bounds,
    whole_percent,
)
from orchestrator.reporting.reports.run import cell_tables, gpu_table
from orchestrator.reporting.reports.run.cell_tables import Measured, Names, memory_cell
from orchestrator.reporting.reports.run.view import (
    GroupPart,
    PageView,
    cell_table,
    columns,
    conclusion,
    figure,
    row_of,
    status_chips,
)
from orchestrator.wording import factor, plural, rate, seconds, share

_MOST_IN_MATRIX = 20
"""Cells whose pairs are shown."""
_RANKING = ("Rank", "Framework", "{}s/s", "× best", "Verdict", "Step p50", "Step p99", "Start", "Memory", "Repeats")
_MOST_UNFOLDED = 6
"""Groups of a page whose charts and further tables are not folded."""
_FIGURES = 7
"""Columns of the ranking that a cell without a measurement leaves empty."""


def group_section(view: PageView, part: GroupPart, number: int) -> Section:
    """Return the section of a group, or of a stretch of it, by its number on the page."""
    group = part.group
    last = part.first + len(part.places) - 1
    stretch = "" if part.is_whole else f", places {part.first} to {last}"
    heading = (f"{group.workload.label} ", Phrase(f"on {group.place}{stretch}", "on"))
    blocks = tuple(_blocks(view, part, number))
    return Section(f"group-{number}", heading, blocks, anchor=part.anchor, holds_cells=True)


def _blocks(view: PageView, part: GroupPart, number: int) -> Iterator[Block]:
    group = part.group
    cells = [view.cells[cell_id] for cell_id in part.cell_ids]
    names = {cell.cell.id: f"{number}.{place}" for place, cell in enumerate(cells)}
    if part.first == 1 and view.says_findings:
        yield Paragraph(conclusion(group))
    if part.places:
        yield _ranking(view, part, names)
    if part.floors:
        yield _floors(view, part, names)
    lines = (*parity_lines(group), *looks_lines(group), *limits_lines(group)) if part.first == 1 else ()
    if lines:
        yield Items(lines)
    yield from (Paragraph(line) for line in shared_texts.waiting_lines(cells))
    measured = [(cell, cell.measurement) for cell in cells if cell.computes and cell.measurement]
    if any(cell.epochs for cell, _ in measured):
        yield _epochs(measured, names, group)
    of_mode = [cell for cell, _ in measured]
    if heads := under_load.heads(of_mode):
        yield table(heads, under_load.rows(of_mode), range(1, len(heads)))
        yield Paragraph(under_load.NOTE)
    if heads := shared_texts.metric_heads(of_mode):
        yield table(heads, shared_texts.metric_rows(of_mode), range(1, len(heads)))
        yield Paragraph(shared_texts.metrics_note(of_mode))
    if part.is_whole and (efficiencies := efficiency_rows(group, view.cells)):
        yield Heading(EFFICIENCY_TITLE, 3)
        yield table(EFFICIENCY_HEADS, efficiencies, EFFICIENCY_NUMBERS, EFFICIENCY_NOTE)
    further = [*(_measured(part, measured, number, names) if measured else ())]
    further.append(cell_tables.every_repeat(view, cells, group.label, names))
    if len(view.page.parts) > _MOST_UNFOLDED:
        yield Details(f"Charts, pairs and repeats of {part.group.label}", tuple(further))
    else:
        yield from further


def _ranking(view: PageView, part: GroupPart, names: Names) -> Table:
    heads = tuple(
        Column(
            head.format(part.group.workload.rules.sample.capitalize()),
            head not in {"Framework", "Verdict", "Repeats"},
            is_sortable=head != "Repeats",
            is_sorted=not place,
        )
        for place, head in enumerate(_RANKING)
    )
    rows = (
        _rank(view.cells[place.cell_id], place, names, number, has_others=len(part.group.places) > 1)
        for number, place in enumerate(part.places, part.first)
    )
    rates = (cell.measurement.throughput for place in part.places if (cell := view.cells[place.cell_id]).measurement)
    level = interval_name(rates, f"{whole_percent(CONFIDENCE)} interval")
    caption = f"Ranking by throughput, the best first; small figures below a value are its {level}"
    label = f"Ranking of {part.group.label}"
    return Table(heads, tuple(rows), caption, label, is_sortable=True, look="ranking", name_column=1)


def _rank(cell: CellReport, place: Placed, names: Names, number: int, *, has_others: bool) -> Row:
    name = cell.cell.id
    disturbed = sum(bool(repeat.outcome.disturbance) for repeat in cell.repeats)
    ended = status_chips(cell.statuses, *((Chip("disturbed", "open", disturbed),) if disturbed else ()))
    measurement = cell.measurement
    figures = tuple(_figures(measurement, place, has_others=has_others)) if measurement else ("–",) * _FIGURES
    cells = (
        figure(place.rank.label if place.rank else "–", str(number)),
        figure(place.label, place.label, name if place.label != name else ""),
        *figures,
        TableCell(ended),
    )
    return Row(cells, Tone.PLAIN if measurement else Tone.FAINT, anchor=name, ranks=names[name])


def _figures(measurement: Measurement, place: Placed, *, has_others: bool) -> Iterator[str | TableCell]:
    throughput, latency, over = measurement.throughput, measurement.latency, place.to_best
    yield figure(Phrase(rate(throughput.value), "b"), throughput.value, rate_interval(throughput))
    if over:
        yield figure(factor(over.value), over.value, factor_interval(over))
        repeats = over.more_repeats
        more = f"about {repeats} more {plural('repeat', repeats)}" if repeats else ""
        yield figure(VerdictWord(place.verdict, over.verdict.value), place.verdict, more)
    else:
        yield figure("1", "1")
        yield figure("best" if has_others else "–", "")
    if latency:
        steps = f"of {latency.n:,} {plural('step', latency.n)}"
        yield figure(seconds(latency.p50_s), latency.p50_s, seconds_bounds(latency.p50_bounds_s))
        if latency.gives(0.99):
            yield figure(seconds(latency.p99_s), latency.p99_s, seconds_bounds(latency.p99_bounds_s), steps)
        else:
            yield figure("–", "", steps)
    else:
        yield "–"
        yield "–"
    yield figure(seconds(measurement.start_s), measurement.start_s)
    yield memory_cell(measurement.peak_rss_bytes, measurement.peak_device_bytes)


def _floors(view: PageView, part: GroupPart, names: Names) -> Table:
    heads = columns(shared_texts.FLOOR_HEADS, (1, 2, 3, 4))
    rows = (_floor(view.cells[floor.cell_id], floor, names) for floor in part.floors)
    return cell_table(heads, rows, shared_texts.FLOOR_NOTE, f"Harness floor of {part.group.label}")


def _floor(cell: CellReport, floor: Floor, names: Names) -> Row:
    measurement, name = cell.measurement, cell.cell.id
    cells = (
        figure(floor.label, floor.label, name),
        figure("–" if floor.step_s is None else seconds(floor.step_s), floor.step_s),
        figure("–" if floor.share is None else share(floor.share), floor.share),
        figure(seconds(measurement.start_s), measurement.start_s) if measurement else figure("–", ""),
        memory_cell(measurement.peak_rss_bytes, None) if measurement else figure("–", ""),
        TableCell(status_chips(cell.statuses)),
    )
    return Row(cells, Tone.PLAIN if measurement else Tone.FAINT, anchor=name, ranks=names[name])


def _epochs(measured: Measured, names: Names, group: Group) -> Table:
    rows = (
        row_of(
            names[cell.cell.id],
            cell,
            [
                figure(each.text, "" if each.value is None else str(each.value), each.below)
                for each in epoch_figures(cell.epochs)
            ],
        )
        for cell, _ in measured
        if cell.epochs
    )
    heads = columns(("Framework", *EPOCH_HEADS), range(1, 1 + len(EPOCH_HEADS)))
    return cell_table(heads, rows, EPOCH_NOTE, f"Total time of {group.label}")


def _measured(part: GroupPart, measured: Measured, number: int, names: Names) -> Iterator[Block]:
    group, cells = part.group, [cell for cell, _ in measured]
    apart = frozenset(
        place.cell_id for place in part.places if place.to_best and place.to_best.verdict is Verdict.NOT_COMPARABLE
    )
    yield LaneCharts(charts(cells), number, names, apart)
    drawn = curves(cells)
    if drawn:
        yield Heading("What was learned", 3)
        yield CurveCharts(drawn)
        yield cell_tables.learned(measured, names, group.label)
    if part.is_whole and (effects := effect_rows(group, {cell.cell.id: cell for cell in cells})):
        yield Heading(EFFECTS_TITLE, 3)
        yield table(EFFECTS_HEADS, effects, (3, 4), EFFECTS_NOTE)
    yield from _pairs(part, cells)
    if group.parity and part.is_whole:
        yield _parity(group, cells)
    shares: Mapping[str, float | None] = {place.cell_id: place.harness_share for place in part.places}
    yield cell_tables.intervals(measured, names, group.label, shares if group.floors else None)
    yield cell_tables.phases(measured, names, group.label)
    yield from cell_tables.resources(measured, names, group.label)
    yield from gpu_table.sampled(measured, names, group.label)
    yield cell_tables.models(measured, names, group.label)


def _pairs(part: GroupPart, cells: Sequence[CellReport]) -> Iterator[Block]:
    group = part.group
    if len(cells) < 2:
        return
    if group.ratios and len(cells) <= _MOST_IN_MATRIX and part.is_whole:
        yield Details("Every pair", (_matrix(group, cells),), is_open=True)
    elif group.ratios:
        yield Paragraph(
            (f"Pairs are listed for up to {_MOST_IN_MATRIX} cells; ", Phrase("--format json", "code"), " holds these.")
        )
    else:
        yield Paragraph(f"Pairs are listed for up to {_MOST_IN_MATRIX} cells.")


def _matrix(group: Group, cells: Sequence[CellReport]) -> Table:
    heads = (Column(""), *(Column(cell.label, is_number=True) for cell in cells))
    unknown = ((None,) * len(cells),) * len(cells)
    rows = (
        Row((cell.label, *(_ratio(over, work) for over, work in zip(ratios, works, strict=False))))
        for cell, ratios, works in zip(cells, group.ratios, group.parity or unknown, strict=False)
    )
    level = AT_ITS_LOOK if group.looks else f"{whole_percent(CONFIDENCE)} interval"
    caption = f"Throughput of the row over that of the column, with the {level}"
    label = f"Ratios of {group.label}"
    return Table(heads, tuple(rows), caption, label, is_filtered=False, is_narrow=True, look="matrix")


def _ratio(over: Ratio | None, work: PairParity | None) -> TableCell:
    if over is None:
        return TableCell("", mark="self")
    word = VerdictWord(verdict_on(over, work), over.verdict.value)
    text = (factor(over.value), Phrase(factor_interval(over), "small"), word)
    return TableCell(text, mark=over.verdict.value)


def _parity(group: Group, cells: Sequence[CellReport]) -> Details:
    rows = (
        _work(cell, other, pair)
        for place, cell in enumerate(cells)
        for other, pair in zip(cells, group.parity[place][:place], strict=False)
        if pair
    )
    heads = columns(("One", "Other", "Work", "Largest difference ÷ bar", "Why"), (3,), (4,))
    caption = (
        "Every pair, as its parity containers answered: same layers, first loss, first gradients and losses of plain "
        "steps"
    )
    return Details("Parity: is it the same work?", (cell_table(heads, rows, caption, f"Parity of {group.label}"),))


def _work(cell: CellReport, other: CellReport, pair: PairParity) -> Row:
    part = max((each.value / each.bar for each in pair.differences if each.bar), default=None)
    known = f"Known fault: {pair.known_fault}" if pair.known_fault else ""
    return Row(
        (
            cell.label,
            other.label,
            TableCell(Chip(pair.work.value, _WORK.get(pair.work, "open"))),
            figure("–" if part is None else "0" if part == 0 else factor(part), part),
            TableCell(pair.reason or pair.note, (known,) if known else ()),
        )
    )


_WORK = {WorkParity.SAME: "good", WorkParity.QUANTISED_ALIKE: "good", WorkParity.NOT_COMPARABLE: "bad"}
