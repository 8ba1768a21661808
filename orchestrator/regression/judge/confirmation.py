"""The confirmation of alarms by fresh blocks, judged by themselves."""

import math

from orchestrator.analysis.verdicts import Verdict
from orchestrator.regression.model import Confirmation, Judged
from orchestrator.regression.rules import LEAST_BLOCKS


def needs_confirmation(judged: Judged) -> bool:
    """Whether a verdict alarms, and is none that is known exactly."""
    return judged.gates and judged.verdict is Verdict.SLOWER and judged.blocks > 0


def unconfirmed(judged: Judged) -> Judged:
    """What may be said of an alarm that was to be confirmed, and was stopped before."""
    if not needs_confirmation(judged):
        return judged
    reason = f"{judged.verdict.value} on {judged.blocks} blocks, and stopped before it was confirmed"
    return judged.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "reason": reason})


def unmeasured(first: Judged, why: str) -> Judged:
    """What may be said of an alarm that was to be confirmed on fresh blocks, of which nothing could be told."""
    if not needs_confirmation(first):
        return first
    reason = f"{first.verdict.value} on {first.blocks} blocks; fresh ones tell nothing: {why}"
    return first.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "reason": reason})


def confirmation(first: Judged, fresh: Judged) -> Confirmation:
    """Whether fresh blocks, by themselves, are worse again: beyond the tolerance, and by more than chance.

    A candidate that is 0 in all of them is. A second verdict, with the whole interval beyond the tolerance, would lose
    half of the true slowdowns that a few blocks have found; this loses few of them, and lets one in forty false alarms
    pass.
    """
    ratio = fresh.ratio
    fallen = ratio is None and fresh.verdict is Verdict.SLOWER
    again = fallen or (
        ratio is not None
        and fresh.is_significant
        and (ratio > 1) == (first.ratio is not None and first.ratio > 1)
        and abs(math.log(ratio)) > math.log1p(first.tolerance)
    )
    return Confirmation(
        confirmed=again,
        blocks=fresh.blocks,
        ratio=fresh.ratio,
        low=fresh.low,
        high=fresh.high,
        confidence=fresh.confidence,
    )


def confirmed(first: Judged, fresh: Judged) -> Judged:
    """The verdict after it was measured again; one that does not come again is none."""
    if fresh.blocks < LEAST_BLOCKS:
        return unmeasured(first, fresh.reason)
    found = confirmation(first, fresh)
    if found.confirmed:
        return first.model_copy(update={"confirmation": found})
    reason = f"{first.verdict.value} on {first.blocks} blocks, and not on {fresh.blocks} fresh ones"
    undecided = {"verdict": Verdict.INCONCLUSIVE, "reason": reason, "more_blocks": fresh.more_blocks}
    return first.model_copy(update={**undecided, "confirmation": found})
