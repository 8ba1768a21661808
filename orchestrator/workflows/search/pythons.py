"""The Pythons of a search: the one that runs good and bad, or a chain of several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from orchestrator.domain import Cell
from orchestrator.errors import InputError
from orchestrator.regression.search.candidates import SearchSubject
from orchestrator.regression.search.chain import python_spans, pythons_of
from orchestrator.regression.search.record_parts import AskedChain
from orchestrator.regression.sides import Side, side_pythons
from orchestrator.workflows.search.setup import SearchSetup


@dataclass(frozen=True)
class SearchPythons:
    """The Pythons on which the one cell of a search can be planned at each release."""

    cell: SearchSetup
    subject: SearchSubject
    common: str | None
    """The one Python that runs good and bad, empty for images of the user's own; None if there is none."""
    good: Side
    """The good side on its Python."""
    _reasons: dict[tuple[str, str], str | None] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By text and Python of a side, the reason that it cannot be planned."""

    def unsupported_reason(self, side: Side) -> str | None:
        """Return the reason that a side can be compared with the good one on no Python, or None."""
        if self.common is not None:
            return self._reason(side, self.common)
        if self._runs(side):
            return None
        offered = self._offered(side)
        return self._reason(side, (*offered, self.good.python)[0]) or "the matrix names no Python that runs it"

    def chain(self, releases: Sequence[str]) -> AskedChain | None:
        """Return the chain over releases, or None if one Python runs good and bad.

        Raises `InputError` where they cannot be chained.
        """
        if self.common is not None:
            return None
        pythons = {release: self._runs(self.subject.side(release)) for release in releases}
        first, last = releases[0], releases[-1]
        for option, end in (("--good", first), ("--bad", last)):
            if not pythons[end]:
                raise InputError(self._without_python(option, self.subject.side(end)))
        spans = python_spans(self.subject.distribution, pythons)
        return AskedChain(reason=_reason_of_chain(first, last, pythons), spans=spans)

    def _runs(self, side: Side) -> tuple[str, ...]:
        return tuple(python for python in self._offered(side) if self._reason(side, python) is None)

    def _offered(self, side: Side) -> tuple[str, ...]:
        planner = self.cell.tests.planner
        return side_pythons(planner.matrix, planner.catalog, side)

    def _reason(self, side: Side, python: str) -> str | None:
        key = side.text, python
        if key not in self._reasons:
            self._reasons[key] = self.cell.unsupported_reason(self.good, replace(side, python=python))
        return self._reasons[key]

    def _without_python(self, option: str, side: Side) -> str:
        offered = self._offered(side)
        if offered:
            return f"{option} {side.text}: {self._reason(side, offered[0])}"
        return (
            f"{option} {side.text}: no Python runs both ends, and the matrix names none that runs this one: "
            "name one of its own in `python` too, or leave `python` out"
        )


def _reason_of_chain(first: str, last: str, pythons: Mapping[str, Sequence[str]]) -> str:
    one, other = (f"{end} runs on {pythons_of(pythons[end])}" for end in (first, last))
    return f"no Python runs both ends ({one}; {other})"


def pythons_of_search(
    cell: SearchSetup, subject: SearchSubject, ends: tuple[Cell, Cell], *, own_images: bool
) -> SearchPythons:
    """Return the Pythons of a search, of which `ends` are the cells of good and bad as they were paired.

    Raises `InputError` if they share none and no releases of a framework lie between.
    """
    python, last = (end.framework.python for end in ends)
    good = replace(subject.good, python=python)
    if python == last:
        return SearchPythons(cell, subject, python, good)
    if own_images or not subject.is_framework:
        raise InputError(f"no Python runs both ends: Python {python} against {last}; what differs may come of that")
    return SearchPythons(cell, subject, None, good)
