"""The estimated cost of a plan in time and disk, with the assumptions behind it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from orchestrator.catalog import Catalog, DatasetInfo, ModelInfo
from orchestrator.domain import Cell, Framework, ImageSpec, Plan, System
from orchestrator.modes import RULES
from orchestrator.planning import parity
from orchestrator.planning.cost import durations
from orchestrator.planning.cost.durations import Assumed, ContainerEstimate, Durations, Earlier
from orchestrator.planning.parity import Check
from orchestrator.wording import counted, listing

BUILD_S = 15.0
"""Time of one image without its downloads and unpacking."""
INSTALL_MB_PER_S = 10.0
"""Rate of downloading, unpacking and compiling Python packages."""
BASE_MB = 130
"""A slim Python base image, which images with the same Python share."""
CUDA_MB = 3000
"""The additional content of a GPU image over its CPU sibling, in copied libraries or larger wheels."""


@dataclass(frozen=True, slots=True)
class SlowCell:
    """A cell that would need longer than its time-out."""

    id: str
    needs_s: float
    timeout_s: float


@dataclass(frozen=True, slots=True)
class PlanEstimate:
    """Orders of magnitude, not promises."""

    containers: int
    """Cells × repeats, without those that end as `no_device`."""
    parity_containers: int
    """Checks that cells do the same work, before the measurements."""
    run_s: float
    """Time of measuring and checking with everything built, where no container is longer than its time-out."""
    longest_run_s: float
    """The same time if every container ran into its time-out."""
    build_s: float
    """Time of building the images that a run builds, one after another, from nothing."""
    disk_bytes: int
    """Size of these images, if nothing of them exists yet."""
    assumptions: tuple[str, ...]
    slow: tuple[SlowCell, ...] = ()
    """Cells that would end as `timeout`, the longest first."""


@dataclass(frozen=True, slots=True)
class Known:
    """The knowledge of an estimate about the work and the host, in addition to the plan."""

    models: Mapping[str, ModelInfo]
    datasets: Mapping[str, DatasetInfo]
    assumed: Assumed
    earlier: tuple[Earlier, ...] = ()
    """Containers that were measured on this host."""
    systems: frozenset[str] | None = None
    """Names of the systems that the host has the devices for; None if it has them for all."""

    def serves(self, system: System) -> bool:
        """Return true if the cells of a system are measured, and do not end as `no_device`."""
        return self.systems is None or system.name in self.systems


def estimate(plan: Plan, catalog: Catalog, known: Known) -> PlanEstimate:
    """Estimate what it takes to build and to measure a plan."""
    cells = [cell for cell in plan.cells if known.serves(cell.system)]
    images = _used(plan.images, cells)
    builders = {image.name: image.environment.builder for image in images}
    lasting = Durations(known.models, known.datasets, known.assumed, known.earlier)
    by_cell = {cell.id: lasting.container(cell, builders.get(cell.image, "")) for cell in cells}
    sources: Counter[str] = Counter()
    for cell in cells:
        sources[by_cell[cell.id].source] += cell.repeats
    checks = [check for check in parity.checks(plan) if known.serves(check.system)]
    slow = [SlowCell(cell.id, by_cell[cell.id].wall_s, cell.timeout_s) for cell in cells]
    compiled = _compiled(images, cells, checks)
    return PlanEstimate(
        containers=sum(cell.repeats for cell in cells),
        parity_containers=len(checks),
        run_s=_run_s(cells, checks, by_cell, lasting) + compiled * durations.COMPILE_S,
        longest_run_s=sum(cell.repeats * cell.timeout_s for cell in cells) + sum(check.timeout_s for check in checks),
        build_s=sum(build_s(image, catalog) for image in images),
        disk_bytes=disk_bytes(images, catalog),
        assumptions=(
            *_time_assumptions(sources, known.assumed, len(checks)),
            *_compiling(compiled),
            *_unserved(plan, known),
            *_DISK_ASSUMPTIONS,
        ),
        slow=tuple(sorted((cell for cell in slow if cell.needs_s > cell.timeout_s), key=lambda cell: -cell.needs_s)),
    )


def seconds_of_parts(plan: Plan, catalog: Catalog, known: Known) -> Callable[[Plan], float]:
    """Return a function that estimates the seconds to build and to measure a part of a plan.

    They are those that `estimate` has for the plan of the part, without the rest of it.
    """
    lasting = Durations(known.models, known.datasets, known.assumed, known.earlier)
    builders = {image.name: image.environment.builder for image in plan.images}
    building_s = {image.name: build_s(image, catalog) for image in plan.images}

    def seconds(part: Plan) -> float:
        cells = [cell for cell in part.cells if known.serves(cell.system)]
        by_cell = {cell.id: lasting.container(cell, builders.get(cell.image, "")) for cell in cells}
        checks = [check for check in parity.checks(part) if known.serves(check.system)]
        images = _used(part.images, cells)
        run_s = _run_s(cells, checks, by_cell, lasting) + _compiled(images, cells, checks) * durations.COMPILE_S
        return run_s + sum(building_s[image.name] for image in images)

    return seconds


def _used(images: Iterable[ImageSpec], cells: Iterable[Cell]) -> list[ImageSpec]:
    used = {cell.image for cell in cells}
    return [image for image in images if image.name in used]


def _run_s(
    cells: Iterable[Cell], checks: Iterable[Check], by_cell: Mapping[str, ContainerEstimate], lasting: Durations
) -> float:
    """Return the time of measuring and checking, where no container is longer than its time-out."""
    measuring_s = sum(cell.repeats * min(by_cell[cell.id].wall_s, cell.timeout_s) for cell in cells)
    return measuring_s + sum(min(lasting.parity_s(check), check.timeout_s) for check in checks)


def build_s(image: ImageSpec, catalog: Catalog) -> float:
    """Return the seconds that it takes to make an image from nothing."""
    return BUILD_S + _size_mb(catalog, image.framework, image.image_class) / INSTALL_MB_PER_S


def _compiled(images: Iterable[ImageSpec], cells: Iterable[Cell], checks: Iterable[Check]) -> int:
    """Return the number of containers that are the first of their kind to fill a compile cache."""
    compiling = {image.name for image in images if image.environment.compile_cache}
    return sum(image in compiling for image in (*(cell.image for cell in cells), *(each.image for each in checks)))


def disk_bytes(images: Iterable[ImageSpec], catalog: Catalog, *, bases: bool = True) -> int:
    """Estimate the size of images that do not exist yet, in bytes.

    `bases` also counts the base image of each Python. Images that stand on an image or Dockerfile of the user's own
    count nothing.
    """
    sizes, pythons = 0, set()
    for image in images:
        sizes += _size_mb(catalog, image.framework, image.image_class)
        if image.environment.python:
            pythons.add(image.environment.python)
    return (sizes + BASE_MB * len(pythons) * bases) * 1_000_000


def _time_assumptions(sources: Counter[str], assumed: Assumed, checks: int) -> tuple[str, ...]:
    lines = {
        "measured": "as long as their model took with this framework on this host",
        "scaled": "by what their framework did with another model on this host, scaled by multiply-adds",
        "assumed": f"at {assumed.cpu_rate:.3g} multiply-adds a second and CPU ({assumed.gpu_rate:.3g} and GPU, which "
        f"no measurement supports), {_longer_steps()}",
        "unknown": f"at {durations.UNKNOWN_S:g} s each: scripts, and models whose work the host cannot read",
    }
    return (
        *(f"{sources[source]} containers {text}" for source, text in lines.items() if sources[source]),
        f"{checks} parity checks at {durations.PARITY_START_S:g} s each and {durations.PARITY_STEPS} training steps",
    )


def _compiling(first: int) -> Iterator[str]:
    """Yield a line for the containers that are the first of their model to fill a compile cache."""
    if first:
        yield f"{durations.COMPILE_S:g} s of compiling in each of {first} containers that are the first of their kind"


def _unserved(plan: Plan, known: Known) -> Iterator[str]:
    """Yield a line for the cells that end as `no_device`, if there are any."""
    without = Counter(cell.system.name for cell in plan.cells if not known.serves(cell.system))
    if without:
        named = listing([f"{counted(number, 'cell')} on {name}" for name, number in without.items()])
        yield f"{named} would end as no_device on this host: no time, and no image that no other cell needs"


def _longer_steps() -> str:
    """Name the steps that take longer than one forward pass, by their mode."""
    longer = (rules for rules in RULES.values() if rules.passes > 1)
    return ", ".join(f"{rules.step} as {rules.passes} forward passes" for rules in longer)


_DISK_ASSUMPTIONS = (
    f"images installed at {INSTALL_MB_PER_S:g} MB/s, {BUILD_S:g} s more for each, none there yet",
    f"{BASE_MB} MB for each Python base, sizes of the catalog, {CUDA_MB} MB more with CUDA",
    "your own images and Dockerfiles count nothing",
)


def _size_mb(catalog: Catalog, framework: Framework, image_class: str) -> int:
    size = catalog.size_mb(framework)
    return size + CUDA_MB if size and image_class != "cpu" else size
