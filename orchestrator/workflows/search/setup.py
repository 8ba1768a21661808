"""The setup of a search, which compares releases in one cell."""

from dataclasses import dataclass

from orchestrator.errors import InputError
from orchestrator.planning import Selection
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.sides import Side
from orchestrator.workflows.measure.regression_setup import RegressionSetup


@dataclass(frozen=True, slots=True)
class SearchSetup:
    """The setup of regression tests in one cell."""

    tests: RegressionSetup
    cell: str
    """The glob of the cell."""

    def pair(self, baseline: Side, candidate: Side) -> Pairing:
        """Pair two sides in the one cell, with its data. Raises `InputError` where that is none, or several."""
        return self.tests.with_data(self.planned(baseline, candidate))

    def unsupported_reason(self, good: Side, side: Side) -> str | None:
        """Return the reason a side cannot be compared with the good one, or None."""
        try:
            self.planned(good, side)
        except InputError as error:
            return error.messages[0]
        return None

    def planned(self, baseline: Side, candidate: Side) -> Pairing:
        """Return what `pair` does, without looking at any data."""
        try:
            pairing = self.tests.planner.pair(baseline, candidate, Selection((self.cell,)))
        except InputError as error:
            raise InputError(*(message.replace("--select", "--cell") for message in error.messages)) from None
        if not pairing.pairs:
            unpaired = (*pairing.gone, *pairing.new)[0]
            raise InputError(f"--cell {self.cell!r}: {unpaired.id}: {unpaired.reason}")
        if len(pairing.pairs) > 1:
            ids = ", ".join(pair.id for pair in pairing.pairs[:4])
            raise InputError(f"--cell {self.cell!r} matches {len(pairing.pairs)} cells, and a search is of one: {ids}")
        return pairing
