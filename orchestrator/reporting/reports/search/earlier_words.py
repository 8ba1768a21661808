"""The sentences of a search of schema 1 that later searches have no use for."""

from collections.abc import Iterator

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.search.earlier_record import EarlierBisection
from orchestrator.reporting.inline import short_percent
from orchestrator.wording import clean_line, listing

_UNSEEN = "What changes and changes back between two releases that are the same is not seen (--all looks for it)."


def how(record: EarlierBisection) -> tuple[str, ...]:
    """Explain the looks of a search and the risk of each of its two phases."""
    asked, found = record.asked, record.found
    looks = listing([str(number) for number in asked.looks])
    alpha, tolerance = short_percent(asked.alpha), short_percent(asked.metric.tolerance)
    searched = [origin for origin in found.origins if origin.alpha is not None] if found else []
    lines = [
        f"Looked after {looks} blocks; every block holds both sides, and what is decided is measured no further.",
    ]
    lines.append(
        f"At most {alpha} of such searches call a change of releases what is within the tolerance of {tolerance}: "
        "that α is shared by all comparisons of releases that there can be."
    )
    if searched:
        each = (
            "" if len(searched) == 1 else f", {short_percent(searched[0].alpha or 0)} for each of the {len(searched)}"
        )
        lines.append(f"The search over what moved spends a further α of its own, {alpha} too{each}.")
    if _may_cancel(record):
        lines.append(_UNSEEN)
    lines.append(f"A single “same” is wrong in at most {alpha} of the cases in which it changed by just the tolerance.")
    return tuple(clean_line(line) for line in lines)


def unseen(record: EarlierBisection) -> Iterator[str]:
    """Yield the sentence on changes that cancel, for ends that are the same."""
    ends = record.found.releases.ends if record.found else None
    if ends is not None and ends.verdict is Verdict.SAME and _may_cancel(record):
        yield _UNSEEN


def _may_cancel(record: EarlierBisection) -> bool:
    """Return true if two releases are the same and those between them were not measured."""
    places = {release: place for place, release in enumerate(record.releases)}
    steps = record.found.steps if record.found else ()
    same = [step for step in steps if step.comparison and step.comparison.verdict is Verdict.SAME]
    return not record.asked.every and any(places[step.after] - places[step.before] > 1 for step in same)
