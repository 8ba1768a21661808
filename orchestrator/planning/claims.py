"""The claims of a matrix, with the ids of the cells that they name."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from orchestrator.domain import Framework, Options, Plan, System, Workload
from orchestrator.errors import InputError
from orchestrator.matrix import Rule
from orchestrator.matrix.model import ClaimedCells, StudyAxes
from orchestrator.matrix.studies.shapes import LINK
from orchestrator.modes import METRICS
from orchestrator.modes.parts.claimed import claimed_metric
from orchestrator.planning import rules
from orchestrator.studies import Study
from orchestrator.wording import listing_of

_MOST_LISTED = 4


@dataclass(frozen=True, slots=True)
class Claimable:
    """A cell of a matrix, planned or left out, by what the rule of a claim may ask of it.

    Under a profile, a cell may stand for several workloads that the matrix asks for.
    """

    framework: Framework
    system: System
    workload: Workload
    options: Options

    def matches(self, *asked: Rule) -> bool:
        """Return true if the cell matches every rule."""
        every = (1 << len(asked)) - 1
        return (
            rules.work_bits(asked, self.workload) == every
            and rules.option_bits(asked, self.options) == every
            and rules.site_bits(asked, self.framework, self.system) == every
        )


Cells = Mapping[str, Sequence[Claimable]]
"""Every cell of a matrix by its id, once for each workload that it stands for."""


def study_of(axes: StudyAxes | None, cells: Cells) -> Study | None:
    """Return the study of a matrix, with the ids of the cells of its claims among `cells`.

    Raises `InputError` with a line for each cell of a claim that is none, or several, and for each metric that the mode
    of a cell lacks.
    """
    if axes is None:
        return None
    mistakes: list[str] = []
    claims = []
    for entry in axes.claims:
        ids = {}
        for side, rule in (("of", entry.of), ("over", entry.over)):
            named = _named(cells, entry.both, rule)
            if len(named) == 1:
                ids[side] = named[0]
                mistakes += _metric_mistakes(entry, side, cells[named[0]][0])
            else:
                wrong = _wrong_number(entry, rule, named, cells)
                mistakes.append(f"{rule.place}: claims: {entry.claim.name}: {side}: {wrong}")
        if ids.get("of", "") == ids.get("over") and len(set(cells[ids["of"]])) == 1:
            mistakes.append(f"{entry.of.place}: claims: {entry.claim.name}: both of its cells are {ids['of']}")
        claims.append(replace(entry.claim, of=ids.get("of", ""), over=ids.get("over", "")))
    if mistakes:
        raise InputError(*mistakes)
    return replace(axes.study, claims=tuple(claims))


def problems(plan: Plan, is_cell_id: Callable[[str], bool]) -> Iterator[str]:
    """Yield a line for each thing of the claims of a plan that no matrix of this version can give."""
    if plan.study and plan.study.link and not re.fullmatch(LINK, plan.study.link):
        yield "the link of the study does not begin with https:// or http://"
    for claim in plan.study.claims if plan.study else ():
        shown = claim.name[:100]
        if not is_cell_id(claim.of) or not is_cell_id(claim.over):
            yield f"claim {shown!r}: `of` and `over` are not two ids of cells"
        if not 0 < claim.published.ratio < float("inf"):
            yield f"claim {shown!r}: the published ratio is no positive number"
        try:
            claimed_metric(claim.metric, METRICS)
        except ValueError as error:
            yield f"claim {shown!r}: {error}"


def _named(cells: Cells, *asked: Rule) -> list[str]:
    return [name for name, several in cells.items() if any(cell.matches(*asked) for cell in several)]


def _metric_mistakes(entry: ClaimedCells, side: str, cell: Claimable) -> list[str]:
    try:
        claimed_metric(entry.claim.metric, cell.workload.rules.metrics)
    except ValueError as error:
        return [f"{entry.of.place}: claims: {entry.claim.name}: {side}: mode {cell.workload.mode}: {error}"]
    return []


def _wrong_number(entry: ClaimedCells, rule: Rule, named: Sequence[str], cells: Cells) -> str:
    """Return what is wrong with a rule that names no cell or several, with a remedy."""
    if named:
        return f"names {len(named)} cells; add what distinguishes them: {listing_of(named, _MOST_LISTED)}"
    for both, own, key in _relaxed(entry.both, rule):
        near = _named(cells, both, own)
        if near:
            return f"names no cell of this matrix; by all but `{key}` it would be {listing_of(near, _MOST_LISTED)}"
    return "names no cell of this matrix; `orchestrator plan` lists them"


def _relaxed(both: Rule, own: Rule) -> Iterator[tuple[Rule, Rule, str]]:
    """Yield both rules without one of their keys, in turn."""
    for place, rule in enumerate((own, both)):
        for axis in fields(Rule):
            if axis.name != "place" and getattr(rule, axis.name):
                nothing: dict[str, Any] = {axis.name: ()}
                without = replace(rule, **nothing)
                key = axis.name if axis.name in {"options", "axes"} else axis.name.removesuffix("s")
                yield (both, without, key) if place == 0 else (without, own, key)
