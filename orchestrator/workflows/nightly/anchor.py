"""The third side of a night's trials: the plan of a fixed release in the blocks of baseline and candidate."""

from dataclasses import replace
from itertools import pairwise

from packaging.version import Version

from orchestrator.errors import InputError
from orchestrator.regression.anchoring import Anchor, anchored, drifting, shortest_chain
from orchestrator.regression.nightly.state import Tonight
from orchestrator.regression.pairing import Pairing, Unpaired
from orchestrator.regression.rules import Rules
from orchestrator.workflows.nightly.past import Past
from orchestrator.workflows.nightly.planner import NightlyPlanner


def check_anchor(planner: NightlyPlanner, rules: Rules) -> None:
    """Raise `InputError` if the anchor has no environment, or nothing that decides can drift from it."""
    nightly = planner.nightly
    if nightly.settings.anchor is None:
        return
    mistakes = []
    if reason := planner.unknown_reason(nightly.settings.anchor.release):
        mistakes.append(f"{nightly.at('anchor', 'release')}: {reason}")
    if not drifting(rules):
        names = ", ".join(metric.name for metric in rules.deciding)
        mistakes.append(
            f"{nightly.at('anchor')}: {names} alone decides, which has no small losses to add up; "
            "name another metric too, such as throughput"
        )
    if mistakes:
        raise InputError(*mistakes)


def anchored_pairing(
    planner: NightlyPlanner, pairing: Pairing, tonight: Tonight, past: Past
) -> tuple[Pairing, Anchor | None]:
    """Return a pairing with the cells of the anchor in its plan, and the anchor.

    There is none if the settings name none, or the baseline is the anchor itself.
    """
    entry = planner.nightly.settings.anchor
    if entry is None or Version(entry.release) in {Version(tonight.baseline), Version(tonight.release)}:
        return pairing, None
    anchor = Anchor(planner.side(entry.release), entry.tolerance, doubted=past.doubted_drifts)
    between = [each for each in (tonight.baseline, *reversed(past.measured)) if planner.unknown_reason(each) is None]
    releases = shortest_chain(entry.release, tonight.release, between, planner.pythons)
    if releases is None:
        reason = f"no Python runs {entry.release} and {tonight.release}, and no chain of measured releases joins them"
        return pairing, _missing(anchor, pairing, reason)
    try:
        chain = [_link(planner, pairing, one, other) for one, other in pairwise(releases)]
    except InputError as error:
        return pairing, _missing(anchor, pairing, "; ".join(error.messages))
    whole, found = anchored(pairing, replace(anchor, over=releases[1:-1]), chain)
    return planner.setup.with_data(whole), found


def _missing(anchor: Anchor, pairing: Pairing, reason: str) -> Anchor:
    return replace(anchor, missing=tuple(Unpaired(pair.id, pair.candidate, reason) for pair in pairing.pairs))


def _link(planner: NightlyPlanner, pairing: Pairing, one: str, other: str) -> Pairing:
    """Pair two neighbours of a chain, on the Python of baseline and candidate if both run on it."""
    ours = {cell.framework.python for cell in pairing.plan.cells}
    (python,) = ours if len(ours) == 1 else ("",)
    runs = python in planner.pythons(one) and python in planner.pythons(other)
    first, second = (replace(planner.side(release), python=python if runs else "") for release in (one, other))
    return planner.setup.planner.pair(first, second)
