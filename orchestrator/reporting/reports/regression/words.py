"""The words and figures of a regression test, the same in every format."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.model import Design, Judged, JudgedPair, Regression
from orchestrator.reporting.inline import ratio, ratio_interval, short_percent
from orchestrator.wording import clean_line, listing_of, memory, plural, rate, seconds

HEADS = ("Cell", "Metric", "Baseline", "Candidate", "Ratio", "Interval", "Verdict", "Could have missed", "Blocks")
_UNITS_OF: Mapping[Design, str] = {Design.BLOCKS: "block", Design.RUNS: "repeat", Design.SEVERAL_RUNS: "run"}
"""The units that are counted; each is one value of a side."""
_OWN_LEVEL = "is tested for each cell by itself, and the intervals guard all cells at once"
REACHING = f"The interval that is shown may reach beyond it: this verdict {_OWN_LEVEL}."
_FOLLOWS_SIGHT = (
    "No share of false alarms can be given: a run chose the number of its blocks, fresh ones included, by what it saw "
    "in them."
)
_MOST_NAMED = 3
_ENDLESS = 1000
"""A bound beyond this says nothing."""
_UNITS: Mapping[str, Callable[[float], str]] = {
    "samples/s": rate,
    "s": seconds,
    "B": lambda value: memory(round(value)),
}


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One metric of one pair of cells, or a pair that has none."""

    pair: JudgedPair
    judged: Judged | None
    cells: tuple[str, ...]
    """A text for each of `HEADS`."""

    @property
    def verdict(self) -> Verdict:
        """Of the metric, or of the pair as a whole."""
        return self.judged.verdict if self.judged else self.pair.verdict


def heads(regression: Regression) -> tuple[str, ...]:
    """`HEADS`, with what is counted in it by its name."""
    return *HEADS[:-1], f"{_UNITS_OF[regression.design].capitalize()}s"


def title(regression: Regression) -> str:
    """`mxnet 1.5.1 → mxnet 1.9.1`."""
    return clean_line(f"{regression.baseline.label} \N{RIGHTWARDS ARROW} {regression.candidate.label}")


def headline(regression: Regression) -> str:
    """Return the result of a release test in a sentence or two."""
    sentences = [*_alarms(regression), _others(regression)]
    if not regression.complete:
        sentences.append("It was stopped before its end.")
    return " ".join(filter(None, sentences))


def doubt(regression: Regression) -> str:
    """`2 of 3 cells are not shown to be as good`."""
    number = len(regression.doubtful)
    return f"{number} of {_pairs(regression)} {'is' if number == 1 else 'are'} not shown to be as good"


def rows(regression: Regression, *, gates: bool) -> tuple[VerdictRow, ...]:
    """A row for every metric that decides (or that does not), in the order of the pairs."""
    made: list[VerdictRow] = []
    for pair in regression.pairs:
        judged = [metric for metric in pair.metrics if metric.gates is gates]
        made += [VerdictRow(pair, metric, _figures(pair, metric, _UNITS_OF[regression.design])) for metric in judged]
        if gates and not judged:
            nothing = (*["–"] * 4, pair_verdict(pair), "–", "–")
            made.append(VerdictRow(pair, None, (clean_line(pair.id), "–", *nothing)))
    return tuple(made)


def by_metric(verdict_rows: Sequence[VerdictRow]) -> Iterator[tuple[str, str, str]]:
    """Yield each metric with its verdicts and ratios, as `step, median`, `1 slower, 3 same`, `0.91–1.02`."""
    alike: dict[str, list[Judged]] = {}
    for row in verdict_rows:
        if row.judged:
            alike.setdefault(row.judged.title, []).append(row.judged)
    for name, judged in alike.items():
        counts = Counter(each.verdict for each in judged)
        verdicts = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
        ratios = [each.ratio for each in judged if each.ratio is not None]
        yield name, verdicts, ratio_interval(min(ratios, default=None), max(ratios, default=None))


def by_reason(verdict_rows: Sequence[VerdictRow]) -> tuple[tuple[VerdictRow, ...], tuple[tuple[VerdictRow, str], ...]]:
    """Part rows into those to show one by one, and a line for each reason that several rows share.

    A line is given with its first row: `3 gone: REASON (CELL, CELL and CELL)`. What decides, and what broke, is shown
    one by one.
    """
    alike: dict[tuple[Verdict, str], list[VerdictRow]] = {}
    for row in verdict_rows:
        reason = row.judged.reason if row.judged else row.pair.reason
        if reason and not (row.judged.gates if row.judged else row.pair.is_regression):
            alike.setdefault((row.verdict, reason), []).append(row)
    shared = {key: rows for key, rows in alike.items() if len(rows) > 1}
    folded = {id(row) for rows in shared.values() for row in rows}
    lines = tuple((rows[0], _shared_reason(rows, *key)) for key, rows in shared.items())
    return tuple(row for row in verdict_rows if id(row) not in folded), lines


def _shared_reason(rows: Sequence[VerdictRow], verdict: Verdict, reason: str) -> str:
    names = list(dict.fromkeys(row.judged.title if row.judged else row.pair.id for row in rows))
    return clean_line(f"{len(rows)} {verdict.value}: {reason} ({listing_of(names, _MOST_NAMED)})")


def pair_verdict(pair: JudgedPair) -> str:
    """Return the verdict of a pair with its reason."""
    return clean_line(f"{pair.verdict.value}: {pair.reason}" if pair.reason else pair.verdict.value)


def notes(regression: Regression) -> tuple[str, ...]:
    """Return the remarks on the figures, each once, with its cells."""
    about: dict[str, list[str]] = {}
    for pair in regression.pairs:
        for note in pair.notes:
            about.setdefault(clean_line(note), []).append(clean_line(pair.id))
    said = [f"{listing_of(ids, _MOST_NAMED)}: {note}" for note, ids in about.items()]
    return (*said, *_scatter(regression))


def _scatter(regression: Regression) -> Iterator[str]:
    """Yield the scatter of deciding metrics within and between stored runs."""
    for pair in regression.pairs:
        for judged in pair.metrics:
            if judged.gates and judged.nights:
                within = _deviation(judged.nights.within, "one repeat a run")
                between = _deviation(judged.nights.between, "one run of each side")
                yield clean_line(
                    f"{pair.id}: {judged.title}, standard deviation within runs: {within}; between runs, beyond "
                    f"what that explains: {between}"
                )


def _deviation(deviation: float | None, too_little: str) -> str:
    return f"not known from {too_little}" if deviation is None else short_percent(deviation)


def how(regression: Regression) -> str:
    """Explain in a few sentences how a test was judged."""
    return " ".join(filter(None, (_how(regression), _reaching(regression))))


def _reaching(regression: Regression) -> str:
    """Explain a `same` with an interval that reaches beyond the tolerance."""
    same = [each for pair in regression.pairs for each in pair.metrics if each.gates and each.verdict is Verdict.SAME]
    reaches = any(each.blocks and (_beyond(each, each.low) or _beyond(each, each.high)) for each in same)
    return (
        f"Where an interval next to 'same' reaches beyond the tolerance: that verdict {_OWN_LEVEL}." if reaches else ""
    )


def _beyond(judged: Judged, end: float | None) -> bool:
    return end is not None and not 1 / (1 + judged.tolerance) <= end <= 1 + judged.tolerance


def _how(regression: Regression) -> str:
    over = f"any of their {regression.family} verdicts" if regression.family > 1 else "their verdict"
    claim = f"At most {100 * regression.alpha:g} % of such tests hold a false alarm in {over} on figures."
    alarms = _FOLLOWS_SIGHT if regression.blocks_follow_sight else claim
    if regression.design is Design.RUNS:
        return (
            "One run each: what differs from run to run is in no interval, and passes for a difference; give "
            f"several runs of each side. But for that: {alarms[0].lower()}{alarms[1:]}"
        )
    if regression.design is Design.SEVERAL_RUNS:
        return f"A run is one value, so that the intervals hold what differs from run to run. {alarms}"
    if not regression.looks:
        return f"Both sides are of the same blocks of one run. {alarms}"
    looks = listing_of([str(number) for number in regression.looks], len(regression.looks))
    confirmed = ", and what was slower was measured again on fresh blocks" if regression.confirms else ""
    return f"Looked after {looks} blocks{confirmed}; every block holds both sides. {alarms}"


def moved(regression: Regression) -> str:
    """Return the packages that differ between both environments, besides what was asked for."""
    texts = [f"{each.name} {each.baseline or 'absent'} → {each.candidate or 'absent'}" for each in regression.moved]
    return clean_line(f"Between the two environments moved: {', '.join(texts)}.") if texts else ""


def verdict(judged: Judged, unit: str = "block") -> str:
    """Return the verdict of a metric, with what makes it firmer or weaker, counted in `unit`."""
    said = judged.verdict.value
    count = judged.more_blocks
    more = "" if count is None else f"; about {count} more {plural(unit, count)}"
    if judged.reason:
        return clean_line(f"{said}: {judged.reason}{more}")
    if judged.confirmation is not None and judged.confirmation.confirmed:
        return f"{said}, confirmed on {judged.confirmation.blocks} fresh blocks"
    if more:
        return f"{said}: {more.removeprefix('; ')}"
    if judged.verdict is Verdict.SAME and judged.is_significant and judged.blocks:
        return f"{said}: it differs, by less than the tolerance of {short_percent(judged.tolerance)}"
    return said


def value(judged: Judged, number: float | None) -> str:
    """A figure in the metric's unit."""
    return "–" if number is None else _UNITS.get(judged.unit, "{:.6g}".format)(number)


def interval(judged: Judged) -> str:
    """`0.893–0.921`, with one digit more than ratios elsewhere have."""
    return ratio_interval(judged.low, judged.high) if judged.blocks else "–"


def missed(judged: Judged) -> str:
    """Return the smallest change for the worse that 80 of 100 such tests find."""
    if judged.minimum_detectable_effect is None:
        return "–"
    if judged.minimum_detectable_effect >= _ENDLESS / 100:
        return "next to anything"
    return f"less than {short_percent(judged.minimum_detectable_effect)}"


def _figures(pair: JudgedPair, judged: Judged, unit: str) -> tuple[str, ...]:
    return (
        clean_line(pair.id),
        judged.title,
        value(judged, judged.baseline),
        value(judged, judged.candidate),
        "–" if judged.ratio is None else ratio(judged.ratio),
        interval(judged),
        verdict(judged, unit),
        missed(judged),
        str(judged.blocks) if judged.blocks else "–",
    )


def _alarms(regression: Regression) -> Iterator[str]:
    worse = [(pair, metric) for pair in regression.regressions for metric in pair.metrics if metric.is_regression]
    if worse:
        names = [f"{pair.id} ({metric.title}{_by_how_much(metric)})" for pair, metric in worse]
        number = len({pair.id for pair, _ in worse})
        yield clean_line(
            f"{regression.candidate.label} is worse than {regression.baseline.label} in {number} of "
            f"{_pairs(regression)}: {listing_of(names, _MOST_NAMED)}."
        )
    broke = [pair for pair in regression.pairs if pair.verdict is Verdict.BROKE]
    if broke:
        names = [f"{pair.id} ({pair.reason})" for pair in broke]
        yield clean_line(f"{regression.candidate.label} fails in {listing_of(names, _MOST_NAMED)}.")
    if not worse and not broke:
        but = f", but {doubt(regression)}" if regression.doubtful else ""
        yield clean_line(
            f"No regression was found from {regression.baseline.label} to {regression.candidate.label}{but}."
        )


def _by_how_much(metric: Judged) -> str:
    return f": {metric.reason}" if metric.ratio is None else f" × {ratio(metric.ratio)}"


def _others(regression: Regression) -> str:
    counted = Counter(pair.verdict for pair in regression.pairs)
    listed = [f"{counted[verdict]} {verdict.value}" for verdict in Verdict if counted[verdict]]
    return f"Of {_pairs(regression)}: {', '.join(listed)}."


def _pairs(regression: Regression) -> str:
    return f"{len(regression.pairs)} {plural('cell', len(regression.pairs))}"
