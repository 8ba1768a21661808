"""The words of a series over many runs."""

from collections.abc import Callable

from orchestrator.catalog import COMPUTES_NOTHING
from orchestrator.regression.history.series import Point, Series, Shift
from orchestrator.regression.judge.comparable import DATASET_FILES, STAND_IN
from orchestrator.regression.rules import BY_NAME
from orchestrator.reporting.inline import ratio
from orchestrator.wording import clean_line, memory, plural, rate, seconds

SHIFT_HEADS = ("First seen", "Release", "Before", "After", "Ratio", "p", "What")
POINT_HEADS = ("Measured", "Release", "Value", "Repeats", "Run")
_BLOCKS = "▁▂▃▄▅▆▇█"
_UNITS: dict[str, Callable[[float], str]] = {
    "samples/s": rate,
    "s": seconds,
    "B": lambda value: memory(round(value)),
}


def label(series: Series) -> str:
    """Return the name of a series, as `mxnet-*-cpu/lenet-train-b200 throughput on far`."""
    return clean_line(f"{series.name} {series.metric} on {series.host or 'an unknown host'}")


def figure(metric: str, value: float) -> str:
    """Return a value in its metric's unit."""
    known = BY_NAME.get(metric)
    return _UNITS.get(known.unit if known else "", "{:.6g}".format)(value)


def unit(metric: str) -> str:
    """Return `samples/s`, or nothing for a metric whose values show their unit."""
    known = BY_NAME.get(metric)
    return known.unit if known and known.unit == "samples/s" else ""


def is_worse(series: Series, shift: Shift) -> bool:
    """Return True for a change for the worse."""
    known = BY_NAME.get(series.metric)
    return known is None or known.is_worse(shift.ratio)


def said(series: Series, shift: Shift) -> str:
    """Return the direction of a change, and the reason it is acknowledged."""
    worse = "slower" if is_worse(series, shift) else "faster"
    return f"{worse}; known: {clean_line(shift.acknowledged)}" if shift.acknowledged else worse


def shift_row(series: Series, shift: Shift) -> tuple[str, ...]:
    """Return a text for each of `SHIFT_HEADS`."""
    point = shift.point
    release = point.release if point.release == shift.since else f"{shift.since} → {point.release}"
    before, after = figure(series.metric, shift.before), figure(series.metric, shift.after)
    confidence = f"{shift.p_value:.1g}" if shift.p_value >= 1e-12 else "< 1e-12"
    return (
        point.created_at[:10],
        clean_line(release),
        before,
        after,
        ratio(shift.ratio),
        confidence,
        said(series, shift),
    )


def change(series: Series, shift: Shift) -> str:
    """Return a change in a line, with its first run, release, levels, ratio, probability and direction."""
    row = shift_row(series, shift)
    return f"{row[0]} {row[1]}: {row[2]} → {row[3]}, × {row[4]}, p {row[5]}, {row[6]}"


def point_row(series: Series, point: Point) -> tuple[str, ...]:
    """Return a text for each of `POINT_HEADS`."""
    return (
        point.created_at[:16].replace("T", " "),
        clean_line(point.release),
        figure(series.metric, point.value),
        str(point.repeats),
        point.run,
    )


def summary(series: Series) -> str:
    """Return the number of runs and of changes in words."""
    runs = len(series.points)
    changed = len(series.shifts)
    broken = len(series.breaks)
    changes = f"{changed or 'no'} {plural('change', changed)}" if series.computes else COMPUTES_NOTHING
    text = f"{runs} {plural('run', runs)}, {changes}"
    if any(point.conditions.get(DATASET_FILES) == STAND_IN for point in series.points):
        text += ", with a stand-in for the files of the dataset"
    return f"{text}, {broken} {plural('break', broken)} where it was measured otherwise" if broken else text


def sparkline(series: Series, width: int = 60) -> str:
    """Draw the newest runs as blocks between the lowest and the highest, with `|` where it was measured otherwise."""
    shown = list(enumerate(series.points))[-width:]
    values = [point.value for _, point in shown]
    low, high = min(values), max(values)
    blocks = []
    for index, point in shown:
        if index in series.breaks:
            blocks.append("|")
        share = (point.value - low) / (high - low) if high > low else 0.5
        blocks.append(_BLOCKS[min(len(_BLOCKS) - 1, int(share * len(_BLOCKS)))])
    return "".join(blocks)
