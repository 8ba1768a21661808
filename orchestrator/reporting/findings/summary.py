"""The finding of a group of cells in one or two plain sentences."""

from collections import Counter
from collections.abc import Mapping, Sequence

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.estimates import CONFIDENCE
from orchestrator.analysis.parity.sides import quantisation
from orchestrator.analysis.ratios import Ratio
from orchestrator.domain import Status
from orchestrator.reporting.findings.certainty.looks_model import UntilDecided
from orchestrator.reporting.findings.model import CellReport, Group, GroupFinding
from orchestrator.reporting.inline import factor_interval, level, statuses
from orchestrator.wording import clean_line, factor, listing, listing_of, plural, rate, seconds

_MOST_NAMES = 4
_CONFIDENCE = f"each pair at {100 * CONFIDENCE:.0f} % confidence"

_NOT_COMPARED = {
    GroupFinding.NOT_COMPARABLE: "In {} no two cells do the same work.",
    GroupFinding.ALONE: "{} had one cell only, so nothing to compare it with.",
    GroupFinding.FLOOR: "{} had nothing but the floor of the harness.",
    GroupFinding.NOTHING: "Nothing was measured in {}.",
}
"""A sentence of the headline for each conclusion that names no winner."""


def finding(
    measured: Sequence[CellReport],
    to_best: Sequence[Ratio | None],
    cells: Sequence[CellReport],
) -> tuple[GroupFinding, str]:
    """Say which cell won, by how much and how sure that is.

    `measured` begins with the best, then what is comparable with it by throughput, none of it above the best, then the
    rest; `to_best` compares each with the best, which itself has None; `cells` are all cells of the group. Why one does
    other work than the best, the lines on parity say.
    """
    if not measured:
        counts = Counter(repeat.outcome.status for cell in cells for repeat in cell.repeats)
        ends = statuses([(status, counts[status]) for status in Status if counts[status]])
        return GroupFinding.NOTHING, f"Nothing was measured: {ends}."
    same = [pair for pair in zip(measured, to_best, strict=True) if not _is_apart(pair[1])]
    apart = [cell for cell, over in zip(measured, to_best, strict=True) if _is_apart(over)]
    if apart and len(same) == 1:
        conclusion, sentence = GroupFinding.NOT_COMPARABLE, "No two of the measured cells do the same work."
    else:
        conclusion, sentence = _winner([cell for cell, _ in same], [over for _, over in same])
    return conclusion, " ".join([sentence, *_not_comparable(measured[0], apart), *_left_out(cells)])


def _is_apart(over: Ratio | None) -> bool:
    return over is not None and over.verdict is Verdict.NOT_COMPARABLE


def _not_comparable(best: CellReport, apart: Sequence[CellReport]) -> list[str]:
    kind = quantisation(best.cell.options)
    quantised = [cell.label for cell in apart if quantisation(cell.cell.options) != kind]
    named = [cell.label for cell in apart if quantisation(cell.cell.options) == kind]
    said = [f"Not comparable with {best.label}: {listing_of(named, _MOST_NAMES)}."] if named else []
    if quantised:
        said.append(f"Quantised otherwise than {best.label}, and not ranked: {listing_of(quantised, _MOST_NAMES)}.")
    return said


def headline(groups: Sequence[Group], cells: Mapping[str, CellReport], asked: UntilDecided | None = None) -> str:
    """Say in a sentence or two what all groups come to: which frameworks win how often, and what stays open.

    `asked` is what a run until decided was asked.
    """
    sure = _CONFIDENCE if asked is None else f"each group at {100 * (1 - asked.alpha):g} % confidence over all looks"
    counts = Counter(group.conclusion for group in groups)
    compared = counts[GroupFinding.DECIDED] + counts[GroupFinding.SAME] + counts[GroupFinding.INCONCLUSIVE]
    wins = Counter(
        cells[group.places[0].cell_id].cell.framework.label
        for group in groups
        if group.conclusion is GroupFinding.DECIDED
    )
    parts = [
        f"{name} {'' if index else 'is the fastest '}in {number:,}"
        for index, (name, number) in enumerate(wins.most_common(_MOST_NAMES))
    ]
    others = sum(wins.values()) - sum(number for _, number in wins.most_common(_MOST_NAMES))
    parts += [f"others in {others:,}"] if others else []
    parts += [f"{counts[GroupFinding.SAME]:,} ended in a tie"] if counts[GroupFinding.SAME] else []
    parts += [f"{counts[GroupFinding.INCONCLUSIVE]:,} stayed inconclusive"] if counts[GroupFinding.INCONCLUSIVE] else []
    sentences = [f"Of {compared:,} {plural('comparison', compared)}, {listing(parts)} ({sure})."] if compared else []
    for conclusion, sentence in _NOT_COMPARED.items():
        number = counts[conclusion]
        if number:
            more = " more" if sentences and conclusion is not GroupFinding.NOT_COMPARABLE else ""
            sentences.append(
                sentence.format(f"{number:,}{more}" if sentences else f"{number:,} {plural('group', number)}")
            )
    return clean_line(" ".join(sentences))


def _winner(measured: Sequence[CellReport], to_best: Sequence[Ratio | None]) -> tuple[GroupFinding, str]:
    best = measured[0]
    speed = f"{_rate(best)} {best.cell.workload.rules.per_s}"
    if len(measured) == 1:
        return GroupFinding.ALONE, f"{best.label} reached {speed}; there is nothing to compare it with."
    beside = [(cell, over.inverse) for cell, over in zip(measured, to_best, strict=True) if over is not None]
    tied = [(cell, over) for cell, over in beside if over.verdict is not Verdict.FASTER]
    if not tied:
        second, over = beside[0]
        return (
            GroupFinding.DECIDED,
            f"{best.label} is the fastest at {speed}, {_over(over, f' as fast as the next, {second.label}')}.",
        )
    same = all(over.verdict is Verdict.SAME for _, over in tied)
    conclusion = GroupFinding.SAME if same else GroupFinding.INCONCLUSIVE
    return conclusion, f"{_tie(best, speed, tied)} {_behind(beside)}".rstrip()


def _tie(best: CellReport, speed: str, tied: Sequence[tuple[CellReport, Ratio]]) -> str:
    names = listing_of([cell.label for cell, _ in tied], _MOST_NAMES)
    if all(over.low is None for _, over in tied):
        return (
            f"Inconclusive: {best.label} came out highest at {speed}, {factor(tied[0][1].value)} × {tied[0][0].label}, "
            "but with a single repeat nothing says how sure that is."
        )
    if all(over.verdict is Verdict.SAME for _, over in tied):
        return (
            f"{best.label} and {names} are equally fast, within {100 * tied[0][1].tolerance:.0f} %, at about {speed}."
        )
    open_ones = [over for _, over in tied if over.verdict is Verdict.INCONCLUSIVE]
    needed = [over.more_repeats for over in open_ones if over.more_repeats is not None]
    more = f"; a verdict needs about {max(needed)} more {plural('repeat', max(needed))}" if needed else ""
    closest = next(over for _, over in tied if over.verdict is Verdict.INCONCLUSIVE)
    return (
        f"Inconclusive: {best.label} came out highest at {speed}, but the repeats do not distinguish it from {names} "
        f"({_bare(closest)}){more}."
    )


def _behind(beside: Sequence[tuple[CellReport, Ratio]]) -> str:
    slower = [(cell, over) for cell, over in beside if over.verdict is Verdict.FASTER]
    if not slower:
        return ""
    cell, over = slower[0]
    return f"The first that is clearly slower is {cell.label}, by {_over(over)}."


def _left_out(cells: Sequence[CellReport]) -> list[str]:
    without = [cell.label for cell in cells if cell.measurement is None]
    return [f"Not measured: {listing_of(without, _MOST_NAMES)}."] if without else []


def _over(over: Ratio, whom: str = "") -> str:
    return f"{factor(over.value)} ×{whom} ({_interval(over)})"


def _bare(over: Ratio) -> str:
    return f"ratio {factor(over.value)}, {_interval(over)}"


def _interval(over: Ratio) -> str:
    return "no interval" if over.low is None else f"{level(over.confidence)} interval {factor_interval(over)}"


def _rate(cell: CellReport) -> str:
    return "–" if cell.measurement is None else rate(cell.measurement.throughput.value)


def floor_finding(idle: Sequence[CellReport]) -> tuple[GroupFinding, str]:
    """Say what a group without any other cell comes to."""
    known = [f"a step of {cell.label} takes {seconds(cell.step_s)}" for cell in idle if cell.step_s is not None]
    if known:
        return GroupFinding.FLOOR, f"Nothing here computes anything: {listing(known)}."
    if any(cell.measurement for cell in idle):
        return GroupFinding.FLOOR, f"Nothing here computes anything: {listing([cell.label for cell in idle])}."
    counts = Counter(repeat.outcome.status for cell in idle for repeat in cell.repeats)
    ends = statuses([(status, counts[status]) for status in Status if counts[status]])
    return GroupFinding.NOTHING, f"Nothing was measured: {ends}."
