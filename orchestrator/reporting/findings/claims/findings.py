"""A published study in the report of a run, as values."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.studies import Claim, LeftOutPart, StandIn


class ClaimVerdict(StrEnum):
    """The answer of a run to a published claim."""

    SAME_DIRECTION = "same direction"
    OTHER_DIRECTION = "other direction"
    """It shows the opposite, a difference where none was published, or none where one was."""
    UNDECIDED = "undecided"
    """The interval is too wide, or there is none."""
    NOT_JUDGED = "cannot be judged"
    """The published value or this run says nothing of it; the reason says why."""


@dataclass(frozen=True, slots=True)
class ClaimFinding:
    """A published claim next to what this run has measured."""

    claim: Claim
    title: str
    """Of the metric."""
    unit: str
    verdict: ClaimVerdict
    reason: str = ""
    """One line; empty only if the verdict needs none."""
    of_value: float | None = None
    """Geometric mean over the repeats that both cells have; None if a cell was not measured."""
    over_value: float | None = None
    ratio: float | None = None
    """The metric of the first cell over that of the second; shown even if the claim cannot be judged."""
    low: float | None = None
    """Lower end of the interval around the ratio; None with fewer than two repeats."""
    high: float | None = None
    confidence: float | None = None
    repeats: int = 0
    """Repeats that both cells have."""
    caveats: tuple[str, ...] = ()
    """The caveats that were published with the claim, and those of this run."""


@dataclass(frozen=True, slots=True)
class StudyReport:
    """The study that a run repeats, with its claims."""

    title: str
    citation: str
    link: str
    stand_ins: tuple[StandIn, ...]
    left_out: tuple[LeftOutPart, ...]
    claims: tuple[ClaimFinding, ...]
    """In the order of the file."""
    smoke_run: bool = False
    """True for a run that measured as little as possible."""

    @property
    def verdicts(self) -> tuple[tuple[ClaimVerdict, int], ...]:
        """Return how many claims have each verdict, in the order of `ClaimVerdict`, without those that none has."""
        counted = Counter(finding.verdict for finding in self.claims)
        return tuple((verdict, counted[verdict]) for verdict in ClaimVerdict if counted[verdict])
