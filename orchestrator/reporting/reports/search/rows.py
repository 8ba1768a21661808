"""The evidence of a search as rows, every release or move in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from orchestrator.analysis.comparison import Comparison, Verdict
from orchestrator.regression.search.candidates import START
from orchestrator.regression.search.conclusion import Conclusion
from orchestrator.regression.search.record import Bisection, Found, MeasuredRound, Origin, Step
from orchestrator.reporting.charts.ratios import Compared
from orchestrator.reporting.inline import ratio, ratio_interval
from orchestrator.wording import clean_line

FIGURES = ("Is", "Against", "Blocks", "Ratio", "Interval", "p", "Found")
"""After the release, or the move."""
HEADS = (*FIGURES, "Rounds")
UNTESTABLE = "untestable"


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A release compared with an earlier one, or one that was compared with none."""

    name: str
    cells: tuple[str, ...]
    """A text for each head."""
    verdict: Verdict | None
    word: str
    """The word that gives it its colour: the verdict, `untestable`, or nothing."""
    run: str
    """Folder of the run below that of the search; empty where there is none, or several."""
    compared: Compared | None
    """The part of it that is drawn."""


@dataclass(frozen=True, slots=True)
class Described:
    """The releases or moves of a search, and the words for what they are."""

    names: Sequence[str]
    conclusion: Conclusion
    ends: tuple[str, str] = ("", "")
    changed: str = "moved it"
    """The sentence about the release that changed it."""

    def what(self, name: str) -> str:
        """Return what a release is."""
        changes = self.conclusion.changes
        said = {self.names[0]: self.ends[0], self.names[-1]: self.ends[1]}.get(name, "")
        if any(each.release == name for each in self.conclusion.untestable):
            suspect = f", may have {self.changed}" if any(name in span.between for span in changes) else ""
            said = ", ".join(filter(None, (f"{UNTESTABLE}{suspect}", said)))
        if any(span.after == name for span in changes):
            said = ", ".join(filter(None, (self.changed, said)))
        return said


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of a search, or one span of it."""

    described: Described
    steps: Sequence[Step]
    rounds: Sequence[tuple[int, MeasuredRound]]
    """Each with its number in the whole search, from 1 on. The first one has all releases, in order."""
    tolerance: float

    @property
    def names(self) -> Sequence[str]:
        """Return the releases or moves, in order."""
        return self.described.names

    def rounds_of(self, name: str) -> list[int]:
        """Return the numbers of the rounds that hold a release."""
        if not self.rounds:
            return []
        text = self.rounds[0][1].releases[self.names.index(name)]
        return [number for number, measured in self.rounds if text in measured.releases]

    def ratios(self, before: str, after: str) -> tuple[float, ...]:
        """Return the ratio of two releases in each block that has both."""
        if not self.rounds:
            return ()
        texts = self.rounds[0][1].releases
        both = texts[self.names.index(before)], texts[self.names.index(after)]
        blocks = (
            dict(zip(measured.releases, block, strict=True)) for _, measured in self.rounds for block in measured.values
        )
        values = ((block.get(both[0]), block.get(both[1])) for block in blocks)
        return tuple(other / one for one, other in values if one is not None and other is not None)


def release_rows(record: Bisection, search: Found) -> tuple[SearchRow, ...]:
    """Return every release that was searched, in order, and the last compared with the first."""
    described = Described(record.releases, search.releases, ("good", "bad"), "changed it")
    return tuple(phase_rows(Phase(described, search.steps, _rounds(record, ""), record.asked.metric.tolerance)))


def move_rows(record: Bisection, origin: Origin) -> tuple[SearchRow, ...]:
    """Return every move between the environments of a change, in order, nothing if they were not searched."""
    if origin.conclusion is None:
        return ()
    described = Described((START, *origin.moved), origin.conclusion)
    phase = Phase(described, origin.steps, _rounds(record, origin.after), record.asked.metric.tolerance)
    return tuple(phase_rows(phase))


def round_rows(record: Bisection) -> tuple[tuple[str, ...], ...]:
    """Return number, blocks, launches, releases and run of every round."""
    return tuple(
        (
            str(number),
            str(measured.blocks),
            str(measured.launches),
            clean_line(f"{_on(measured)}{'; '.join(measured.releases)}"),
            measured.run,
        )
        for number, measured in enumerate(record.rounds, 1)
    )


def _on(measured: MeasuredRound) -> str:
    return f"Python {measured.python}: " if measured.python else ""


def _rounds(record: Bisection, change: str) -> tuple[tuple[int, MeasuredRound], ...]:
    every = enumerate(record.rounds, 1)
    return tuple((number, measured) for number, measured in every if measured.change == change)


def phase_rows(phase: Phase) -> Iterator[SearchRow]:
    """Yield every release of a phase in order, and the last compared with the first."""
    steps = {step.after: step for step in phase.steps}
    conclusion = phase.described.conclusion
    reasons = {each.release: each.reason for each in conclusion.untestable}
    for name in phase.names:
        step, what, rounds = steps.get(name), phase.described.what(name), ranges(phase.rounds_of(name))
        if name in reasons:
            said = clean_line(f"{UNTESTABLE}: {reasons[name]}")
            yield SearchRow(clean_line(name), (what, *("–",) * 5, said, rounds), None, UNTESTABLE, "", None)
        elif step is None or step.comparison is None:
            yield SearchRow(clean_line(name), (what, *("–",) * 6, rounds), None, "", "", None)
        else:
            yield _row(phase, step.before, name, step.comparison)
    if conclusion.ends is not None and len(phase.names) > 2:
        yield _row(phase, phase.names[0], phase.names[-1], conclusion.ends)


def _row(phase: Phase, before: str, after: str, comparison: Comparison) -> SearchRow:
    ratios, what, rounds = phase.ratios(before, after), phase.described.what(after), ranges(phase.rounds_of(after))
    return SearchRow(
        clean_line(after),
        (what, clean_line(before), str(len(ratios)), *figures(comparison), rounds),
        comparison.verdict,
        comparison.verdict.value,
        "",
        Compared(
            label=clean_line(f"{after} against {before}"),
            ratio=comparison.ratio,
            low=comparison.low,
            high=comparison.high,
            tolerance=phase.tolerance,
            of_blocks=ratios,
        ),
    )


def figures(comparison: Comparison) -> tuple[str, str, str, str]:
    """Return ratio, interval, p value and verdict of a comparison."""
    p_value = "–" if comparison.p_value is None else f"{comparison.p_value:.2g}"
    interval = ratio_interval(comparison.low, comparison.high)
    return ratio(comparison.ratio), interval, p_value, comparison.verdict.value


def ranges(numbers: Sequence[int]) -> str:
    """Return rising numbers as `1–3, 7`, or a dash if there are none."""
    runs = groupby(enumerate(numbers), lambda each: each[1] - each[0])
    ends = [[number for _, number in run] for _, run in runs]
    return ", ".join("–".join(dict.fromkeys((str(run[0]), str(run[-1])))) for run in ends) or "–"
