"""The way from a matrix to a plan, which decides what would run and the reason for every skip."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from orchestrator.catalog import DATASETS, Catalog, DatasetInfo, ModelInfo, UnsupportedError
from orchestrator.domain import Cell, Framework, ImageSpec, Plan, Skip, Status, System
from orchestrator.errors import InputError
from orchestrator.limits import DEFAULT_CELLS
from orchestrator.matrix import Matrix, Rule, Settings
from orchestrator.modes.parts.settings import Profile
from orchestrator.planning import axes, collector, ids, networks, profiles, rules
from orchestrator.planning.additions import grids
from orchestrator.planning.axes import Combination, Grid, PlannedWork
from orchestrator.planning.bounds import plan as bounds
from orchestrator.planning.claims import Claimable, study_of
from orchestrator.planning.measures import Measure, over
from orchestrator.planning.selection import Selection, select

EVERYTHING = Selection()


def plan(  # noqa: PLR0913 -- all that makes a plan, the last one by name
    matrix: Matrix,
    catalog: Catalog,
    models: Mapping[str, ModelInfo],
    selection: Selection = EVERYTHING,
    limit: int = DEFAULT_CELLS,
    *,
    profile: Profile | None = None,
) -> Plan:
    """Decide every cell, image and skip of a matrix, with the settings of a profile over its own.

    Raises `InputError` if the matrix expands to nothing or to more than `limit` combinations, if two cells would share
    an id, if the plan exceeds the bounds of any plan, and if a glob of the selection matches nothing.
    """
    models = {**models, **{info.name: info for info in matrix.own_models}}
    spans = grids(matrix, catalog, models)
    total = sum(axes.count(grid, catalog) for grid in spans)
    if total > limit:
        raise InputError(
            f"{matrix.path}: expands to {total} cells, more than the limit of {limit}; "
            f"shorten an axis, or raise it with --limit {total}"
        )
    draft = _Draft(matrix, catalog, models, profile)
    with collector.paused():
        for number, grid in enumerate(spans):
            draft.expand(grid, added=number > 0)
    if not draft.cells:
        raise InputError(_nothing(matrix, tuple(draft.skips.values())))
    cells, skips, warnings = select(tuple(draft.cells.values()), tuple(draft.skips.values()), selection)
    used = dict.fromkeys(cell.image for cell in cells)
    defined = dict.fromkeys((cell.workload.model, cell.definition) for cell in cells if cell.definition)
    result = Plan(
        name=matrix.name,
        seed=matrix.seed,
        images=tuple(_equipped([draft.images[name] for name in used], cells, catalog)),
        cells=tuple(cells),
        skips=tuple(skips),
        warnings=(*draft.warnings(), *warnings),
        models=tuple(
            replace(own, definitions=())
            for name in dict.fromkeys(cell.workload.model for cell in cells)
            if name in models and (own := models[name].own)
        ),
        parity=matrix.parity,
        definitions=tuple(
            next(each for each in models[model].definitions if each.sha256 == digest) for model, digest in defined
        ),
        study=study_of(matrix.study, draft.claimable),
        profile=profile,
        networks=tuple(
            network
            for name in dict.fromkeys(cell.workload.model for cell in cells)
            if name in models and (network := models[name].network)
        ),
    )
    bounds.check(result, f"{matrix.path}: ")
    return result


def _equipped(images: Sequence[ImageSpec], cells: Sequence[Cell], catalog: Catalog) -> Iterator[ImageSpec]:
    """Yield the images with the packages that the options of their cells need in addition.

    Other images do not have to fetch or hold these packages.
    """
    needed: dict[str, dict[str, None]] = {image.name: {} for image in images}
    for cell in cells:
        needed[cell.image] |= dict.fromkeys(catalog.option_packages(cell.framework, cell.options))
    for image in images:
        packages = tuple(dict.fromkeys((*image.environment.system_packages, *needed[image.name])))
        yield replace(image, environment=replace(image.environment, system_packages=packages))


def _nothing(matrix: Matrix, skips: Sequence[Skip]) -> str:
    reasons = dict.fromkeys(skip.reason for skip in skips)
    return f"{matrix.path}: expands to nothing: all {len(skips)} cells are left out: {'; '.join(reasons)}"


@dataclass(frozen=True, slots=True)
class _Site:
    """A framework on a system, with everything that its cells share."""

    framework: Framework
    system: System
    part: str
    expect: Status
    excluded: int
    included: int
    image: str = ""
    reason: str = ""
    """The reason that there is no environment; empty if there is one."""


@dataclass(slots=True)
class _Draft:
    """The plan while it grows."""

    matrix: Matrix
    catalog: Catalog
    models: Mapping[str, ModelInfo]
    profile: Profile | None = None
    cells: dict[str, Cell] = field(default_factory=dict)
    skips: dict[str, Skip] = field(default_factory=dict)
    images: dict[str, ImageSpec] = field(default_factory=dict)
    claimable: dict[str, list[Claimable]] = field(default_factory=dict)
    used_excludes: int = 0
    used_includes: int = 0
    measures: dict[tuple[Settings, Status, int], Measure] = field(default_factory=dict)

    @property
    def datasets(self) -> Mapping[str, DatasetInfo]:
        """Return every dataset that a model may name."""
        return {**DATASETS, **{info.name: info for info in self.matrix.own_datasets}}

    def expand(self, grid: Grid, *, added: bool) -> None:
        """Add every cell of a grid.

        Cells that `include` adds are never excluded, and give way to cells that exist already.
        """
        includes = [include.rule for include in self.matrix.include]
        excludes = () if added else self.matrix.exclude
        # A rule is about the batch that the matrix asks for.
        works = [
            (self._shrunk(work), rules.work_bits(excludes, work.workload), rules.work_bits(includes, work.workload))
            for work in self._works(grid)
        ]
        # A script takes the options that it was written with.
        no_options = Combination((), "")
        without_options = [(no_options, rules.option_bits(excludes, ()), rules.option_bits(includes, ()))]
        for entry in grid.frameworks:
            combinations = [
                (chosen, rules.option_bits(excludes, chosen.options), rules.option_bits(includes, chosen.options))
                for chosen in axes.combinations(entry, grid, self.catalog)
            ]
            sites = [
                (packages, site)
                for packages in dict.fromkeys(work.packages for work, _, _ in works)
                for site in self._sites(axes.placed(entry, grid.systems, packages), entry.expect, excludes, includes)
            ]
            for (packages, site), (work, work_out, work_in) in product(sites, works):
                if work.packages == packages and work.is_for(site.framework, site.system):
                    out, into = site.excluded & work_out, site.included & work_in
                    for chosen, options_out, options_in in combinations if work.script is None else without_options:
                        self._add(site, work, chosen, (out & options_out, into & options_in), added=added)

    def _works(self, grid: Grid) -> Iterable[PlannedWork]:
        works = axes.works(grid, self.models, self.datasets)
        return profiles.of_sizes(works, self.profile) if self.profile else works

    def _shrunk(self, work: PlannedWork) -> PlannedWork:
        return profiles.smaller(work, self.models.get(work.workload.model)) if self.profile else work

    def warnings(self) -> Iterator[str]:
        """Yield a warning for every entry of `exclude` and `include` that no cell matches."""
        matrix = self.matrix
        for key, used, places in (
            ("exclude", self.used_excludes, [rule.place for rule in matrix.exclude]),
            ("include", self.used_includes, [include.rule.place for include in matrix.include]),
        ):
            yield from (
                f"{place}: {key}: this entry matches nothing"
                for index, place in enumerate(places)
                if not used >> index & 1
            )

    def _sites(
        self, placed: axes.Placed, expect: Status | None, excludes: Sequence[Rule], includes: Sequence[Rule]
    ) -> Iterator[_Site]:
        for listed, system in placed:
            default = axes.default_python(listed, self.catalog)
            framework = replace(listed, python=listed.python or default)
            special = ids.environment(framework, default)
            site = _Site(
                framework=framework,
                system=system,
                part=ids.first_part(framework, special, system),
                expect=expect or Status.OK,
                excluded=rules.site_bits(excludes, framework, system),
                included=rules.site_bits(includes, framework, system),
            )
            try:
                yield replace(site, image=self._image(framework, special, system))
            except UnsupportedError as error:
                yield replace(site, reason=error.reason)

    def _image(self, framework: Framework, special: str, system: System) -> str:
        """Return the name of the image that a framework needs on a system, and add the image to the plan's."""
        if framework.packages and (own := framework.image or framework.dockerfile):
            asked = ", ".join(f"{name} {version}" for name, version in framework.packages)
            raise UnsupportedError(f"nothing is installed in your own image; drop `packages` and have {asked} in {own}")
        repository, alias = ids.image(framework, special, system)
        environment = self.catalog.environment(framework, system.gpus)
        spec = ImageSpec(repository, alias, system.image_class, framework, environment)
        other = self.images.setdefault(spec.name, spec)
        if other != spec:
            raise InputError(
                f"{self.matrix.path}: {_described(other.framework)} and {_described(framework)} would share the image "
                f"{spec.name}; give one of them a `version` of its own"
            )
        return spec.name

    def _add(self, site: _Site, work: PlannedWork, chosen: Combination, hits: tuple[int, int], *, added: bool) -> None:
        out, into = hits
        self.used_excludes |= out
        self.used_includes |= into
        definition = self._definition(site, work)
        suffix = chosen.suffix + (ids.DEFINED if definition else "")
        cell_id = f"{site.part}/{ids.second_part(work.label, suffix)}"
        if self.matrix.study:
            claimable = Claimable(site.framework, site.system, work.asked or work.workload, chosen.options)
            self.claimable.setdefault(cell_id, []).append(claimable)
        if added or self.profile:  # under a profile, two batch sizes may come to one
            if cell_id in self.cells:
                return
            self.skips.pop(cell_id, None)
        elif cell_id in self.cells or cell_id in self.skips:
            raise InputError(self._clash(cell_id, site, work, chosen))
        if out:
            rule = self.matrix.exclude[next(rules.positions(out))]
            said = f"{rule.reason} (excluded by {rule.place})" if rule.reason else f"excluded by {rule.place}"
            self.skips[cell_id] = Skip(cell_id, said)
        elif reason := site.reason or chosen.reason or work.reason or self._unfit(site, work):
            self.skips[cell_id] = Skip(cell_id, reason)
        else:
            measure = self._measure(work.settings, site.expect, into)
            if self.profile:
                measure = profiles.shorter(measure, self.profile, work, self.models.get(work.workload.model))
            self.cells[cell_id] = Cell(
                id=cell_id,
                framework=site.framework,
                system=site.system,
                workload=work.workload,
                image=site.image,
                options=chosen.options,
                duration=profiles.timed(work, measure.duration, self.profile),
                timeout_s=measure.timeout_s,
                repeats=measure.repeats,
                expect=measure.expect,
                output=measure.output,
                parity_batch=measure.parity_batch,
                script=work.script,
                definition=definition,
                frontier=work.frontier,
            )

    def _unfit(self, site: _Site, work: PlannedWork) -> str:
        """Return the reason that a work cannot be done on a site, or an empty text."""
        info = self.models.get(work.workload.model) if work.is_of_model else None
        if info and info.network:
            unfit = networks.unfit(site.framework, work.workload, self.catalog)
            return unfit or axes.unloaded(work.workload)
        return self._unshared(site, work)

    def _unshared(self, site: _Site, work: PlannedWork) -> str:
        asked, system = work.workload, site.system
        if why_not := axes.unloaded(asked):
            return why_not
        return "" if work.script else axes.unsearched(asked, system) or axes.unshared(asked, system, self.datasets)

    def _definition(self, site: _Site, work: PlannedWork) -> str:
        """Return the SHA-256 of the framework's own definition of the model, or "" if its builder makes the model."""
        info = self.models.get(work.workload.model) if site.image and work.is_of_model else None
        builder = self.images[site.image].environment.builder if info and info.definitions else ""
        return next((each.sha256 for each in info.definitions if each.builder == builder), "") if info else ""

    def _measure(self, settings: Settings, expect: Status, included: int) -> Measure:
        """Return the settings of a cell.

        The matrix, the model and every matching include set them, each over the ones before.
        """
        key = (settings, expect, included)
        if key not in self.measures:
            matrix = self.matrix
            measure = Measure(matrix.duration, matrix.timeout_s, matrix.repeats, expect, matrix.output)
            for layer in (settings, *(matrix.include[index].settings for index in rules.positions(included))):
                measure = over(measure, layer)
            self.measures[key] = measure
        return self.measures[key]

    def _clash(self, cell_id: str, site: _Site, work: PlannedWork, chosen: Combination) -> str:
        other = self.cells.get(cell_id)
        here = f"{_described(site.framework)} with {_listed(chosen)}"
        there = f"{_described(other.framework)} with {_listed(other)}" if other else self.skips[cell_id].reason
        remedy = "it is in the matrix twice" if here == there else f"{there} is not {here}; rename one of them"
        return f"{self.matrix.path}: two cells ({work.label}) would share the id {cell_id}: {remedy}"


def _described(framework: Framework) -> str:
    extras = [f"{name} {version}" for name, version in framework.packages]
    extras += [text for text in (framework.python and f"Python {framework.python}", framework.image) if text]
    extras += [framework.dockerfile] if framework.dockerfile else []
    return f"{framework.label} ({', '.join(extras)})" if extras else framework.label


def _listed(holder: Combination | Cell) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in holder.options) or "no options"
