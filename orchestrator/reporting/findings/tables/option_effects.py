"""The speed-up by an option, from pairs of cells that differ in this option alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from orchestrator.analysis.ratios import Ratio
from orchestrator.domain import VARIABLE, Cell, OptionValue
from orchestrator.reporting.findings.model import CellReport, Group
from orchestrator.reporting.inline import factor_interval, options, verdict
from orchestrator.wording import clean_line, factor

EFFECTS_TITLE = "What an option changes"
EFFECTS_HEADS = ("Framework", "Option", "Compared with", "Throughput", "Its interval", "Verdict")
EFFECTS_NOTE = "Pairs of cells that differ in one option alone: throughput with the one value over that with the other."


@dataclass(frozen=True, slots=True)
class OptionEffect:
    """The throughput of a cell over that of another, which has one other value of one option."""

    cell: Cell
    name: str
    value: OptionValue
    other: OptionValue
    over: Ratio


def option_effects(group: Group, cells: Mapping[str, CellReport]) -> Iterator[OptionEffect]:
    """Yield every pair of measured cells that differ in one switch or one word.

    A switch that is on stands over one that is off. Large groups have no ratios of pairs.
    """
    measured = [cells[place.cell_id].cell for place in group.places[: len(group.ratios)]]
    for (first, one), (second, other) in combinations(enumerate(measured), 2):
        name = _only_difference(one, other)
        if name is None:
            continue
        values = dict(one.options)[name], dict(other.options)[name]
        is_swapped = values[1] is True or (values[0] is not True and str(values[0]) > str(values[1]))
        row, column, cell = (second, first, other) if is_swapped else (first, second, one)
        value, beside = values[::-1] if is_swapped else values
        over = group.ratios[row][column]
        if over is not None:
            yield OptionEffect(cell, name, value, beside, over)


def effect_rows(group: Group, cells: Mapping[str, CellReport]) -> list[tuple[str, ...]]:
    """Return a row for every pair, by framework and option."""
    effects = sorted(option_effects(group, cells), key=lambda each: (each.cell.framework.label, each.name))
    return [
        (
            clean_line(each.cell.framework.label),
            clean_line(options(((each.name, each.value),))),
            clean_line(options(((each.name, each.other),))),
            f"{factor(each.over.value)} ×",
            factor_interval(each.over),
            verdict(each.over),
        )
        for each in effects
    ]


def _only_difference(one: Cell, other: Cell) -> str | None:
    """Return the only option in which two cells of one framework differ, if it is a switch or a word."""
    ours, theirs = dict(one.options), dict(other.options)
    if (one.framework, one.definition, one.duration) != (other.framework, other.definition, other.duration):
        return None
    if ours.keys() != theirs.keys():
        return None
    names = [name for name, value in ours.items() if (type(value), value) != (type(theirs[name]), theirs[name])]
    if len(names) != 1 or names[0].startswith(VARIABLE):
        return None
    values = ours[names[0]], theirs[names[0]]
    return names[0] if all(isinstance(value, bool | str) for value in values) else None
