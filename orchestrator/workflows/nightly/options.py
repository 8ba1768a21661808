"""The options and results of a night."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator.regression.nightly.state import Night
from orchestrator.workflows import option_values
from orchestrator.workflows.measure.pair import SourceOptions


@dataclass(frozen=True, kw_only=True)
class NightlyOptions(SourceOptions):
    """The options of `nightly`."""

    file: Path = option_values.NIGHTLY_FILE
    """What is watched, and how it is measured."""
    idle_wait_s: float = option_values.IDLE_WAIT_S
    """Longest wait for an idle host before a cell."""


@dataclass(frozen=True, slots=True)
class NightResult:
    """A night with its page."""

    night: Night
    page: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptOptions:
    """The options of `accept`."""

    release: str
    """A release, as in `mxnet==1.9.1` or `1.9.1`."""
    file: Path = option_values.NIGHTLY_FILE
    models: Path | None = None
    """A folder with models of the user's own."""


@dataclass(frozen=True, slots=True)
class AcceptResult:
    """The change of the baseline."""

    name: str
    """The name before `==` of a watched release."""
    watched: str
    accepted: str
    before: str
    """The release that was accepted before, or an empty text."""
