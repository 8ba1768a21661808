"""Job arrays, from the parts that are still to be measured. Parts of an array ask for the same node and time."""

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from orchestrator.clusters.parts import NodeNeeds, Part
from orchestrator.clusters.site.model import Site, TimeLimits

MOST_TASKS = 1000
"""Tasks of an array. Slurm's own bound is 1001 unless a site raises it."""
_BAND_MINUTES = 5
"""The shortest time limit that arrays have in common. Each further one is twice as long."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part that nodes are wanted for."""

    part: Part
    nodes: int = 1
    measured_on: tuple[str, ...] = ()
    """Nodes that have measured it already, where another node has to."""
    begun_on: tuple[str, ...] = ()
    """Nodes that go on with it, for the rest of what they have measured."""


@dataclass(frozen=True, slots=True)
class JobArray:
    """Parts that are submitted together, a job for each."""

    parts: tuple[str, ...]
    """Their names, the longest first."""
    minutes: int
    needs: NodeNeeds
    nodes: int = 1
    """Of each job; each measures the part."""
    exclude: tuple[str, ...] = ()
    nodelist: tuple[str, ...] = ()
    """Nodes that each job must have."""

    def halves(self) -> "tuple[JobArray, JobArray]":
        """Return two arrays with the same parts, for a scheduler that takes no more at once."""
        middle = (len(self.parts) + 1) // 2
        return self._with(self.parts[:middle]), self._with(self.parts[middle:])

    def on_known(self, known: Container[str]) -> "JobArray":
        """Return the array without the nodes that its cluster no longer has."""
        nodelist, exclude = (tuple(node for node in nodes if node in known) for nodes in (self.nodelist, self.exclude))
        return replace(self, nodelist=nodelist, exclude=exclude)

    def _with(self, parts: tuple[str, ...]) -> "JobArray":
        return replace(self, parts=parts)


def arrays(wanted: Iterable[Wanted], site: Site) -> Iterator[JobArray]:
    """Yield the arrays of parts, the longest first, so that a long part does not begin when all others have ended.

    A bound on the nodes at once counts within an array and arrays then run in turn, so parts of all lengths share one.
    A part of a certain node is an array of its own: the tasks of an array cannot have different nodes.
    """
    together: dict[tuple[JobArray, int, str], list[Wanted]] = {}
    for each in sorted(wanted, key=lambda each: -each.part.seconds):
        band = 0 if site.nodes_at_once else minutes(each.part.seconds, site.time)
        nodelist = (each.part.node,) if each.part.node else each.begun_on
        alike = JobArray((), 0, each.part.needs, each.nodes, each.measured_on, nodelist)
        own = each.part.name if each.part.node else ""
        together.setdefault((alike, band, own), []).append(each)
    for (alike, _, _), members in together.items():
        limit = minutes(members[0].part.seconds, site.time)
        for names in _chunks([each.part.name for each in members]):
            yield replace(alike, parts=names, minutes=limit)


def minutes(seconds: float, limits: TimeLimits) -> int:
    """Return the time limit of a part in whole minutes.

    Limits are rounded up to a few lengths, so that many parts share an array.
    """
    wanted = max(seconds * limits.margin, limits.shortest_s) / 60
    rounded = _BAND_MINUTES * 2 ** max(0, math.ceil(math.log2(wanted / _BAND_MINUTES)))
    longest = math.inf if limits.longest_s is None else max(1, limits.longest_s // 60)
    return int(min(rounded, longest))


def _chunks(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(names), MOST_TASKS):
        yield tuple(names[start : start + MOST_TASKS])
