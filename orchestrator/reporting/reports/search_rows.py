"""The evidence of a search as rows, every release or move in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.search.algorithm import Conclusion
from orchestrator.regression.search.candidates import START
from orchestrator.regression.search.record import Bisection, Found, Origin, Step
from orchestrator.reporting.charts.ratios import Compared
from orchestrator.reporting.inline import ratio, ratio_interval
from orchestrator.wording import clean_line

HEADS = ("Is", "Against", "Blocks", "Ratio", "Interval", "p", "Found", "Run")
"""After the release, or the move."""
NUMBERS = frozenset({3, 4, 5, 6})
"""Columns that are aligned right, the release counted as 0."""
UNTESTABLE = "untestable"


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A release compared with an earlier one, or one that was compared with none."""

    name: str
    cells: tuple[str, ...]
    """A text for each of `HEADS`."""
    verdict: Verdict | None
    word: str
    """The word that gives it its colour: the verdict, `untestable`, or nothing."""
    run: str
    """Folder of the run below that of the search; empty where there is none."""
    compared: Compared | None
    """The part of it that is drawn."""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """A phase of a search."""

    names: Sequence[str]
    conclusion: Conclusion
    steps: Sequence[Step]
    ends: tuple[str, str]
    changed: str
    """The sentence about the release that changed it."""


def release_rows(record: Bisection, search: Found) -> tuple[SearchRow, ...]:
    """Every release that was searched, in order."""
    evidence = _Evidence(record.releases, search.releases, search.steps, ("good", "bad"), "changed it")
    return tuple(_rows(record, evidence))


def move_rows(record: Bisection, origin: Origin) -> tuple[SearchRow, ...]:
    """Return every move between the environments of a change, in order, nothing if they were not searched."""
    if origin.conclusion is None:
        return ()
    evidence = _Evidence((START, *origin.moved), origin.conclusion, origin.steps, ("", ""), "moved it")
    return tuple(_rows(record, evidence))


def _rows(record: Bisection, evidence: _Evidence) -> Iterator[SearchRow]:
    places = {name: place for place, name in enumerate(evidence.names)}
    values = {(probe.run, len(probe.values)): probe.values for probe in record.probes if probe.run}
    for name in evidence.names:
        what = _what(evidence, name)
        steps = [step for step in evidence.steps if step.after == name]
        for step in sorted(steps, key=lambda each: places.get(each.before, 0)):
            yield _row(record, step, what, values.get((step.run, step.blocks), ()))
        if not steps:
            said = "" if name == evidence.names[0] or what.startswith(UNTESTABLE) else "not measured: not needed"
            yield SearchRow(clean_line(name), (what, "–", "–", "–", "–", "–", said or "–", ""), None, "", "", None)


def _what(evidence: _Evidence, name: str) -> str:
    changes = evidence.conclusion.changes
    said = {evidence.names[0]: evidence.ends[0], evidence.names[-1]: evidence.ends[1]}.get(name, "")
    reasons = {each.release: each.reason for each in evidence.conclusion.untestable}
    if name in reasons:
        suspect = f", may have {evidence.changed}" if any(name in span.between for span in changes) else ""
        said = ", ".join(filter(None, (f"{UNTESTABLE}{suspect}", said)))
    if any(span.after == name for span in changes):
        said = ", ".join(filter(None, (evidence.changed, said)))
    return said


def _row(record: Bisection, step: Step, what: str, values: Sequence[tuple[float, float]]) -> SearchRow:
    comparison = step.comparison
    before, run = clean_line(step.before), step.run
    if comparison is None:
        said = clean_line(f"{UNTESTABLE}: {step.untestable}: {step.reason}")
        return SearchRow(clean_line(step.after), (what, before, *("–",) * 4, said, run), None, UNTESTABLE, run, None)
    figures = (
        str(step.blocks),
        ratio(comparison.ratio),
        ratio_interval(comparison.low, comparison.high),
        "–" if comparison.p_value is None else f"{comparison.p_value:.2g}",
        comparison.verdict.value,
    )
    compared = Compared(
        label=clean_line(f"{step.after} against {step.before}"),
        ratio=comparison.ratio,
        low=comparison.low,
        high=comparison.high,
        tolerance=record.asked.metric.tolerance,
        of_blocks=tuple(candidate / baseline for baseline, candidate in values),
    )
    return SearchRow(
        clean_line(step.after),
        (what, before, *figures, run),
        comparison.verdict,
        comparison.verdict.value,
        run,
        compared,
    )
