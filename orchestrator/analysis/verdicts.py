"""The verdicts on a candidate, from the statistics to the page."""

from enum import StrEnum
from typing import Final


class Verdict(StrEnum):
    """What may be said of the candidate; `slower` always means worse, whatever the metric."""

    SLOWER = "slower"
    FASTER = "faster"
    SAME = "same"
    """The whole interval lies inside the tolerance."""
    INCONCLUSIVE = "inconclusive"
    """The interval is too wide to decide, or there is none."""
    NOT_COMPARABLE = "not comparable"
    """The sides differ in work or environment, or compute nothing; the reason says which."""
    BROKE = "broke"
    """The candidate no longer runs, or fails more often than chance explains; the reason is its outcome."""
    FIXED = "fixed"
    """The baseline does not run, or fails more often than chance explains."""
    NEW = "new"
    """Only the candidate can do this."""
    GONE = "gone"
    """Only the baseline can do this."""
    NOT_MEASURED = "not measured"
    """Neither side has a result, or there was no image, device or time; this shows neither a regression nor health."""

    @property
    def is_good(self) -> bool:
        """Return true if the candidate is shown to be as good or better, which an undecided one is not."""
        return self in {Verdict.SAME, Verdict.FASTER, Verdict.FIXED, Verdict.NEW}


OF_FIGURES: Final = (Verdict.FASTER, Verdict.SLOWER, Verdict.SAME, Verdict.INCONCLUSIVE, Verdict.NOT_COMPARABLE)
"""The verdicts on two series of figures; the others are on sides without figures."""
