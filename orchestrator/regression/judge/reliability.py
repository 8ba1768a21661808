"""Reliability of two sides, from the failures of their repeats."""

from math import comb

from orchestrator.analysis.comparison import Verdict
from orchestrator.domain import Status
from orchestrator.regression.judge.evidence import CellEvidence
from orchestrator.regression.model import Judged
from orchestrator.regression.rules import LEAST_BLOCKS

_OF_ITSELF = frozenset({Status.IMPORT_FAILED, Status.UNSUPPORTED})
"""Ends that no chance explains: one says it all."""


def unreliable(baseline: CellEvidence, candidate: CellEvidence, level: float) -> tuple[Verdict, str] | None:
    """Return verdict and reason if a side does not run, or fails more often, or None if figures may decide.

    `level` is the probability, at most, that the exact test finds a difference where both fail equally often.
    """
    if not baseline.telling or not candidate.telling:
        silent = baseline if not baseline.telling else candidate
        side = "baseline" if silent is baseline else "candidate"
        return Verdict.NOT_MEASURED, f"{side}: {silent.failure or 'no outcome was recorded'}"
    for lacking, other in ((candidate, baseline), (baseline, candidate)):
        if _fails_more(lacking, other, level):
            unsupported = all(outcome.status is Status.UNSUPPORTED for outcome in lacking.telling)
            if lacking is candidate:
                return Verdict.GONE if unsupported else Verdict.BROKE, _told(lacking, other, "baseline")
            return Verdict.NEW if unsupported else Verdict.FIXED, f"the baseline: {_told(lacking, other, 'candidate')}"
    if not baseline.runs and not candidate.runs:
        return Verdict.NOT_MEASURED, f"neither side runs: {candidate.failure}"
    for name, lacking, other in (("candidate", candidate, baseline), ("baseline", baseline, candidate)):
        if _is_above(lacking, other, 0.5):
            return Verdict.NOT_MEASURED, (
                f"{name}: {lacking.failure}; a single repeat of a side says nothing of how often it fails"
            )
    return None


def doubt(baseline: CellEvidence, candidate: CellEvidence) -> str:
    """Return the reason not to call the candidate good, or an empty text if it failed no more often."""
    if not _is_above(candidate, baseline):
        return ""
    others = f"{baseline.failed} of {len(baseline.telling)}" if baseline.failed else "none"
    return (
        f"{candidate.failed} of {len(candidate.telling)} repeats of the candidate failed, and {others} of the "
        f"baseline's: {candidate.failure}"
    )


def doubted(judged: Judged, why: str) -> Judged:
    """Withdraw a good verdict on a deciding metric if there is a reason to doubt it."""
    if not why or not judged.gates or not judged.verdict.is_good:
        return judged
    reason = f"{judged.verdict.value} by its figures, but {why}"
    return judged.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "reason": reason})


def _fails_more(one: CellEvidence, other: CellEvidence, level: float) -> bool:
    """Return true if a side fails more often than chance explains, or in over half of its repeats more.

    The latter says that it does not run, which takes no test: after few blocks, or among many cells, none could tell.
    A single repeat of a side does not say so, unless the release itself does.
    """
    of_itself = all(outcome.status in _OF_ITSELF for outcome in one.telling)
    enough = of_itself or min(len(one.telling), len(other.telling)) >= LEAST_BLOCKS
    if enough and _is_above(one, other, 0.5):
        return True
    return _is_above(one, other) and _by_chance(one, other) <= level


def _is_above(one: CellEvidence, other: CellEvidence, by: float = 0.0) -> bool:
    """Return true if the share of failures is higher by more than `by`."""
    repeats, others = len(one.telling), len(other.telling)
    return one.failed * others - other.failed * repeats > by * repeats * others


def _by_chance(one: CellEvidence, other: CellEvidence) -> float:
    return more_often_by_chance(one.failed, len(one.telling), other.failed, len(other.telling))


def _told(lacking: CellEvidence, other: CellEvidence, name: str) -> str:
    """Return how a side fails, with counts if it does not always fail or the other side fails too."""
    if lacking.failed == len(lacking.telling) and not other.failed:
        return lacking.failure
    return (
        f"{lacking.failed} of {len(lacking.telling)} repeats failed, and {other.failed} of {len(other.telling)} of the "
        f"{name}'s (p = {_by_chance(lacking, other):.2g}): {lacking.failure}"
    )


def more_often_by_chance(failed: int, repeats: int, other_failed: int, other_repeats: int) -> float:
    """Return the probability that at least this many of all failures fall to the first side by chance.

    It assumes that both fail equally often, and needs no likelihood of failing: from the number of failures of all
    repeats, the ones that failed are drawn without replacement. It is 1 if nothing failed. Raises `ValueError` if more
    failed than there were.
    Source: Fisher, "The logic of inductive inference", J. Royal Statistical Society 98 (1935), the exact test.
    """
    if not (0 <= failed <= repeats and 0 <= other_failed <= other_repeats):
        raise ValueError(f"{failed} of {repeats} and {other_failed} of {other_repeats}: more failed than there were")
    together = failed + other_failed
    ways = sum(comb(repeats, at) * comb(other_repeats, together - at) for at in range(failed, together + 1))
    return ways / comb(repeats + other_repeats, together)
