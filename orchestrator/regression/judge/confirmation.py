"""The confirmation of alarms by fresh blocks, judged by themselves."""

import math

from orchestrator.analysis.verdicts import Verdict
from orchestrator.regression.model import Confirmation, Judged
from orchestrator.regression.rules import LEAST_BLOCKS


def needs_confirmation(judged: Judged) -> bool:
    """Return true if a verdict is an alarm on a metric with scatter."""
    return judged.gates and judged.verdict is Verdict.SLOWER and judged.blocks > 0


def unconfirmed(judged: Judged) -> Judged:
    """Withdraw an alarm whose confirmation was stopped."""
    if not needs_confirmation(judged):
        return judged
    reason = f"{judged.verdict.value} on {judged.blocks} blocks, and stopped before it was confirmed"
    return judged.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "reason": reason})


def unmeasured(first: Judged, why: str) -> Judged:
    """Withdraw an alarm whose fresh blocks have no result."""
    if not needs_confirmation(first):
        return first
    reason = f"{first.verdict.value} on {first.blocks} blocks; fresh ones tell nothing: {why}"
    return first.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "reason": reason})


def confirmation(first: Judged, fresh: Judged) -> Confirmation:
    """Return the confirmation, which needs fresh blocks worse by more than the tolerance and more than chance.

    A candidate that is 0 in all fresh blocks is confirmed. A second verdict, with the whole interval beyond the
    tolerance, would lose half of the true slowdowns that show in a few blocks. This rule loses few of them, and lets
    one in forty false alarms pass.
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
    """Return the verdict after fresh blocks. An alarm that does not come again is withdrawn."""
    if fresh.blocks < LEAST_BLOCKS:
        return unmeasured(first, fresh.reason)
    result = confirmation(first, fresh)
    if result.confirmed:
        return first.model_copy(update={"confirmation": result})
    reason = f"{first.verdict.value} on {first.blocks} blocks, and not on {fresh.blocks} fresh ones"
    undecided = {"verdict": Verdict.INCONCLUSIVE, "reason": reason, "more_blocks": fresh.more_blocks}
    return first.model_copy(update={**undecided, "confirmation": result})
