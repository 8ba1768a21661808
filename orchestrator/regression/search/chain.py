"""The plan of a search whose ends no Python runs both: spans of its releases, each on one Python.

Neighbouring spans share a release, which is measured on the Pythons of both. A release is compared only with releases
on its own Python, so that what Python itself changes is in no step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from orchestrator.errors import InputError
from orchestrator.regression.search.steps import comparisons
from orchestrator.wording import listing


@dataclass(frozen=True, slots=True)
class PythonSpan:
    """Releases of a search that follow each other, on one Python."""

    python: str
    first: str
    last: str
    """The first release of the next span too, unless this is the last span."""

    def of(self, releases: Sequence[str]) -> tuple[str, ...]:
        """Return its releases from all releases of the search, in order."""
        return tuple(releases[releases.index(self.first) : releases.index(self.last) + 1])


def python_spans(searched: str, pythons: Mapping[str, Sequence[str]]) -> tuple[PythonSpan, ...]:
    """Return as few spans as there can be over all releases, each of which has its Pythons here, in order.

    Each span has the Python that reaches furthest from its first release, the newer one of equals. Raises `InputError`
    where a release shares no Python with the next one.
    """
    releases = tuple(pythons)
    spans: list[PythonSpan] = []
    start = 0
    while start < len(releases) - 1:
        reaches = {python: _reach(python, start, pythons) for python in pythons[releases[start]]}
        best = max(reaches, key=lambda python: (reaches[python], Version(python)), default=None)
        if best is None or reaches[best] == start:
            raise InputError(_gap(searched, releases[start], releases[start + 1], pythons))
        spans.append(PythonSpan(best, releases[start], releases[reaches[best]]))
        start = reaches[best]
    return tuple(spans)


def _reach(python: str, start: int, pythons: Mapping[str, Sequence[str]]) -> int:
    """Return the place of the last release up to which one Python runs all releases from the start on."""
    every = list(pythons.values())
    end = start
    while end + 1 < len(every) and python in every[end + 1]:
        end += 1
    return end


def _gap(searched: str, before: str, after: str, pythons: Mapping[str, Sequence[str]]) -> str:
    return (
        f"no Python runs both ends, and the releases between cannot be chained: {searched} {before} "
        f"({pythons_of(pythons[before])}) and {after} ({pythons_of(pythons[after])}) share no Python; "
        f"search up to {before}, or from {after} on"
    )


def pythons_of(pythons: Sequence[str]) -> str:
    """Return Pythons in words, from the oldest to the newest."""
    return f"Python {listing(sorted(pythons, key=Version))}" if pythons else "no Python"


def comparisons_of_chain(spans: Sequence[PythonSpan], releases: Sequence[str]) -> int:
    """Return the number of comparisons that share α: those of each span, and that of the ends of the chain."""
    return sum(comparisons(len(span.of(releases))) for span in spans) + (len(spans) > 1)
