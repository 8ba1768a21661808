"""The pairing of two sides over a matrix, in a plan of which every cell has a counterpart."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from orchestrator.catalog import Catalog, ModelInfo
from orchestrator.domain import Cell, ImageSpec, Options, Plan, Skip, Workload
from orchestrator.errors import InputError
from orchestrator.matrix import FrameworkAxes, Include, Matrix
from orchestrator.matrix.model import parse_pin
from orchestrator.planning import Selection, plan
from orchestrator.planning.selection import matches
from orchestrator.regression.package_sides import holds, with_package
from orchestrator.regression.sides import Side, side_axes

EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Pair:
    """The same work on the same kind of system, on both sides."""

    id: str
    """`cpu/lenet-train-b200`: what its two cells share, and what a series over many nights is known by."""
    baseline: str
    """Id of the cell."""
    candidate: str


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Work that only one side can do."""

    id: str
    cell_id: str
    reason: str
    """The reason the other side cannot do it."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """A plan of two sides, with the cells of all pairs and no others."""

    baseline: Side
    candidate: Side
    plan: Plan
    pairs: tuple[Pair, ...]
    gone: tuple[Unpaired, ...] = ()
    """The work that only the baseline can do."""
    new: tuple[Unpaired, ...] = ()


_FRAMEWORK = "framework "
"""The axis of several frameworks that hold one package. No package has a name with a blank."""
_Key = tuple[str, str, Workload, Options, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class PairPlanner:
    """The planner of regression tests over one matrix, which plans each side once."""

    matrix: Matrix
    catalog: Catalog
    models: Mapping[str, ModelInfo]
    limit: int
    """Most combinations of one side."""
    _plans: dict[tuple[str, FrameworkAxes | None], Plan] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def pair(self, baseline: Side, candidate: Side, selection: Selection = EVERYTHING) -> Pairing:
        """Put two sides in place of the matrix's frameworks, and pair their cells by system, workload and options.

        Both sides run on the same Python wherever the catalog has one for both. Otherwise a change of Python would
        look like a change of the release. Two releases of a package leave the frameworks: each cell whose environment
        holds the package is paired with itself. Raises `InputError` where a side cannot be planned, or nothing is left
        to pair.
        """
        sides = (baseline, candidate)
        if baseline.is_package or candidate.is_package:
            return _selected(self._paired_packages(sides), selection)
        if self.catalog.family(baseline.name) != self.catalog.family(candidate.name):
            raise InputError(
                f"{baseline.pin} and {candidate.pin} are different frameworks, not releases of one; "
                "`orchestrator run` compares frameworks"
            )
        axes = side_axes(self.matrix, self.catalog, sides)
        plans = [self._plan(side, each) for side, each in zip(sides, axes, strict=True)]
        return _selected(_paired(sides, plans), selection)

    def _paired_packages(self, sides: tuple[Side, Side]) -> Pairing:
        """Pair each cell that holds a package with itself. Raises `InputError` if the sides are not of one package."""
        one, other = sides
        if (one.is_package, one.name) != (other.is_package, other.name):
            raise InputError(
                f"{one.pin} and {other.pin} are not releases of one package: name the same one on both sides"
            )
        return _paired(sides, [self._plan(side) for side in sides])

    def _plan(self, side: Side, axes: FrameworkAxes | None = None) -> Plan:
        """Return the plan of one side, with the entry of its framework unless it is a package."""
        key = (side.pin, axes) if axes else (f"{side.text} on Python {side.python}", None)
        if key not in self._plans:
            self._plans[key] = self._planned(side, axes)
        return self._plans[key]

    def _planned(self, side: Side, axes: FrameworkAxes | None) -> Plan:
        if axes is None:
            matrix = replace(with_package(self.matrix, self.catalog, side), study=None)
        else:
            include = tuple(_for_side(entry, side) for entry in self.matrix.include)
            matrix = replace(self.matrix, scripts=(), frameworks=(axes,), include=include, study=None)
        try:
            planned = plan(matrix, self.catalog, self.models, limit=self.limit)
        except InputError as error:
            raise InputError(*(f"{side.pin}: {message}" for message in error.messages)) from None
        cells = tuple(cell for cell in planned.cells if _is_of(cell, side))
        images = {cell.image for cell in cells}
        return replace(planned, cells=cells, images=tuple(image for image in planned.images if image.name in images))


def _is_of(cell: Cell, side: Side) -> bool:
    """Return true if a cell measures a side."""
    if side.is_package:
        return holds(cell, side)
    return (cell.framework.name, cell.framework.version) == (side.name, side.version)


def _for_side(include: Include, side: Side) -> Include:
    """Return an entry that adds to both sides what it adds to a release of this framework."""
    frameworks = tuple(
        side.pin if (pin := parse_pin(text)).name == side.name and pin.version else text
        for text in include.rule.frameworks
    )
    return replace(include, rule=replace(include.rule, frameworks=frameworks))


def _paired(sides: tuple[Side, Side], plans: Sequence[Plan]) -> Pairing:
    baseline, candidate = plans
    key = _keys(plans, sides)
    first, second = ({key(cell): cell for cell in plan.cells} for plan in plans)
    both = [_apart(first[each], second[each]) for each in first if each in second]
    varied = _varied([cell for pair in both for cell in pair])
    pairs = tuple(Pair(_pair_id(one, varied), one.id, other.id) for one, other in both)
    gone = tuple(_unpaired(first[each], candidate, varied) for each in first if each not in second)
    new = tuple(_unpaired(second[each], baseline, varied) for each in second if each not in first)
    warnings = [warning for warning in baseline.warnings if warning in candidate.warnings]
    merged = replace(
        baseline,
        images=merged_images(plans),
        cells=tuple(cell for pair in both for cell in pair),
        skips=tuple({skip.cell_id: skip for plan in plans for skip in plan.skips}.values()),
        models=tuple({model.name: model for plan in plans for model in plan.models}.values()),
        networks=tuple({each.name: each for plan in plans for each in plan.networks}.values()),
        definitions=tuple({(each.model, each.sha256): each for plan in plans for each in plan.definitions}.values()),
        warnings=(*warnings, *_python_warning(both)),
    )
    return Pairing(*sides, merged, pairs, gone, new)


def _keys(plans: Sequence[Plan], sides: tuple[Side, Side]) -> Callable[[Cell], _Key]:
    """Return the key that both cells of a pair share, with Python and packages if both sides have them as axes."""
    pythons = [{cell.framework.python for cell in plan.cells} for plan in plans]
    pinned = {name for side in sides for name in side.pins}
    of_package = sides[0].is_package

    def key(cell: Cell) -> _Key:
        python = cell.framework.python if pythons[0] == pythons[1] else ""
        packages = tuple(each for each in cell.framework.packages if each[0] not in pinned)
        framework = cell.framework.label if of_package else ""
        return framework, cell.system.name, cell.workload, cell.options, python, packages

    return key


def _apart(one: Cell, other: Cell) -> tuple[Cell, Cell]:
    """Return both cells of a pair with different ids, since a release may be compared with itself."""
    if one.id != other.id:
        return one, other
    head, slash, tail = one.id.partition("/")
    return (
        replace(one, id=f"{head}-side=baseline{slash}{tail}"),
        replace(other, id=f"{head}-side=candidate{slash}{tail}"),
    )


def _varied(cells: Sequence[Cell]) -> frozenset[str]:
    """Return the axes of the environment that the id of a pair has to name."""
    baseline = cells[::2]
    axes = {"python"} if len({cell.framework.python for cell in baseline}) > 1 else set()
    if len({cell.framework.label for cell in baseline}) > 1:
        axes.add(_FRAMEWORK)
    for name in {name for cell in baseline for name, _ in cell.framework.packages}:
        if len({dict(cell.framework.packages).get(name) for cell in baseline}) > 1:
            axes.add(name)
    return frozenset(axes)


def _pair_id(cell: Cell, varied: frozenset[str]) -> str:
    axes = [("python", cell.framework.python), *cell.framework.packages]
    suffix = "".join(f"-{name}={value}" for name, value in axes if name in varied)
    framework = cell.framework.label.replace(" ", "-") + "-" if _FRAMEWORK in varied else ""
    return f"{framework}{cell.system.name}{suffix}/{cell.id.partition('/')[2]}"


def _unpaired(cell: Cell, other: Plan, varied: frozenset[str]) -> Unpaired:
    tail = cell.id.partition("/")[2]
    reasons = (
        skip.reason
        for skip in other.skips
        if skip.cell_id.partition("/")[2] == tail and skip.cell_id.partition("/")[0].endswith(f"-{cell.system.name}")
    )
    return Unpaired(_pair_id(cell, varied), cell.id, next(reasons, "it is not in the plan of the other side"))


def merged_images(plans: Sequence[Plan]) -> tuple[ImageSpec, ...]:
    """Return the images of several sides. Raises `InputError` if two would share a name."""
    by_name: dict[str, ImageSpec] = {}
    for image in (image for each in plans for image in each.images):
        other = by_name.setdefault(image.name, image)
        if other != image:
            raise InputError(
                f"baseline and candidate would share the image {image.name}; give one of them a `version` of its own"
            )
    return tuple(by_name.values())


def _python_warning(pairs: Sequence[tuple[Cell, Cell]]) -> Iterator[str]:
    other = dict.fromkeys(
        (one.framework.python, two.framework.python)
        for one, two in pairs
        if one.framework.python and two.framework.python and one.framework.python != two.framework.python
    )
    for one, two in other:
        yield f"no Python runs both sides: Python {one} against {two}; what differs may come of that"


def _selected(pairing: Pairing, selection: Selection) -> Pairing:
    """Return only selected pairs. A glob that matches one cell of a pair selects both."""

    def any_matches(globs: Sequence[str], *ids: str) -> bool:
        return any(matches(glob, cell_id) for glob in globs for cell_id in ids)

    def wanted(*ids: str) -> bool:
        selected = not selection.select or any_matches(selection.select, *ids)
        return selected and not any_matches(selection.exclude, *ids)

    every = [(pair.id, pair.baseline, pair.candidate) for pair in pairing.pairs]
    mistakes = [
        f"--select {glob!r} matches no pair of cells; there is, for example, {every[0][0] if every else 'none'}"
        for glob in selection.select
        if not any(any_matches([glob], *ids) for ids in every)
    ]
    pairs = tuple(pair for pair in pairing.pairs if wanted(pair.id, pair.baseline, pair.candidate))
    if not pairs and not mistakes:
        mistakes = [_nothing(pairing)]
    if mistakes:
        raise InputError(*mistakes)
    ids = {cell_id for pair in pairs for cell_id in (pair.baseline, pair.candidate)}
    cells = tuple(cell for cell in pairing.plan.cells if cell.id in ids)
    images = {cell.image for cell in cells}
    models = {cell.workload.model for cell in cells}
    defined = {(cell.workload.model, cell.definition) for cell in cells}
    narrowed = replace(
        pairing.plan,
        cells=cells,
        images=tuple(image for image in pairing.plan.images if image.name in images),
        models=tuple(model for model in pairing.plan.models if model.name in models),
        networks=tuple(each for each in pairing.plan.networks if each.name in models),
        definitions=tuple(each for each in pairing.plan.definitions if (each.model, each.sha256) in defined),
        skips=tuple(skip for skip in pairing.plan.skips if wanted(skip.cell_id)),
    )
    gone, new = (
        tuple(each for each in unpaired if wanted(each.id, each.cell_id)) for unpaired in (pairing.gone, pairing.new)
    )
    return replace(pairing, plan=_with_unpaired(narrowed, gone, new), pairs=pairs, gone=gone, new=new)


def _with_unpaired(plan: Plan, gone: Sequence[Unpaired], new: Sequence[Unpaired]) -> Plan:
    """Return the plan with every unpaired cell among its skips."""
    left = [
        Skip(each.cell_id, f"only the {who} can do this: {each.reason}")
        for who, those in (("baseline", gone), ("candidate", new))
        for each in those
    ]
    return replace(plan, skips=(*plan.skips, *left))


def _nothing(pairing: Pairing) -> str:
    if not pairing.pairs and (pairing.gone or pairing.new):
        lacking = (*pairing.gone, *pairing.new)[0]
        return f"no cell of {pairing.baseline.pin} has a counterpart of {pairing.candidate.pin}: {lacking.reason}"
    if not pairing.pairs:
        reason = next((skip.reason for skip in pairing.plan.skips), "the matrix has no work for it")
        return f"no cell of {pairing.baseline.pin} can be measured: {reason}"
    return "--exclude leaves nothing to compare of what is selected; drop one of its globs"
