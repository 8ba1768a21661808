"""The parts of a plan, each of which one node measures as a whole.

Cells that are compared share their node, whatever else it does. These are the cells of one work on one system, those of
one published claim, and those that differ in the number of their GPUs alone.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

from orchestrator.domain import Cell, Plan, System, Workload
from orchestrator.modes.parts.settings import Scaling
from orchestrator.studies import Study

Group = tuple[System, Workload]
"""The cells of one work on one kind of system, which alone are ranked."""


@dataclass(frozen=True, slots=True)
class NodeNeeds:
    """The least that a node must have for a part."""

    cpus: int = 0
    """0 for any number."""
    gpus: int = 0
    gpu: str = ""
    """The `gpu` or the `mig` of its systems, by which a site names them; empty for any."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a plan."""

    name: str
    """Its folder: `003`."""
    groups: tuple[str, ...]
    """`lenet-train-b200 on cpu`, for people."""
    repeats: int
    """Of all its cells."""
    seconds: float
    """Its estimated time, on a node that has nothing yet."""
    needs: NodeNeeds
    node: str = ""
    """The node that has to measure it; empty for any."""


def group_of(cell: Cell) -> Group:
    """Return the group that a cell is ranked in."""
    return cell.system, cell.workload


def parts(plan: Plan, estimated: Callable[[Plan], float]) -> Iterator[tuple[Part, Plan]]:
    """Yield the parts of a plan in its order, each with its own plan. `estimated` gives the seconds of a plan."""
    every = list(_cells_together(plan))
    width = max(3, len(str(len(every) - 1)))
    of_cells = _Slices(plan)
    for number, cells in enumerate(every):
        own = of_cells.plan(cells)
        yield _part(f"{number:0{width}}", own, estimated(own)), own


def _part(name: str, plan: Plan, seconds: float) -> Part:
    return Part(name, groups_of(plan), sum(cell.repeats for cell in plan.cells), seconds, needs_of(plan))


def groups_of(plan: Plan) -> tuple[str, ...]:
    """Return the groups of a plan, for people."""
    groups = map(group_of, plan.cells)
    return tuple(dict.fromkeys(f"{workload.label} on {system.name}" for system, workload in groups))


def needs_of(plan: Plan) -> NodeNeeds:
    """Return the least that a node must have for all cells of a plan."""
    systems = dict.fromkeys(cell.system for cell in plan.cells)
    wishes = (wish for system in systems for wish in (system.gpu, system.mig) if wish)
    return NodeNeeds(
        cpus=max((system.cpus or 0 for system in systems), default=0),
        gpus=max((system.gpus for system in systems), default=0),
        gpu=next(wishes, ""),
    )


def _cells_together(plan: Plan) -> Iterator[list[Cell]]:
    """Yield the cells of each part, in the order of the plan."""
    joined = _Joined()
    groups = {cell.id: group_of(cell) for cell in plan.cells}
    for group in dict.fromkeys(groups.values()):
        joined.add(group)
        for family in _families(group):
            joined.join(group, family)
    for claim in plan.study.claims if plan.study else ():
        if claim.of in groups and claim.over in groups:
            joined.join(groups[claim.of], groups[claim.over])
    together: dict[Hashable, list[Cell]] = {}
    for cell in plan.cells:
        together.setdefault(joined.root(groups[cell.id]), []).append(cell)
    yield from together.values()


def _families(group: Group) -> Iterator[Hashable]:
    """Yield what a group shares with those that its figures are set against: training on another number of GPUs."""
    system, workload = group
    if system.gpus and workload.rules.has_loss:
        work = replace(workload, scaling=Scaling.WEAK)
        yield work, system.gpu, system.gpu_memory_bytes, system.mig


class _Joined:
    """Sets of what was joined, each known by one of its members."""

    def __init__(self) -> None:
        self._above: dict[Hashable, Hashable] = {}

    def add(self, one: Hashable) -> None:
        self._above.setdefault(one, one)

    def root(self, one: Hashable) -> Hashable:
        while self._above[one] != one:
            self._above[one] = self._above[self._above[one]]
            one = self._above[one]
        return one

    def join(self, one: Hashable, other: Hashable) -> None:
        self.add(other)
        self._above[self.root(other)] = self.root(one)


class _Slices:
    """The plans of some of a plan's cells, without what the others alone need."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._images = {image.name: image for image in plan.images}
        self._models = {model.name: model for model in plan.models}
        self._data = {data.name: data for data in plan.data}
        self._definitions = {(each.model, each.sha256): each for each in plan.definitions}

    def plan(self, cells: Iterable[Cell]) -> Plan:
        own = tuple(cells)
        models = dict.fromkeys(cell.workload.model for cell in own)
        definitions = dict.fromkeys((cell.workload.model, cell.definition) for cell in own)
        study = self._study(frozenset(cell.id for cell in own))
        claimed = {name for claim in study.claims for name in (claim.of, claim.over)} if study else ()
        return replace(
            self._plan,
            cells=own,
            images=tuple(self._images[name] for name in dict.fromkeys(cell.image for cell in own)),
            models=tuple(self._models[name] for name in models if name in self._models),
            networks=tuple(each for each in self._plan.networks if each.name in models),
            data=tuple(self._data[name] for name in _datasets(own) if name in self._data),
            definitions=tuple(self._definitions[key] for key in definitions if key in self._definitions),
            skips=tuple(skip for skip in self._plan.skips if skip.cell_id in claimed),
            warnings=(),
            study=study,
        )

    def _study(self, ids: frozenset[str]) -> Study | None:
        """Return the study with the claims on these cells alone, or None without any."""
        study = self._plan.study
        claims = tuple(claim for claim in study.claims if {claim.of, claim.over} & ids) if study else ()
        return replace(study, claims=claims) if study and claims else None


def _datasets(cells: Iterable[Cell]) -> Iterable[str]:
    return dict.fromkeys(cell.workload.dataset for cell in cells)
