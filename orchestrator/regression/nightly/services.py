"""The services that a night uses, and the result of a trial."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from orchestrator.events import Listener
from orchestrator.regression.model import Regression
from orchestrator.regression.nightly.decide import TrialOutcomes
from orchestrator.regression.nightly.state import Tonight
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The result of a trial."""

    regression: Regression
    outcomes: TrialOutcomes
    images: tuple[str, ...] = ()
    """References of the candidate's own images."""


@dataclass(frozen=True, slots=True)
class NightServices:
    """The services a night uses."""

    offered: Callable[[], Offered]
    measure: Callable[[Tonight, Callable[[str], None]], TrialResult]
    """Carry out the trial of a release, or go on with its run if that is of the same trial.

    The function that it is given is called with the name of the run before it begins. Raises `UnsupportedError` where
    the catalog has no environment for the release, `HostError` where this host cannot measure, and `InputError`, which
    ends the night, where nothing can be measured of any release.
    """
    now: Callable[[], datetime]
    is_over: Callable[[], bool]
    """Returns true if the budget is spent, or a signal came."""
    is_interrupted: Callable[[], bool]
    listener: Listener
    host: str
    new_name: str
    unsupported_reason: Callable[[PublishedRelease], str | None] = lambda _: None
    """Returns the reason the catalog has no environment for a release, or None."""
    check_listed: Callable[[str, Offered], None] = lambda *_: None
    """Raises `InputError` if no index has a baseline that was never measured."""
    measure_itself: Callable[[Tonight, Callable[[str], None]], TrialResult] | None = None
    """Carry out the trial of a baseline against itself, as `measure` does; None if no night does so.

    Nothing that it calls knows the release of the candidate, which has the name of `Tonight.release` alone.
    """
