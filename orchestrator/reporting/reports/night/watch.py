"""The parts of a night's report on the anchor, the rig and the heartbeat."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from orchestrator.regression.model import Anchored, ChainLink, Judged, Regression
from orchestrator.regression.nightly.records import Drift, SelfTest
from orchestrator.regression.nightly.state import Night, Trying
from orchestrator.regression.nightly.watch.quiet import self_night
from orchestrator.regression.rules import BY_NAME
from orchestrator.reporting.blocks import Block, Paragraph, Remark, table
from orchestrator.reporting.document import Case, CaseResult, Section, Suite, section
from orchestrator.reporting.inline import ratio, ratio_interval, short_percent
from orchestrator.reporting.reports.watch import words as watch_words
from orchestrator.wording import clean_line, listing_of, plural

DRIFT_HEADS = ("Release", "Anchor", "Cell", "Metric", "Ratio", "Interval", "Tolerance", "Made up by")
ANCHOR_HEADS = ("Release", "Cell", "Metric", "Ratio", "Interval", "Verdict", "Why")
_MOST_NAMED = 4


def sentences(night: Night) -> Iterator[str]:
    """Yield what the headline of a night says of them."""
    for drift in night.drifts:
        yield f"Drift in {clean_line(night.watched)} {drift.release} since {drift.anchor}: {_drift(drift)}."
    if night.heartbeat is not None and night.heartbeat.is_silent:
        yield watch_words.silence(night.heartbeat)
    if night.self_test is not None:
        yield self_test(night, night.self_test)
    if night.noise is not None:
        yield watch_words.noise(night.noise)


def _drift(drift: Drift) -> str:
    steps = f", made up by {made_up(drift)}" if drift.steps else ""
    return clean_line(f"{drift.cell} {drift.metric} × {ratio(drift.ratio)}{steps}")


def made_up(drift: Drift) -> str:
    """Return the releases that make a drift up, each with its ratio."""
    steps = [f"{step.release} × {ratio(step.ratio)}" for step in drift.steps]
    before = [f"what came until {drift.unknown_until}"] if drift.unknown_until else []
    return clean_line(listing_of([*before, *steps], max(_MOST_NAMED, len(steps) + len(before))))


def self_test(night: Night, test: SelfTest) -> str:
    """Return what came of the baseline against itself, in a sentence."""
    subject = f"The baseline {clean_line(test.release)} against itself"
    found = self_night(night)
    if found is None:
        return (
            f"{subject} was not measured: {clean_line(test.reason)}." if test.reason else f"{subject} is not finished."
        )
    number = len(found.alarms)
    of = f"{found.comparisons} {plural('comparison', found.comparisons)}"
    named = f": {listing_of([clean_line(each) for each in found.alarms], _MOST_NAMED)}" if number else ""
    return f"{subject}: {number or 'no'} false {plural('alarm', number)} in {of}{named}."


def drift_row(drift: Drift) -> tuple[str, ...]:
    """Return a text for each of `DRIFT_HEADS`."""
    return (
        clean_line(drift.release),
        clean_line(drift.anchor),
        clean_line(drift.cell),
        drift.metric,
        ratio(drift.ratio),
        ratio_interval(drift.low, drift.high),
        short_percent(drift.tolerance),
        f"acknowledged: {clean_line(drift.acknowledged)}" if drift.acknowledged else made_up(drift),
    )


def sections(night: Night) -> Iterator[Section]:
    """Yield the sections on drifts, on the anchor, and on the baseline against itself."""
    every = [drift for trying in night.tried for drift in trying.drifts]
    if every:
        caption = "Sums of small losses beyond the tolerance of the anchor, each reported once"
        shown = table(DRIFT_HEADS, map(drift_row, every), (4, 5, 6), caption)
        yield section("drifts", "Drifts", (shown,))
    rows = [row for trying in night.tried for row in _anchor_rows(trying)]
    if rows:
        caption = "Candidate over anchor, measured in the same blocks"
        notes = tuple(Remark(note) for trying in night.tried for note in chain_notes(trying.regression))
        yield section("anchor", "Next to the anchor", (table(ANCHOR_HEADS, rows, (3, 4), caption), *notes))
    if night.self_test is not None:
        yield section("self-test", "Baseline against itself", _self_test(night, night.self_test))


def _anchor_rows(trying: Trying) -> Iterator[tuple[str, ...]]:
    anchored = trying.regression.anchored if trying.regression is not None else None
    for pair in anchored.pairs if anchored else ():
        start = (clean_line(trying.record.version), clean_line(pair.id))
        if not pair.metrics:
            yield (*start, "–", "–", "–", pair.verdict.value, clean_line(pair.reason) or "–")
        for metric in pair.metrics:
            yield (*start, metric.metric, *_figures(metric), metric.verdict.value, clean_line(metric.reason) or "–")


def _figures(metric: Judged) -> tuple[str, str]:
    return "–" if metric.ratio is None else ratio(metric.ratio), ratio_interval(metric.low, metric.high)


def chain_notes(regression: Regression | None) -> Iterator[str]:
    """Yield a note for each metric whose ratio is chained, with the error that the chain adds."""
    anchored = regression.anchored if regression is not None else None
    if anchored is None or not anchored.over:
        return
    links: dict[tuple[str, str], list[ChainLink]] = {}
    for link in anchored.links:
        links.setdefault((link.cell, link.metric), []).append(link)
    for (cell, metric), of_metric in links.items():
        yield clean_line(f"{cell} {metric}: {_chain(anchored, of_metric)}")


def _chain(anchored: Anchored, links: Sequence[ChainLink]) -> str:
    factors = " × ".join(f"{ratio(link.ratio)} ({link.baseline} → {link.candidate}, {link.python})" for link in links)
    whole = math.sqrt(sum(link.error**2 for link in links))
    return (
        f"no Python runs {anchored.anchor.label} and the candidate, so the ratio is the product {factors}; "
        f"its standard error is {short_percent(whole)}, and {short_percent(links[-1].error)} of its last part alone"
    )


def _self_test(night: Night, test: SelfTest) -> Iterator[Block]:
    yield Paragraph(self_test(night, test))
    found = self_night(night)
    if found is not None and found.cells:
        yield table(watch_words.CELL_HEADS, watch_words.cell_rows(found), (2, 3, 4))
        yield Paragraph(watch_words.FLOOR_NOTE)


def with_drifts(suite: Suite, trying: Trying) -> Suite:
    """Return the suite of a release with a case for each drift; a known one is skipped."""
    return replace(suite, cases=(*suite.cases, *map(_case, trying.drifts)))


def _case(drift: Drift) -> Case:
    name, message = f"{drift.metric} since {drift.anchor}", _drift(drift)
    if drift.acknowledged:
        return Case(name, drift.cell, result=CaseResult.SKIPPED, message=f"acknowledged: {message}", word="known")
    title = BY_NAME[drift.metric].title
    return Case(name, drift.cell, result=CaseResult.FAILURE, message=message, word="drift", out=title)


def watch_cases(night: Night) -> Iterator[Case]:
    """Yield the cases of the heartbeat and of the baseline against itself."""
    if night.heartbeat is not None:
        silent = night.heartbeat.is_silent
        message = watch_words.silence(night.heartbeat) if silent else ""
        result = CaseResult.FAILURE if silent else None
        yield Case("heartbeat", night.watched, result=result, message=message, word="silent" if silent else "")
    if night.self_test is not None:
        found = self_night(night)
        quiet = found is not None and not found.alarms
        message = "" if quiet else self_test(night, night.self_test)
        result = None if quiet else CaseResult.SKIPPED
        yield Case("against itself", night.watched, result=result, message=message, word="" if quiet else "false alarm")
