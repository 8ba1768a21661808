"""Texts of a run that are the same in every format: names of cells, lines on parity and floors, tables."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from orchestrator.analysis.estimates import Estimate, Printed, estimate
from orchestrator.analysis.parity.work import PairParity, WorkParity
from orchestrator.domain import Cell
from orchestrator.modes.parts.metrics import ENERGY, FIRST_EPOCH, Metric
from orchestrator.modes.parts.settings import Feed
from orchestrator.reporting.findings.model import CellReport, Floor, Group, Repeat
from orchestrator.reporting.inline import options, statuses
from orchestrator.wording import clean_line, listing_of, seconds, share

FLOOR_HEADS = ("Harness floor", "Step", "Of the fastest", "Start", "Memory", "Repeats")
FLOOR_NOTE = "Cells that compute nothing: their step is what the harness itself takes. They have no rank."
PRINTED_TITLE = "Printed by scripts"
PRINTED_NOTE = (
    "As printed by the scripts, not measured by us: what a figure means, what it leaves out and whether two scripts "
    "mean the same is theirs to say. They are in no ranking and no ratio."
)
PRINTED_HEADS = ("Cell", "Figure", "Median", "Lowest to highest repeat", "Better", "Matches", "Repeats")
METRICS_NOTE = "Metrics of this mode: geometric mean over the repeats, with its interval."
BOUNDS_NOTE = (
    "At most: what the percentile is shown not to exceed with 99 % confidence, by the early stopping of MLPerf over "
    "whole generations; the largest of the repeats."
)

MOST_NAMES = 6
_SECONDS = "s"
FED = ("feed", "workers", "waiting_share")


def labels(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Name the cells of a group by the framework and what tells its cells apart."""
    axes = [_axes(cell) for cell in cells]
    values: dict[tuple[str, str], set[str | None]] = {}
    alike = Counter(cell.framework.label for cell in cells)
    having: Counter[tuple[str, str]] = Counter()
    for cell, mine in zip(cells, axes, strict=True):
        for name, text in mine.items():
            values.setdefault((cell.framework.label, name), set()).add(text)
            having[cell.framework.label, name] += 1
    for (label, name), some in values.items():
        if having[label, name] < alike[label]:
            some.add(None)
    named_by = []
    for cell, mine in zip(cells, axes, strict=True):
        varying = [text for name, text in mine.items() if len(values[cell.framework.label, name]) > 1]
        varying += ["own definition"] if cell.definition else []
        named_by.append(clean_line(" · ".join([cell.framework.label, *varying])))
    named = Counter(named_by)
    return tuple(label if named[label] == 1 else cell.id for label, cell in zip(named_by, cells, strict=True))


def _axes(cell: Cell) -> dict[str, str]:
    framework = cell.framework
    return {
        "python": f"Python {framework.python}",
        **{f"package {name}": f"{name} {version}" for name, version in framework.packages},
        **{f"option {name}": options(((name, value),)) for name, value in cell.options},
        "image": framework.image or framework.dockerfile or "own image",
    }


def floor_lines(group: Group, fastest: str = "the fastest") -> list[str]:
    """Describe each floor of a group in a line, none if nothing else was planned, and under load."""
    return [_line(floor, fastest) for floor in group.floors] if group.places and not group.workload.load else []


def _line(floor: Floor, fastest: str) -> str:
    if floor.step_s is None:
        return f"Harness floor: {floor.label} was not measured."
    of = "" if floor.share is None else f", {share(floor.share)} of a step of {fastest}"
    return f"Harness floor: {floor.label} takes {seconds(floor.step_s)} a step{of}."


def waiting_lines(cells: Iterable[CellReport]) -> list[str]:
    """Say what share of a block the steps of each cell waited for data, nothing if all batches were placed before."""
    shares = [(cell.label, cell.measurement.waiting) for cell in cells if cell.measurement]
    said = [f"{label} {share(waiting)}" for label, waiting in shares if waiting is not None]
    return [f"Waiting for data, share of a block: {'; '.join(said)}."] if said else []


def printed_rows(cells: Sequence[CellReport]) -> list[tuple[str, ...]]:
    """Return a row for every figure of every script, and one for a script without an `ok` repeat."""
    table: list[tuple[str, ...]] = []
    for cell in cells:
        ended = statuses(cell.statuses)
        table += [(cell.cell.id, *_figures(each), ended) for each in cell.printed]
        if not cell.printed:
            table.append((cell.cell.id, *["–"] * 5, ended))
    return table


def _figures(figure: Printed) -> tuple[str, ...]:
    unit = clean_line(figure.unit)
    span = f"{figure.low:,.6g} to {figure.high:,.6g}"
    return clean_line(figure.name), f"{figure.value:,.6g} {unit}", span, figure.better, f"{figure.matches:,}"


def metric_heads(cells: Sequence[CellReport]) -> tuple[str, ...]:
    """Return the heads of the table for the cells of one group; none if none of such metrics has a value."""
    columns = _columns(cells)
    return ("Framework", *(_metric_head(metric) for metric in columns)) if columns else ()


def _columns(cells: Sequence[CellReport]) -> tuple[Metric, ...]:
    """Return the metrics of the mode of some cells that any of them has a value of."""
    columns = cells[0].cell.workload.rules.columns if cells else ()
    return tuple(metric for metric in columns if any(_has(metric, cell) for cell in cells))


def _has(metric: Metric, cell: CellReport) -> bool:
    return any(_value(metric, repeat) is not None for repeat in cell.repeats)


def metric_rows(cells: Sequence[CellReport]) -> list[tuple[str, ...]]:
    """Return a row for every cell that was measured."""
    columns = _columns(cells)
    return [
        (
            clean_line(cell.label),
            *(
                (_estimate_text(metric, _estimated(metric, cell)) or _spread(metric, cell)) + _bound_text(metric, cell)
                for metric in columns
            ),
        )
        for cell in cells
        if cell.measurement
    ]


def metrics_note(cells: Sequence[CellReport]) -> str:
    """Return what the figures of the table are, and what their bounds are if it has any."""
    has_bounds = any(_bound_text(metric, cell) for metric in _columns(cells) for cell in cells)
    return f"{METRICS_NOTE} {BOUNDS_NOTE}" if has_bounds else METRICS_NOTE


def _bound_text(metric: Metric, cell: CellReport) -> str:
    """Return the largest bound of a percentile over the repeats, or an empty text for any other metric."""
    measured = [repeat.measurement for repeat in cell.repeats if metric.bound and repeat.measurement]
    bounds = [value for each in measured if metric.bound and (value := metric.bound(each)) is not None]
    return f", at most {_figure_text(metric, max(bounds))}" if bounds else ""


def metric_text(metric: Metric, cell: CellReport) -> str:
    """Return the estimate of a metric of a cell without its interval, or `–`."""
    value = _estimated(metric, cell)
    return _figure_text(metric, value.value) if value else "–"


def _metric_head(metric: Metric) -> str:
    """Return the title of a metric, with its unit unless its figures have units of their own."""
    return metric.title if metric.unit == _SECONDS else _metric_name(metric)


def _metric_name(metric: Metric) -> str:
    """Return the title of a metric with its unit."""
    return f"{metric.title} ({metric.unit})" if metric.unit else metric.title


def metric_names(cells: Iterable[CellReport]) -> tuple[str, ...]:
    """Return the names of the metrics that records of some cells hold, each once."""
    return tuple(dict.fromkeys(_metric_name(metric) for cell in cells for metric in _recorded(cell)))


def fed_names(cells: Iterable[CellReport]) -> tuple[str, ...]:
    """Return the names of the columns that cells with a feed have besides those of every cell."""
    return FED if any(cell.cell.workload.feed is not Feed.PLACED for cell in cells) else ()


def fed_values(cell: CellReport, repeat: Repeat) -> dict[str, str | int | float | None]:
    """Return the feed of a cell and what a repeat waited for data, nothing if batches are placed before blocks."""
    work = cell.cell.workload
    if work.feed is Feed.PLACED:
        return {}
    waiting = repeat.measurement.waiting if repeat.measurement else None
    return dict(zip(FED, (work.feed.value, work.workers, waiting), strict=True))


def metric_values(cell: CellReport, repeat: Repeat) -> dict[str, str | int | float | None]:
    """Return the value of each such metric in a repeat, by its name."""
    return {_metric_name(metric): _value(metric, repeat) for metric in _recorded(cell)}


def _recorded(cell: CellReport) -> tuple[Metric, ...]:
    """Return the metrics of a cell's mode without those that records hold by their parts, as `epoch_s`.

    The energy is one of them only where it is known.
    """
    return tuple(
        metric
        for metric in cell.cell.workload.rules.columns
        if metric is not FIRST_EPOCH and (metric is not ENERGY or _has(metric, cell))
    )


def _value(metric: Metric, repeat: Repeat) -> float | None:
    return metric.take(repeat.measurement) if metric.take and repeat.measurement else None


def _estimated(metric: Metric, cell: CellReport) -> Estimate | None:
    known = [value for repeat in cell.repeats if (value := _value(metric, repeat)) is not None]
    return estimate(known) if known and min(known) > 0 else None


def _spread(metric: Metric, cell: CellReport) -> str:
    """Return the lowest and the highest repeat of a metric, as there is no geometric mean with a value of 0."""
    known = [value for repeat in cell.repeats if (value := _value(metric, repeat)) is not None]
    ends = dict.fromkeys(_figure_text(metric, end) for end in (min(known), max(known))) if known else {}
    return "–".join(ends) or "–"


def _estimate_text(metric: Metric, value: Estimate | None) -> str:
    if value is None:
        return ""
    ends = [_figure_text(metric, end) for end in (value.low, value.high) if end is not None]
    interval = f" ({'–'.join(ends)})" if len(ends) == 2 else ""
    return f"{_figure_text(metric, value.value)}{interval}"


def _figure_text(metric: Metric, value: float) -> str:
    return seconds(value) if metric.unit == _SECONDS else f"{value:,.4g}"


def parity_lines(group: Group) -> tuple[str, ...]:
    """Say what parity found of a group: every measured cell beside the first one, and who of them do other work."""
    beside = [(place.label, place.parity) for place in group.places if place.parity is not None]
    if not beside or group.places[0].parity is not None:
        return ()  # nothing is known, or the best is not shown: every line would name it
    best, alike = group.places[0].label, [label for label, verdict in beside if verdict.work is WorkParity.SAME]
    said = []
    if alike:
        names = listing_of(alike, MOST_NAMES)
        who = f"all {len(beside) + 1} cells" if len(alike) == len(beside) else f"{best} and {names}"
        what = f"{who} do the same work" if _is_mutual(group) else f"{best} does the same work as {names}"
        said.append(f"Parity: {what}{_furthest([verdict for _, verdict in beside])}.")
    said += _not_comparable(best, beside)
    said += _apart_from_each_other(group)
    unknown = dict.fromkeys(verdict.reason for _, verdict in beside if verdict.work is WorkParity.NOT_CHECKED)
    said += [f"Parity: not checked: {reason}." for reason in unknown]
    said += [f"Parity: {note}." for note in dict.fromkeys(verdict.note for _, verdict in beside if verdict.note)]
    return tuple(said)


def _is_mutual(group: Group) -> bool:
    """Return True if all that do the work of the first cell are known to do each other's work."""
    alike = [index for index, place in enumerate(group.places) if place.parity and place.parity.work is WorkParity.SAME]
    pairs = [group.parity[one][other] for one, other in combinations(alike, 2)] if group.parity else [None]
    return all(verdict is not None and verdict.work is WorkParity.SAME for verdict in pairs)


def _apart_from_each_other(group: Group) -> Iterator[str]:
    """The pairs, of all that are comparable with the first, that are not comparable with each other."""
    ranked = [index for index, place in enumerate(group.places) if place.rank][1:] if group.parity else []
    pairs = [
        (group.places[one].label, group.places[other].label, verdict)
        for one, other in combinations(ranked, 2)
        if (verdict := group.parity[one][other]) and verdict.work is WorkParity.NOT_COMPARABLE
    ]
    for one, other, verdict in pairs[:MOST_NAMES]:
        yield from _not_comparable(one, [(other, verdict)])
    if len(pairs) > MOST_NAMES:
        yield f"Parity: nor are {len(pairs) - MOST_NAMES:,} more pairs."


def _furthest(verdicts: Sequence[PairParity]) -> str:
    differences = [difference for each in verdicts if each.work is WorkParity.SAME for difference in each.differences]
    if not differences:
        return ""
    worst = max(differences, key=lambda difference: difference.value / difference.bar)
    return f"; nearest to its bar: {worst.what}, {worst.value:.2g} apart of {worst.bar:g} allowed"


def _not_comparable(best: str, beside: Sequence[tuple[str, PairParity]]) -> list[str]:
    who: dict[tuple[str, str], list[str]] = {}
    for label, verdict in beside:
        if verdict.work is WorkParity.NOT_COMPARABLE:
            who.setdefault((verdict.reason, verdict.known_fault), []).append(label)
    return [
        f"Parity: {listing_of(names, MOST_NAMES)} and {best} are not comparable: {reason}"
        f"{f'; known fault of {fault}' if fault else ''}."
        for (reason, fault), names in who.items()
    ]


def printed_column(figure: Printed) -> str:
    """Return the name of a column with a figure that scripts printed, in records."""
    return clean_line(f"printed {figure.name} ({figure.unit})")
