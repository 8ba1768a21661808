"""What a plan would cost in time and disk, with the assumptions behind it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.catalog import Catalog
from orchestrator.domain import Framework, Plan
from orchestrator.planning import parity

CONTAINER_S = 8.0
"""One fresh container: start, import, build, warm-up, ten blocks of 0.2 s, the latency pass."""
PARITY_S = 5.0
"""One parity container: two processes that import the framework, and eleven steps."""
BUILD_S = 15.0
"""Of one image, beside what it downloads and unpacks."""
INSTALL_MB_PER_S = 10.0
"""Downloading, unpacking and compiling Python packages."""
BASE_MB = 130
"""A slim Python base image; images with the same Python share it."""
CUDA_MB = 3000
"""What a GPU image holds beyond its CPU sibling, in copied libraries or larger wheels."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Orders of magnitude, not promises."""

    containers: int
    """Cells × repeats."""
    parity_containers: int
    """Checks that cells do the same work, before the measurements."""
    run_s: float
    """Of measuring and checking, with everything built."""
    longest_run_s: float
    """If every container ran into its timeout."""
    build_s: float
    """Of building every image, one after another, with nothing there."""
    disk_bytes: int
    """Of all images, where nothing of them is there."""
    assumptions: tuple[str, ...]


def estimate(plan: Plan, catalog: Catalog, seen_s: Mapping[str, float] | None = None) -> Estimate:
    """Estimate a plan; `seen_s` holds seconds per container from earlier results, by cell id."""
    seen = seen_s or {}
    sizes = {image.name: _size_mb(catalog, image.framework, image.image_class) for image in plan.images}
    pythons = {image.environment.python for image in plan.images if image.environment.python}
    known = sum(cell.repeats for cell in plan.cells if cell.id in seen)
    containers = sum(cell.repeats for cell in plan.cells)
    checks = parity.checks(plan)
    return Estimate(
        containers=containers,
        parity_containers=len(checks),
        run_s=sum(cell.repeats * min(seen.get(cell.id, CONTAINER_S), cell.timeout_s) for cell in plan.cells)
        + sum(min(PARITY_S, check.timeout_s) for check in checks),
        longest_run_s=sum(cell.repeats * cell.timeout_s for cell in plan.cells)
        + sum(check.timeout_s for check in checks),
        build_s=sum(BUILD_S + size / INSTALL_MB_PER_S for size in sizes.values()),
        disk_bytes=(sum(sizes.values()) + BASE_MB * len(pythons)) * 1_000_000,
        assumptions=(
            f"{containers - known} containers at {CONTAINER_S:g} s each, {known} as long as they took before",
            f"{len(checks)} parity checks at {PARITY_S:g} s each",
            f"images installed at {INSTALL_MB_PER_S:g} MB/s, {BUILD_S:g} s beside for each, none there yet",
            f"{BASE_MB} MB for each Python base, sizes of the catalog, {CUDA_MB} MB more with CUDA",
            "your own images and Dockerfiles count nothing",
        ),
    )


def _size_mb(catalog: Catalog, framework: Framework, image_class: str) -> int:
    size = catalog.size_mb(framework)
    return size + CUDA_MB if size and image_class != "cpu" else size
