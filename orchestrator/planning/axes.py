"""The axes of a matrix, their product one factor at a time, and its size."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from orchestrator import limits, modes
from orchestrator.catalog import SYNTHETIC, Catalog, DatasetInfo, ModelInfo, UnsupportedError, unsuitable
from orchestrator.domain import VARIABLE, Framework, Mode, Options, OptionValue, System, Workload
from orchestrator.matrix import FrameworkAxes, Matrix, ModelAxes, ScriptAxes, Settings, SubjectAxes
from orchestrator.matrix.model import EVERY_FRAMEWORK, GenerationAxes, OptionAxes, covers
from orchestrator.matrix.sizes import every
from orchestrator.modes.parts.frontier import FRONTIER, SIZES, Frontier, sizes_up_to
from orchestrator.modes.parts.largest_batch import MAX, BatchSize
from orchestrator.modes.parts.lengths import Generation
from orchestrator.modes.parts.load import Load
from orchestrator.modes.parts.settings import Feed, Scaling
from orchestrator.modes.parts.sizes import size_text
from orchestrator.modes.parts.subjects import AxisValues
from orchestrator.planning import ids
from orchestrator.user_files import Script
from orchestrator.wording import counted


@dataclass(frozen=True, slots=True)
class Grid:
    """A product of axes, spanned by the matrix itself or by an entry of `include`."""

    frameworks: tuple[FrameworkAxes, ...]
    systems: tuple[System, ...]
    models: tuple[ModelAxes, ...]
    modes: tuple[Mode, ...]
    options: Mapping[str, OptionAxes]
    scripts: tuple[ScriptAxes, ...] = ()
    subjects: tuple[SubjectAxes, ...] = ()


ANY_GPUS = (0, limits.MAX_GPUS)
ONE_DEVICE = (0, 1)
SEVERAL_GPUS = (2, limits.MAX_GPUS)

Placed = Iterator[tuple[Framework, System]]
"""Frameworks, each on a system."""


@dataclass(frozen=True, slots=True)
class PlannedWork:
    """A workload with the settings of its model."""

    workload: Workload
    label: str
    settings: Settings
    reason: str = ""
    """The reason that there is no such work; empty if there is."""
    script: Script | None = None
    calls: tuple[int, int] | None = None
    """Blocks that the axes of its mode ask for, and the calls of each; None where settings say how much is timed."""
    frameworks: tuple[str, ...] = ()
    """Pins of the frameworks that do it; empty for all."""
    packages: tuple[tuple[str, str], ...] = ()
    """Further packages, each with its version, that its environment holds over the framework's own."""
    asked: Workload | None = None
    """The workload that the matrix asks for, where a profile has made it smaller."""
    frontier: Frontier | None = None
    """The frontier that it is a part of."""
    gpus: tuple[int, int] = ANY_GPUS
    """The fewest and the most GPUs of the systems that it is planned for."""

    @property
    def is_of_model(self) -> bool:
        """Return true if the work is that of a model, and not of a script or a subject of a mode."""
        return self.script is None and self.calls is None

    def is_for(self, framework: Framework, system: System) -> bool:
        """Return true if a framework is to do this work on a system."""
        return self.gpus[0] <= system.gpus <= self.gpus[1] and covers(self.frameworks, framework)


@dataclass(frozen=True, slots=True)
class Combination:
    """One set of options of a framework."""

    options: Options
    suffix: str
    reason: str = ""
    """The reason that the framework cannot take the options; empty if it can."""


def main_grid(matrix: Matrix) -> Grid:
    """Return the product that a matrix itself spans."""
    axes = (matrix.frameworks, matrix.systems, matrix.models, matrix.modes)
    return Grid(*axes, dict(matrix.options), matrix.scripts, matrix.subjects)


def count(grid: Grid, catalog: Catalog) -> int:
    """Return the number of combinations that a grid spans, before anything is left out."""
    works = sum(
        _sizes_of(model) * len(model.datasets) * len(model.fed) * len(model.scalings) * _shapes(model)
        * len(_loads(model, mode))
        * len(_generations(model, mode))
        for model in grid.models
        for mode in grid.modes
    )  # fmt: skip
    works += sum(1 for axes in grid.subjects for _ in subject_workloads(axes))
    return sum(
        len(axes.versions)
        * max(1, len(axes.backends))
        * max(1, len(axes.pythons))
        * prod(len(versions) for _, versions in axes.packages)
        * len(grid.systems)
        * (works * prod(map(len, option_axes(grid.options, axes, catalog).values())) + len(grid.scripts))
        for axes in grid.frameworks
    )


def _sizes_of(model: ModelAxes) -> int:
    """Return the most batch sizes that an entry stands for."""
    return sum(len(SIZES) if size == FRONTIER else 1 for size in model.batch_sizes)


def frameworks(axes: FrameworkAxes, further: Sequence[tuple[str, str]] = ()) -> Iterator[Framework]:
    """Yield every framework of an entry, with an empty Python if the catalog chooses it.

    It has `further` packages over those of the entry.
    """
    names = [name for name, _ in axes.packages]
    backends: Sequence[Framework | None] = [Framework(*backend) for backend in axes.backends] or [None]
    for version, backend, python in product(axes.versions, backends, axes.pythons or ("",)):
        for versions in product(*(versions for _, versions in axes.packages)):
            yield Framework(
                name=axes.name,
                version=version,
                backend=backend,
                python=python,
                packages=tuple(sorted({**dict(zip(names, versions, strict=True)), **dict(further)}.items())),
                image=axes.image,
                dockerfile=axes.dockerfile,
            )


def placed(entry: FrameworkAxes, systems: Sequence[System], further: Sequence[tuple[str, str]] = ()) -> Placed:
    """Yield every framework of an entry, with `further` packages, on every system."""
    yield from product(frameworks(entry, further), systems)


def default_python(framework: Framework, catalog: Catalog) -> str:
    """Return the Python that a framework gets by default, or "" if it is unknown, as in the user's own image."""
    if framework.image or framework.dockerfile:
        return ""
    try:
        return catalog.default_python(framework)
    except UnsupportedError:
        return ""


def works(grid: Grid, known: Mapping[str, ModelInfo], datasets: Mapping[str, DatasetInfo]) -> Iterator[PlannedWork]:
    """Yield every workload of a grid, its models first and then its scripts."""
    for model in grid.models:
        yield from _of_model(model, grid.modes, known[model.name], datasets)
    for entry in grid.subjects:
        for workload in subject_workloads(entry):
            yield PlannedWork(workload, workload.label, entry.settings, calls=_calls(workload))
    for axes in grid.scripts:
        workload = Workload(axes.script.name, Mode("script"), 1, axes.dataset or SYNTHETIC.name)
        yield PlannedWork(
            workload,
            workload.label,
            axes.settings,
            script=axes.script,
            frameworks=axes.frameworks,
            packages=axes.packages,
        )


def _of_model(
    model: ModelAxes, of_modes: Sequence[Mode], info: ModelInfo, datasets: Mapping[str, DatasetInfo]
) -> Iterator[PlannedWork]:
    """Yield every workload of an entry of `models`."""
    for asked, dataset, (feed, workers), mode in product(model.batch_sizes, model.datasets, model.fed, of_modes):
        requested = product(_loads(model, mode), _generations(model, mode))
        for batch, (load, generation) in product(_batches(asked, info, datasets[dataset]), tuple(requested)):
            reason = unsuitable(datasets[dataset], info, batch)
            frontier = _frontier(model, load) if asked == FRONTIER else None
            if frontier and modes.RULES[mode].has_loss:
                reason = reason or f"the frontier is that of inference; the mode {mode} has none"
            for (scaling, gpus), (shown, of_size) in product(_scalings(model, mode), _sizes(model, info)):
                workload = Workload(
                    model.name, mode, batch, dataset, of_size,
                    feed=feed, workers=workers, scaling=scaling, searches=asked == MAX, size=shown, load=load,
                    generation=generation,
                )  # fmt: skip
                why_not = reason or ungenerated(workload, info)
                yield PlannedWork(workload, workload.label, model.settings, why_not, frontier=frontier, gpus=gpus)


def _batches(asked: BatchSize, info: ModelInfo, dataset: DatasetInfo) -> tuple[int, ...]:
    """Return the batch sizes that a matrix asks for by one value."""
    return sizes_up_to(dataset.training or info.samples) if asked == FRONTIER else (_begun_with(asked, info, dataset),)


def _frontier(model: ModelAxes, load: Load | None) -> Frontier:
    """Return the frontier of an entry, with all limits that it names, or under load that of the load."""
    limits_s = model.load.latency_limits_s if load is None else (load.latency_limit_s,)
    return Frontier(tuple(limit_s for limit_s in limits_s if limit_s is not None))


def _shapes(model: ModelAxes) -> int:
    return max(1, len(model.sizes)) * prod(len(values) for _, values in model.axes)


def _sizes(model: ModelAxes, info: ModelInfo) -> tuple[tuple[str, AxisValues], ...]:
    """Return what the id says of every size of a model, with its axes, or one empty pair of a model without sizes."""
    found = every(info.sizes, model.sizes or tuple(info.sizes)[:1], dict(model.axes))
    return tuple((size_text(*text), tuple(axes.items())) for axes, text in found) or (("", ()),)


def _loads(model: ModelAxes, mode: Mode) -> tuple[Load | None, ...]:
    """Return every load of a model in a mode, or none where the mode takes none."""
    return model.load.loads if modes.RULES[mode].takes_load else (None,)


def _generations(model: ModelAxes, mode: Mode) -> tuple[Generation | None, ...]:
    """Return every pair of lengths of a model in a mode, or none where it does not generate.

    Under load, lengths that are written ask for tokens.
    """
    if modes.RULES[mode].generates or (mode in modes.BY_TOKENS and model.generation != GenerationAxes()):
        return model.generation.generations
    return (None,)


def ungenerated(work: Workload, info: ModelInfo) -> str:
    """Return the reason that a model cannot generate as it is asked, or "" if it can, or is not asked to."""
    if work.generation is None:
        return ""
    if reason := info.why_no_generation(dict(work.axes), work.generation):
        return f"{info.name} cannot generate: {reason}"
    if work.searches:
        return f"the largest batch is that of a step: ask for it in another mode than {work.mode}"
    if work.feed is not Feed.PLACED:
        return f"the mode {work.mode} takes placed prompts alone, and not the feed {work.feed}"
    return ""


def unloaded(work: Workload) -> str:
    """Return the reason that a work cannot be done under its load, or "" if it can be, or has none."""
    load = work.load
    if load is None:
        return ""
    if work.searches:
        return f"the largest batch is that of a step: ask for it in another mode than {work.mode}"
    if work.feed is not Feed.PLACED:
        return f"the mode {work.mode} takes placed batches alone, and not the feed {work.feed}"
    if load.clients is not None and load.clients < work.batch_size:
        under_way = counted(load.clients, "request")
        more = f"give a batch_size of at most {load.clients}"
        return f"{under_way} under way cannot fill a batch of {work.batch_size}, which is computed in full; {more}"
    return ""


def _begun_with(size: BatchSize, model: ModelInfo, dataset: DatasetInfo) -> int:
    """Return a batch size, or that with which the search for the largest one begins."""
    if isinstance(size, int):
        return size
    return min(model.batch_size, dataset.training) if dataset.training else model.batch_size


def _scalings(model: ModelAxes, mode: Mode) -> Iterator[tuple[Scaling, tuple[int, int]]]:
    """Yield every scaling of a model in a mode, with the fewest and the most GPUs that have it.

    What one device does is the same by any scaling, and only training is shared.
    """
    if Scaling.STRONG not in model.scalings or not modes.RULES[mode].has_loss:
        yield Scaling.WEAK, ANY_GPUS
        return
    yield Scaling.WEAK, ANY_GPUS if Scaling.WEAK in model.scalings else ONE_DEVICE
    yield Scaling.STRONG, SEVERAL_GPUS


def unshared(work: Workload, system: System, datasets: Mapping[str, DatasetInfo]) -> str:
    """Return the reason that the GPUs of a system cannot share a work, or "" if they can."""
    if system.gpus < 2 or not work.rules.has_loss:
        return ""
    if work.scaling is Scaling.STRONG and work.batch_size % system.gpus:
        return f"a batch of {work.batch_size} is not divided evenly by {system.gpus} GPUs"
    batch, dataset = work.global_batch(system), datasets[work.dataset]
    if dataset.training and batch > dataset.training:
        held = f"the {dataset.training} training samples of {dataset.name}"
        return f"a batch of {batch} on {system.gpus} GPUs is more than {held}"
    return ""


def unsearched(work: Workload, system: System) -> str:
    """Return the reason that the largest batch is not looked for on a system, or "" if it can be, or is not asked for.

    All GPUs together take the same samples by either scaling.
    """
    if not work.searches:
        return ""
    if not system.gpus:
        return f"the largest batch is that of a GPU's memory, and {system.name} has no GPU"
    return "the largest batch is looked for with scaling: weak" if work.scaling is Scaling.STRONG else ""


def subject_workloads(entry: SubjectAxes) -> Iterator[Workload]:
    """Yield every subject of an entry with every set of values of its axes."""
    given, subjects = dict(entry.axes), modes.OF_SUBJECTS[entry.mode]
    names = [axis.name for axis in subjects.axes]
    for subject in entry.names:
        values = (given.get(axis.name) or axis.values(subject) for axis in subjects.axes)
        for chosen in product(*values):
            yield Workload(subject, entry.mode, 1, axes=tuple(zip(names, chosen, strict=True)))


def _calls(workload: Workload) -> tuple[int, int]:
    return modes.OF_SUBJECTS[workload.mode].blocks(dict(workload.axes))


def option_axes(
    options: Mapping[str, OptionAxes], axes: FrameworkAxes, catalog: Catalog
) -> dict[str, tuple[OptionValue, ...]]:
    """Return the values of every option of an entry.

    They come from the first that sets them: the entry, the framework, its family, `*`, the default. Options that `*`
    sets and the framework lacks are among them. An option that counts where it is asked for has no default.
    """
    values: dict[str, tuple[OptionValue, ...]] = {
        name: (option.default,) for name, option in catalog.options(axes.name).items() if not option.where_asked
    }
    family = catalog.family(axes.name) or axes.name
    for owner in dict.fromkeys((EVERY_FRAMEWORK, family, axes.name)):
        values |= dict(options.get(owner, ()))
    return values | dict(axes.options)


def combinations(axes: FrameworkAxes, grid: Grid, catalog: Catalog) -> Iterator[Combination]:
    """Yield every set of options of an entry, each sorted by name."""
    known = catalog.options(axes.name)
    values = option_axes(grid.options, axes, catalog)
    offered = {name: option.values for name, option in known.items()}
    defaults = {name: option.default for name, option in known.items()}
    for chosen in product(*values.values()):
        options = tuple(sorted(zip(values, chosen, strict=True)))
        lacking = [f"{name}={ids.option_text(value)}" for name, value in options if not _offers(offered, name, value)]
        reason = f"{axes.name} has no option {', '.join(lacking)}" if lacking else ""
        yield Combination(options, ids.option_suffix(options, defaults), reason)


def _offers(offered: Mapping[str, Collection[OptionValue]], name: str, value: OptionValue) -> bool:
    return name.startswith(VARIABLE) or value in offered.get(name, ())
