"""The evidence of a search of schema 1 as rows, with each comparison of two releases."""

from collections.abc import Iterator, Sequence

from orchestrator.regression.search.candidates import START
from orchestrator.regression.search.earlier_record import EarlierBisection, EarlierFound, EarlierOrigin, EarlierStep
from orchestrator.reporting.charts.ratios import Compared
from orchestrator.reporting.reports.search.rows import FIGURES, UNTESTABLE, Described, SearchRow, figures
from orchestrator.wording import clean_line

EARLIER_HEADS = (*FIGURES, "Run")
"""After the release, or the move."""


def earlier_release_rows(record: EarlierBisection, search: EarlierFound) -> tuple[SearchRow, ...]:
    """Every release that was searched, in order."""
    described = Described(record.releases, search.releases, ("good", "bad"), "changed it")
    return tuple(_rows(record, described, search.steps))


def earlier_move_rows(record: EarlierBisection, origin: EarlierOrigin) -> tuple[SearchRow, ...]:
    """Return every move between the environments of a change, in order, nothing if they were not searched."""
    if origin.conclusion is None:
        return ()
    return tuple(_rows(record, Described((START, *origin.moved), origin.conclusion), origin.steps))


def _rows(record: EarlierBisection, described: Described, every: Sequence[EarlierStep]) -> Iterator[SearchRow]:
    places = {name: place for place, name in enumerate(described.names)}
    values = {(probe.run, len(probe.values)): probe.values for probe in record.probes if probe.run}
    for name in described.names:
        what = described.what(name)
        steps = [step for step in every if step.after == name]
        for step in sorted(steps, key=lambda each: places.get(each.before, 0)):
            yield _row(record, step, what, values.get((step.run, step.blocks), ()))
        if not steps:
            said = "" if name == described.names[0] or what.startswith(UNTESTABLE) else "not measured: not needed"
            yield SearchRow(clean_line(name), (what, "–", "–", "–", "–", "–", said or "–", ""), None, "", "", None)


def _row(record: EarlierBisection, step: EarlierStep, what: str, values: Sequence[tuple[float, float]]) -> SearchRow:
    comparison = step.comparison
    before, run = clean_line(step.before), step.run
    if comparison is None:
        said = clean_line(f"{UNTESTABLE}: {step.untestable}: {step.reason}")
        return SearchRow(clean_line(step.after), (what, before, *("–",) * 4, said, run), None, UNTESTABLE, run, None)
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
        (what, before, str(step.blocks), *figures(comparison), run),
        comparison.verdict,
        comparison.verdict.value,
        run,
        compared,
    )
