"""Figures that the trials of a night take from earlier nights."""

from dataclasses import dataclass

from packaging.version import Version

from orchestrator.regression.nightly.state import State
from orchestrator.regression.nightly.watch.scores import doubted


@dataclass(frozen=True, slots=True)
class Past:
    """The releases and the answers of earlier nights."""

    measured: tuple[str, ...] = ()
    """Releases that nights have measured, oldest first: a chain from an anchor may go over them."""
    doubted: tuple[tuple[str, str], ...] = ()
    """Series whose regressions were wrong, as in `Rules`."""
    doubted_drifts: tuple[tuple[str, str], ...] = ()
    """Series whose drifts were wrong."""

    @classmethod
    def of(cls, state: State) -> "Past":
        """Return what a state says."""
        measured = {record.version for record in state.releases if record.judgement.is_final}
        return cls(
            tuple(sorted(measured, key=Version)),
            doubted(state.scores, of_anchor=False),
            doubted(state.scores, of_anchor=True),
        )


NOTHING = Past()
