"""The figures of a page of simulations, each with its wanted value."""

import math
import statistics
from dataclasses import dataclass

from orchestrator.analysis.proportions import clopper_pearson


@dataclass(frozen=True)
class Row:
    """One figure with its wanted value."""

    what: str
    wanted: str
    """Empty if the figure is only shown."""
    value: float
    error: float | None
    """Standard error of the simulation; None if the figure is a time."""
    draws: str
    within: bool | None
    unit: str = ""


def share(what: str, hits: int, draws: int, drawn: str, *, low: float = 0.0, high: float = 1.0) -> Row:
    """Return a share of draws with its bars."""
    value = hits / draws
    # One more hit and one more miss are added, as a share of none is not known without error.
    smooth = (hits + 1) / (draws + 2)
    error = math.sqrt(smooth * (1 - smooth) / draws)
    bars = [f"≥ {low:.1%}"] * (low > 0) + [f"≤ {high:.1%}"] * (high < 1)
    wanted = ", ".join(bars).replace("%", " %")
    return Row(what, wanted, value, error, f"{draws} {drawn}", low <= value <= high if wanted else None, "%")


def mean(what: str, values: list[float], drawn: str, unit: str, high: float | None = None) -> Row:
    """Return a mean over draws."""
    value, error = statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))
    wanted = "" if high is None else f"≤ {high:g}"
    return Row(what, wanted, value, error, f"{len(values)} {drawn}", None if high is None else value <= high, unit)


def bounded(what: str, hits: int, draws: int, drawn: str, high: float) -> Row:
    """Return the upper end of the exact 95 % interval of a share, with its bar."""
    _, value = clopper_pearson(hits, draws)
    wanted = f"≤ {high:.1%}".replace("%", " %")
    return Row(what, wanted, value, None, f"{hits} of {draws} {drawn}", value <= high, "%")
