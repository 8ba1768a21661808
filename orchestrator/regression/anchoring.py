"""An anchor, which is a fixed release that is measured in the blocks of a regression test as a third side."""

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from orchestrator.domain import Plan
from orchestrator.modes.parts.metrics import Better, Metric
from orchestrator.regression.pairing import Pair, Pairing, Unpaired
from orchestrator.regression.rules import Gate, Rules
from orchestrator.regression.sides import Side

ALWAYS_DECIDES: Final = "largest_batch"
"""The one metric of its cells, whatever decides elsewhere."""


@dataclass(frozen=True, slots=True)
class AnchoredPair:
    """The work of a pair, from the anchor to the candidate."""

    id: str
    """The id of the pair of baseline and candidate."""
    links: tuple[Pair, ...]
    """One if a Python runs both. Else the candidate of a link and the baseline of the next one are one release."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The third side of a regression test, to which every candidate is compared at a tolerance of its own."""

    side: Side
    tolerance: float
    over: tuple[str, ...] = ()
    """The releases between anchor and candidate that a chain goes over; empty if one Python runs both."""
    pairs: tuple[AnchoredPair, ...] = ()
    missing: tuple[Unpaired, ...] = ()
    """The pairs that the anchor, or a release of the chain, has no cell for."""
    doubted: tuple[tuple[str, str], ...] = ()
    """As in `Rules`, for the alarms of the anchor."""

    def rules(self, rules: Rules) -> Rules:
        """Return the rules by which the candidate is judged next to the anchor.

        What is known exactly, or has no better direction, is compared with the baseline alone.
        """
        names = dict.fromkeys([*(metric.name for metric in drifting(rules)), ALWAYS_DECIDES])
        return replace(rules, gates=tuple(Gate(name, self.tolerance) for name in names), doubted=self.doubted)


def drifting(rules: Rules) -> tuple[Metric, ...]:
    """Return the metrics that decide, scatter, and have a direction for the worse."""
    return tuple(metric for metric in rules.deciding if not metric.is_exact and metric.better is not Better.EQUAL)


def shortest_chain(
    anchor: str, candidate: str, between: Sequence[str], pythons: Callable[[str], Collection[str]]
) -> tuple[str, ...] | None:
    """Return the fewest releases, anchor first and candidate last, of which each two neighbours share a Python.

    None if there is no such chain. Of chains of one length, the first in the order of `between` counts. A release of
    the user's own image has no known Python, and is taken to share one with all.
    """
    known = {release: frozenset(pythons(release)) for release in dict.fromkeys((anchor, *between, candidate))}
    before: dict[str, str] = {}
    waiting = deque([anchor])
    while waiting:
        release = waiting.popleft()
        for other, runs_on in known.items():
            shared = known[release] & runs_on or not known[release] or not runs_on
            if other in before or other == anchor or not shared:
                continue
            before[other] = release
            waiting.append(other)
    return tuple(reversed(list(_back(candidate, before)))) if candidate in before else None


def _back(release: str, before: Mapping[str, str]) -> Iterator[str]:
    yield release
    while release in before:
        release = before[release]
        yield release


def anchored(pairing: Pairing, anchor: Anchor, chain: Sequence[Pairing]) -> tuple[Pairing, Anchor]:
    """Return a pairing with the cells of an anchor in its plan, and the anchor with its pairs.

    The chain pairs each two neighbouring releases, from the anchor to the candidate.
    """
    by_id = [{pair.id: pair for pair in link.pairs} for link in chain]
    pairs, missing = [], []
    for pair in pairing.pairs:
        links = [link[pair.id] for link in by_id if pair.id in link]
        if len(links) == len(chain):
            pairs.append(AnchoredPair(pair.id, tuple(links)))
        else:
            missing.append(Unpaired(pair.id, pair.candidate, _reason(pair.id, chain)))
    ids = {cell_id for each in pairs for link in each.links for cell_id in (link.baseline, link.candidate)}
    plan = _with_cells(pairing.plan, [link.plan for link in chain], ids)
    return replace(pairing, plan=plan), replace(anchor, pairs=tuple(pairs), missing=tuple(missing))


def _reason(pair: str, chain: Sequence[Pairing]) -> str:
    """Return the reason that a link of the chain has no cell for a pair."""
    unpaired = (each.reason for link in chain for each in (*link.gone, *link.new) if each.id == pair)
    return next(unpaired, "it is not in the plan of the anchor")


def _with_cells(plan: Plan, others: Sequence[Plan], ids: Collection[str]) -> Plan:
    """Return a plan with the named cells of others, and all that these cells need."""
    every = (plan, *others)
    own = {cell.id for cell in plan.cells}
    wanted = {cell.id: cell for each in every for cell in each.cells if cell.id in own or cell.id in ids}
    images = {cell.image for cell in wanted.values()}
    models = {cell.workload.model for cell in wanted.values()}
    defined = {(cell.workload.model, cell.definition) for cell in wanted.values()}
    return replace(
        plan,
        cells=tuple(wanted.values()),
        images=_distinct(image for each in every for image in each.images if image.name in images),
        models=_distinct(model for each in every for model in each.models if model.name in models),
        networks=_distinct(one for each in every for one in each.networks if one.name in models),
        definitions=_distinct(one for each in every for one in each.definitions if (one.model, one.sha256) in defined),
    )


_Item = TypeVar("_Item", bound=Hashable)


def _distinct(items: Iterable[_Item]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys(items))
