"""The operands of a comparison, which are runs with a selection of their cells."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from orchestrator.domain import Cell, Duration, Options, Plan, Workload
from orchestrator.errors import InputError
from orchestrator.regression.judge.comparable import Placed
from orchestrator.regression.pairing import Unpaired
from orchestrator.regression.sides import Side, side_of
from orchestrator.results.records import RunRecord
from orchestrator.results.store import Run

WorkKey = tuple[str, Workload, Options, Duration, str]
"""The work of a cell: system, workload, options, duration, and the release where there are several."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One side, with its runs and the selection of their cells."""

    text: str
    """The operand as the user wrote it."""
    runs: tuple[Run, ...]
    side: Side | None = None
    """None for every cell."""
    cell_ids: frozenset[str] | None = None
    """The cells of one side of regression tests; None for those of `side`."""
    unpaired: tuple[Unpaired, ...] = ()
    """The work that only this side of regression tests can do, and that was not measured."""

    def has(self, cell: Cell) -> bool:
        """Return true if a cell is meant. Scripts are compared as the sides of a regression test alone."""
        if self.cell_ids is not None:
            return cell.id in self.cell_ids
        return not cell.script and (self.side is None or _is_of(cell, self.side))

    @property
    def is_whole(self) -> bool:
        """Return true if it means all cells of its runs."""
        return self.side is None and self.cell_ids is None


def _is_of(cell: Cell, side: Side) -> bool:
    framework, backend = cell.framework, cell.framework.backend
    return (
        (framework.name, framework.version) == (side.name, side.version)
        and (side.backend is None or (backend is not None and (backend.name, backend.version) == side.backend))
        and set(side.packages) <= set(framework.packages)
    )


def oldest_first(operand: Operand, records: Mapping[str, RunRecord]) -> Operand:
    """Return the operand with its runs in the order of their measuring."""
    return replace(operand, runs=tuple(sorted(operand.runs, key=lambda run: (records[run.name].created_at, run.name))))


def refuse_smoke_runs(plans: Mapping[str, Plan]) -> None:
    """Raise `InputError` if a run was made by a profile, whose figures prove nothing."""
    named = [(name, plan.profile.title) for name, plan in plans.items() if plan.profile]
    if named:
        raise InputError(
            *(f"{name} is a {title}, whose figures prove nothing; compare whole runs" for name, title in named)
        )


def has_several(operand: Operand, plans: Mapping[str, Plan]) -> bool:
    """Return true if it means several releases, or a whole run with several versions of a package."""
    meant = [[cell.framework for cell in plans[run.name].cells if operand.has(cell)] for run in operand.runs]
    if len({framework.label for frameworks in meant for framework in frameworks}) > 1:
        return True
    return operand.is_whole and any(len({framework.packages for framework in frameworks}) > 1 for frameworks in meant)


def cells_by_work(operand: Operand, plans: Mapping[str, Plan], *, named: bool) -> dict[WorkKey, list[Placed]]:
    """Return the cells of an operand by their work, and by release if there are several."""
    by_key: dict[WorkKey, list[Placed]] = {}
    for run in operand.runs:
        ids_by_key: dict[WorkKey, str] = {}
        for cell in plans[run.name].cells:
            if not operand.has(cell):
                continue
            release = cell.id.partition("/")[0] if named else ""
            key = (cell.system.name, cell.workload, cell.options, cell.duration, release)
            other = ids_by_key.setdefault(key, cell.id)
            if other != cell.id:
                raise InputError(
                    f"{operand.text}: {other} and {cell.id} of {run.name} are both meant; say which, as in "
                    f"{run.whole}:baseline where it is a regression test, or {run.whole}:{side_of(cell.framework).text}"
                )
            by_key.setdefault(key, []).append((run, cell))
    if not by_key:
        every = (cell.framework for run in operand.runs for cell in plans[run.name].cells if not cell.script)
        there = dict.fromkeys(side_of(framework).label for framework in every)
        raise InputError(f"{operand.text}: no such cells in the plan; there is {', '.join(there)}")
    return by_key


def label(operand: Operand, plans: Mapping[str, Plan]) -> str:
    """Return the releases that an operand means, for people."""
    meant = (cell.framework for run in operand.runs for cell in plans[run.name].cells if operand.has(cell))
    releases = " and ".join(sorted({side_of(framework).label for framework in meant}))
    return f"{releases}, {len(operand.runs)} runs" if operand.side and len(operand.runs) > 1 else releases
