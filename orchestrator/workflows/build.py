"""The images of a plan, built for this host or another."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import images
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.domain import Plan
from orchestrator.engine.client import Client, connect
from orchestrator.errors import HostError, InputError
from orchestrator.images import BuildFailure, Built
from orchestrator.images.registries.pushed_file import image_source
from orchestrator.images.registries.source import ImageSource
from orchestrator.results.files.writing import write_atomically
from orchestrator.running.active_runs import announced
from orchestrator.runtimes import BundledImage, remove_leftovers, this_process
from orchestrator.workflows import option_values
from orchestrator.workflows.host.disk import DiskCheck
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.bundle_plans import (
    PlanSource,
    chosen_bundle,
    images_of,
    missing_images,
    wanted_plan,
)
from orchestrator.workflows.inputs.planned_matrix import PlannedMatrix, plan_matrix
from orchestrator.workflows.measure import pulled_images

BUILD_LOGS = "build-logs"
"""In the cache: the folder of build logs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions(PlanSource):
    """The options of `build`."""

    jobs: int = option_values.JOBS
    """Environments made at the same time."""
    logs: Path | None = None
    """Folder of the build logs. In the cache by default."""
    images: Path | None = None
    """A file of `push`, whose images are pulled by digest where the engine lacks them. Nothing is built then."""
    render: Path | None = None
    """Folder to write the Dockerfiles to, in place of building. It needs no engine."""


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The images of a plan after a build."""

    images: tuple[Built | BuildFailure, ...] = ()
    """Every image of the matrix."""
    bundle: LoadedBundle | None = None
    """The bundle that the plan came in."""
    bundled: tuple[BundledImage, ...] = ()
    """Every image of the bundle's plan. They came with it, and are not built."""
    dockerfiles: tuple[Path, ...] = ()
    """The files that `BuildOptions.render` asked for."""
    logs: Path | None = None
    """The folder of the build logs."""
    stopped: bool = False
    """The build was asked to stop before its end."""

    @property
    def failures(self) -> tuple[BuildFailure, ...]:
        """The images that could not be built, each with the reason and the log."""
        return tuple(end for end in self.images if isinstance(end, BuildFailure))


def build(options: BuildOptions, host: Host) -> BuildResult:
    """Build the images that are missing, or pull them. A build that fails is part of the result.

    Raises `InputError` with every mistake of the matrix, or for an image that neither the engine nor `images` has.
    Raises `HostError` if no engine answers, its disk is too small, or an image of a bundle is missing.

    Example: `build(BuildOptions(jobs=4), this_host()).failures`
    """
    if options.render is not None and options.images is not None:
        raise InputError("--render writes what a build would do, and --images builds nothing: leave one of them out")
    source = image_source(options.images) if options.images is not None else None
    bundle = chosen_bundle("build", options, host)
    if bundle is not None:
        if options.render is not None:
            raise InputError(
                f"--render: the images of the bundle {bundle.name} are built already; take a matrix with --file"
            )
        return BuildResult(bundle=bundle, bundled=_bundled(bundle, wanted_plan(bundle, options), source, host))
    planned = plan_matrix(options, host)
    if options.render is not None:
        _report_warnings(planned.plan, host)
        return BuildResult(dockerfiles=_rendered(planned, options.render))
    with contextlib.closing(connect(host.environment)) as client, announced(host.cache), host.working():
        _report_warnings(planned.plan, host)
        DiskCheck(host).images(client, planned.plan.images, planned.settings)
        if source is not None:
            wanted = pulled_images.of_matrix(client, planned.plan.images, planned.settings)
            pulled_images.pull_missing(client, source, wanted, host)
        logs = options.logs or host.cache / BUILD_LOGS
        built = build_images(planned, client, options.jobs, host, logs)
    return BuildResult(tuple(built), logs=logs, stopped=host.stop.is_set())


def build_images(
    planned: PlannedMatrix, client: Client, jobs: int, host: Host, logs: Path
) -> Sequence[Built | BuildFailure]:
    """Remove what ended builds have left, and build every image of a plan that is missing."""
    remove_leftovers(client, this_process(), host.listener)
    built = images.build(
        planned.plan.images,
        planned.settings,
        client,
        jobs=jobs,
        logs=logs,
        listener=host.listener,
        stop=host.stop,
    )
    return tuple(built.values())


def _report_warnings(plan: Plan, host: Host) -> None:
    for warning in plan.warnings:
        host.say(f"warning: {warning}")


def _bundled(bundle: LoadedBundle, plan: Plan, source: ImageSource | None, host: Host) -> tuple[BundledImage, ...]:
    bundled = images_of(bundle, plan)
    with contextlib.closing(connect(host.environment)) as client:
        if source is not None:
            pulled_images.pull_missing(client, source, pulled_images.of_bundle(bundled), host)
        missing = missing_images(client, bundle, plan)
    if missing:
        raise HostError(missing)
    return bundled


def _rendered(planned: PlannedMatrix, folder: Path) -> tuple[Path, ...]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{folder}: cannot be made: {error.strerror}; name another folder") from error
    written = []
    for recipe in images.recipes(planned.plan.images, planned.settings):
        path = folder / f"{recipe.spec.name.replace('/', '-').replace(':', '-')}.Dockerfile"
        write_atomically(path, recipe.dockerfile)
        written.append(path)
    return tuple(written)
