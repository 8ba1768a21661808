"""The evidence of a chain: the releases of each span on its Python, and the ends of all spans."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from orchestrator.analysis.comparison import Comparison
from orchestrator.regression.search.blocks import Untestable
from orchestrator.regression.search.chain import PythonSpan
from orchestrator.regression.search.chain_record import SpanEnds
from orchestrator.regression.search.record import Bisection, Found, MeasuredRound
from orchestrator.regression.sides import framework_version
from orchestrator.reporting.reports.search.rows import Described, Phase, SearchRow, figures, phase_rows
from orchestrator.wording import clean_line

CHAIN_HEADS = ("Python", "From", "To", "Ratio", "Interval", "p", "Found")
NOT_COMPARED = "not compared"


@dataclass(frozen=True, slots=True)
class SpanRows:
    """The releases of a span as rows."""

    span: PythonSpan
    rows: tuple[SearchRow, ...]


def span_rows(record: Bisection, search: Found) -> Iterator[SpanRows]:
    """Yield every release of each span of a chain in order, with the last of the span compared with its first."""
    for ends in search.chain.spans if search.chain else ():
        yield SpanRows(ends.span, tuple(phase_rows(_phase(record, search, ends))))


def _phase(record: Bisection, search: Found, ends: SpanEnds) -> Phase:
    """Return a span as a search of its own, with the part of the conclusion that is about it."""
    names = ends.span.of(record.releases)
    inside = [each for each in search.releases.untestable if each.release in names[1:-1]]
    broken_by = [Untestable(each.release, each.reason) for each in ends.broken_by]
    conclusion = replace(
        search.releases,
        ends=ends.comparison,
        changes=tuple(span for span in search.releases.changes if {span.before, span.after} <= {*names}),
        untestable=(*inside, *broken_by),
    )
    said = (
        "good" if ends.first == record.releases[0] else "bridge",
        "bad" if ends.last == record.releases[-1] else "bridge",
    )
    steps = [step for step in search.steps if {step.before, step.after} <= {*names}]
    rounds = tuple(
        (number, measured) for number, measured in enumerate(record.rounds, 1) if _is_of(measured, ends.python, names)
    )
    return Phase(Described(names, conclusion, said, "changed it"), steps, rounds, record.asked.metric.tolerance)


def _is_of(measured: MeasuredRound, python: str, names: tuple[str, ...]) -> bool:
    versions = {framework_version(text) for text in measured.releases}
    return not measured.change and measured.python == python and versions <= {*names}


def chain_rows(record: Bisection, search: Found) -> Iterator[tuple[str, ...]]:
    """Yield the ends of each span, then those of the chain."""
    for span in search.chain.spans if search.chain else ():
        yield _ends(span.python, span.first, span.last, span.comparison)
    yield _ends("the chain", record.releases[0], record.releases[-1], search.releases.ends)


def _ends(name: str, first: str, last: str, comparison: Comparison | None) -> tuple[str, ...]:
    compared = figures(comparison) if comparison else ("–", "–", "–", NOT_COMPARED)
    return (*map(clean_line, (name, first, last)), *compared)
