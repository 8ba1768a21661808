"""The sentences of a search, the same in every format."""

import shlex
from collections.abc import Collection, Iterator, Sequence

from orchestrator.analysis.comparison import Comparison, Verdict
from orchestrator.limits import DEFAULT_CELLS
from orchestrator.regression.rules import metric_of
from orchestrator.regression.search.blocks import Untestable
from orchestrator.regression.search.conclusion import Conclusion, Span
from orchestrator.regression.search.earlier_record import (
    EARLIER_LOOKS,
    EarlierBisection,
    EarlierFound,
    EarlierOrigin,
    EarlierStep,
)
from orchestrator.regression.search.record import Bisection, Found, Origin, Step, may_pass
from orchestrator.regression.search.record_parts import AUTO, Asked
from orchestrator.regression.search.steps import MOST_BLOCKS, look_numbers
from orchestrator.reporting.inline import ratio, ratio_interval, short_percent
from orchestrator.reporting.reports.search import earlier_words as earlier
from orchestrator.reporting.reports.search.chain_words import TOO_FEW, broken_chain, chain_lines, how_chained
from orchestrator.wording import clean_line, listing, listing_of

AnyRecord = Bisection | EarlierBisection
_MOST = 8


def title(record: AnyRecord) -> str:
    """Return the title of a search, with its releases, metric and cell."""
    metric = metric_of(record.asked.metric).title
    within = f" in {record.asked.within}" if record.asked.within else ""
    ends = f"{record.searched} {record.releases[0]} … {record.releases[-1]}{within}"
    return clean_line(f"{ends}: {metric} of {record.asked.pair}")


def headlines(record: AnyRecord) -> tuple[str, ...]:
    """Return the result of a search, one sentence a line."""
    if record.found is None:
        return ("It has not come to its end.",)
    return tuple(clean_line(line) for line in _headlines(record, record.found))


def state(record: AnyRecord) -> tuple[str, str]:
    """Return the result in two words, and its tone, `good`, `bad` or `open`."""
    found = record.found
    ends = found.releases.ends if found else None
    if found is None or (ends is None and not found.changes):
        return "no finding", "open"
    if found.is_worse:
        return "changed for the worse", "bad"
    undecided = isinstance(found, EarlierFound) and ends is not None and ends.verdict is Verdict.INCONCLUSIVE
    if ends is None or undecided or found.releases.unsettled:
        return "not decided", "open"
    if found.changes or ends.verdict is Verdict.FASTER:
        return "changed for the better", "good"
    return "no change found", "good"


def how(record: AnyRecord) -> tuple[str, ...]:
    """Explain the blocks of a search and the risk of each of its two phases."""
    if isinstance(record, EarlierBisection):
        return earlier.how(record)
    return tuple(clean_line(line) for line in _how(record))


def _how(record: Bisection) -> Iterator[str]:
    asked, found = record.asked, record.found
    looks = listing([str(number) for number in asked.looks])
    alpha, tolerance = short_percent(asked.alpha), short_percent(asked.metric.tolerance)
    yield (
        f"{record.launches} launches in {len(record.rounds)} rounds; a block holds every release that is still in "
        "question once, in an order drawn for it."
    )
    yield (
        f"A release is compared with the one before it after {looks} blocks that have both, and what is decided is "
        "measured no further."
    )
    yield (
        f"At most {alpha} of such searches name a release whose step is within the tolerance of {tolerance}, whatever "
        f"the steps are: that α is shared by all steps and {_shared(asked)}."
    )
    if asked.chain:
        yield from how_chained()
    searched = [origin for origin in found.origins if origin.alpha is not None] if found else []
    if searched:
        each = (
            "" if len(searched) == 1 else f", {short_percent(searched[0].alpha or 0)} for each of the {len(searched)}"
        )
        yield f"The search over what moved spends a further α of its own, {alpha} too{each}."
    if not asked.every:
        yield (
            "A search for one change ends with the first that is named: other steps may be open, and what changes and "
            "changes back by less may be among them (--all decides each step)."
        )
    yield (
        f"A single “same”, or the limit of a single step, is wrong in at most {alpha} of the cases in which that step "
        "is just as large."
    )


def _shared(asked: Asked) -> str:
    return "the comparisons of the ends, of each span and of the chain" if asked.chain else "the comparison of the ends"


def confidences(steps: Sequence[Step | EarlierStep]) -> str:
    """Return the confidences of the intervals as `99.38–99.92 %`, each that of its look."""
    levels = sorted({f"{100 * step.comparison.confidence:.4g}" for step in steps if step.comparison})
    return f"{'–'.join(dict.fromkeys((levels[0], levels[-1])))} %" if levels else ""


def command(record: AnyRecord) -> str:
    """The command line that asks the same again."""
    asked = record.asked
    gate = asked.metric
    words = ["orchestrator", "bisect", "--good", asked.good, "--bad", asked.bad, "--cell", asked.cell]
    words += ["--metric", f"{gate.metric}{f'@{gate.model}' if gate.model else ''}={100 * gate.tolerance:g}%"]
    words += ["--file", asked.matrix]
    usual = EARLIER_LOOKS if isinstance(record, EarlierBisection) else look_numbers(MOST_BLOCKS)
    words += ["--max-blocks", str(asked.looks[-1])] if asked.looks != usual else []
    words += ["--limit", str(asked.limit)] if asked.limit != DEFAULT_CELLS else []
    words += ["--runtime", asked.runtime] if asked.runtime != AUTO else []
    for option, given in (("--models", asked.models), ("--data", asked.data), ("--base-image", asked.base_image)):
        words += [option, given] if given else []
    flags = {
        "--all": asked.every, "--prereleases": asked.prereleases, "--yanked": asked.yanked,
        "--no-parity": asked.no_parity,
    }  # fmt: skip
    return clean_line(shlex.join([*words, *(option for option, given in flags.items() if given)]))


def _headlines(record: AnyRecord, search: Found | EarlierFound) -> Iterator[str]:
    name, releases = record.searched, search.releases
    chain = search.chain if isinstance(search, Found) else None
    first, last = record.releases[0], record.releases[-1]
    if releases.ends is None:
        said = broken_chain(chain) if chain else "; ".join(map(_stepped_over, releases.untestable)) or TOO_FEW
        yield f"Good and bad could not be compared: {said}"
        if chain is None:
            return
    elif not search.changes:
        yield _without_change(f"{name} {first}", last, releases.ends, search)
        if isinstance(record, EarlierBisection):
            yield from earlier.unseen(record)
    origins = {(origin.before, origin.after): moved(origin) for origin in search.origins}
    for span in search.changes:
        yield f"{_changed(name, span, search)}{origins.get((span.before, span.after), '')}."
    if releases.several:
        is_whole = record.asked.every and releases.ends is not None and not releases.unsettled
        least = "" if is_whole else "at least "
        more = "" if record.asked.every else " (--all searches each)"
        yield f"There are {least}{len(search.changes)} changes between {first} and {last}{more}."
    broken = {each.release for span in chain.broken for each in span.broken_by} if chain else set[str]()
    yield from _open_ends(name, (first, last), releases, broken)
    if record.asked.chain and isinstance(search, Found):
        yield from chain_lines(record.asked.chain, search)


def _without_change(first: str, last: str, ends: Comparison, search: Found | EarlierFound) -> str:
    if isinstance(search, Found) and not search.releases.unsettled:
        limit = "" if search.excluded is None else f"; every step is smaller than {short_percent(search.excluded)}"
        interval = ratio_interval(ends.low, ends.high)
        return f"No change was found from {first} to {last} (× {ratio(ends.ratio)}, {interval}){limit}."
    if isinstance(search, Found) or ends.verdict is Verdict.INCONCLUSIVE:
        return f"Not decided whether it changed from {first} to {last}: {_figures(ends)}{_missed(ends)}."
    if ends.verdict is Verdict.SAME:
        return f"No change was found from {first} to {last}: {_figures(ends)}{_missed(ends)}."
    return f"Changed from {first} to {last} ({_figures(ends)}), and it was not found where."


def _missed(ends: Comparison) -> str:
    effect = ends.minimum_detectable_effect
    return "" if effect is None or effect >= 1 else f"; could have missed less than {short_percent(effect)}"


def _changed(name: str, span: Span, search: Found | EarlierFound) -> str:
    figures = _figures(span.comparison) if span.comparison else "not measured"
    if span in search.releases.further:
        return f"Also changed between {name} {span.before} and {span.after} ({figures})"
    if span in search.releases.gradual:
        steps = "in no step beyond the tolerance"
        if isinstance(search, Found):
            steps = f"in steps smaller than {short_percent(search.excluded or 0)}"
        return f"Changed bit by bit from {name} {span.before} to {span.after} ({figures}), {steps}"
    untested = f", or in {listing_of(span.between, _MOST)}, which could not be tested" if span.between else ""
    return f"First changed in {name} {span.after}{untested} ({figures})"


def moved(origin: Origin | EarlierOrigin) -> str:
    """Return the cause of a change as the end of a sentence."""
    if origin.by:
        certain = " or ".join(origin.by)
        return f", moved by {certain}" if len(origin.moved) > 1 else f", moved by {certain}, all that moved"
    others = f"; moved: {listing_of(origin.moved, _MOST)}" if origin.moved else ""
    return f"; {origin.note}{others}" if origin.note else others


def _open_ends(name: str, ends: tuple[str, str], releases: Conclusion, broken: Collection[str]) -> Iterator[str]:
    for span in releases.unsettled:
        if (span.before, span.after) != ends or span.comparison is None:
            why = (
                "not decided by all the blocks allowed" if span.comparison else "not comparable with what lies between"
            )
            yield f"Between {name} {span.before} and {span.after}: {why}."
    for each in releases.untestable:
        if each.release not in broken:
            yield f"Stepped over {name} {_stepped_over(each)}"


def _stepped_over(untestable: Untestable) -> str:
    again = " (--resume tries it again)" if may_pass(untestable.reason) else ""
    return f"{untestable.release}: {untestable.reason}{again}"


def _figures(comparison: Comparison) -> str:
    p = "" if comparison.p_value is None else f", p = {comparison.p_value:.2g}"
    return (
        f"{comparison.verdict.value}, × {ratio(comparison.ratio)}, {ratio_interval(comparison.low, comparison.high)}{p}"
    )
