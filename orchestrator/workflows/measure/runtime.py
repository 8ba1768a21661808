"""The runtime of a run, which is the one that is named or the best one on this host."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from orchestrator import runtimes
from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.devices.job_bounds import job_bounds
from orchestrator.domain import ImageSpec, Plan
from orchestrator.engine import abilities
from orchestrator.engine.client import Client, connect
from orchestrator.errors import HostError, InputError
from orchestrator.images.registries.source import ImageSource
from orchestrator.runtimes import (
    BundledRuntime,
    DockerRuntime,
    HostRuntime,
    Runtime,
    VenvRuntime,
    image_problems,
    limits_of,
    remove_leftovers,
    this_process,
)
from orchestrator.workflows.host.disk import DiskCheck
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs import bundle_plans
from orchestrator.workflows.measure import pulled_images
from orchestrator.workflows.option_values import RuntimeName


def _ample(images: tuple[ImageSpec, ...]) -> None:
    del images


@dataclass(frozen=True, slots=True)
class Chosen:
    """A runtime, with what belongs to it."""

    runtime: Runtime
    engine_version: str | None = None
    close: Callable[[], None] = lambda: None
    require_room: Callable[[tuple[ImageSpec, ...]], None] = _ample
    """Raises `HostError` if the disk has no room for further images."""


@dataclass(frozen=True, slots=True)
class Needed:
    """The images that a runtime has to provide."""

    images: tuple[ImageSpec, ...]
    """The images of the cells that will run. No others are built."""
    selects: bool
    """True if the command takes `--select`, which would leave some of them out."""
    source: ImageSource | None = None
    """The registry that missing images come from, if they are not built."""


def choose(name: RuntimeName, needed: Needed, settings: BuildSettings, host: Host) -> Chosen:
    """Return the runtime.

    Raises `HostError` if this host lacks it, or the disk space that it needs.
    Raises `InputError` if images come from a registry and the runtime has none.
    """
    if needed.source is not None:
        if name not in {RuntimeName.AUTO, RuntimeName.DOCKER}:
            raise InputError(f"--images: --runtime {name} runs no images; leave one of the two out")
        return _docker(connect(host.environment), needed, settings, host)
    match name:
        case RuntimeName.DOCKER:
            return _docker(connect(host.environment), needed, settings, host)
        case RuntimeName.VENV:
            return _venv(needed, settings, host)
        case RuntimeName.HOST:
            return Chosen(HostRuntime(host.environment))
        case RuntimeName.AUTO:
            return _automatic(needed, settings, host)


def choose_of_bundle(name: RuntimeName, bundle: LoadedBundle, plan: Plan, needed: Needed, host: Host) -> Chosen:
    """Return the runtime for the plan of a bundle, which runs containers of the images that came with it.

    Raises `InputError` if another runtime is named, `HostError` with every image that is not on the engine.
    """
    if name not in {RuntimeName.AUTO, RuntimeName.DOCKER}:
        raise InputError(
            f"--runtime {name}: the plan of the bundle {bundle.name} came with images for containers; "
            "leave it out, or take a matrix with --file"
        )
    client = connect(host.environment)
    wanted = replace(plan, images=needed.images)
    try:
        limits = limits_of(client, host.listener)
        if needed.source is not None:
            bundled = pulled_images.of_bundle(bundle_plans.images_of(bundle, wanted))
            pulled_images.pull_missing(client, needed.source, bundled, host)
        missing = bundle_plans.missing_images(client, bundle, wanted)
        if missing:
            raise HostError(missing)
    except BaseException:
        client.close()
        raise
    user, owner = f"{os.getuid()}:{os.getgid()}", this_process()
    remove_leftovers(client, owner, host.listener)
    images = bundle_plans.images_of(bundle, plan)
    remedy = bundle_plans.remedy(bundle)
    bounds = job_bounds(host.environment)
    runtime = BundledRuntime(
        client, images, remedy, user=user, owner=owner, limits=limits, cache=host.cache, bounds=bounds
    )
    return Chosen(runtime, str(client.version().get("Version")), client.close)


def _automatic(needed: Needed, settings: BuildSettings, host: Host) -> Chosen:
    client: Client | None = None
    problem: str | None = None
    problems: tuple[str, ...] = ()
    try:
        client = connect(host.environment)
    except HostError as error:
        problem = str(error)
    else:
        problem = abilities.limits_problem(abilities.read(client))
        problems = () if problem else image_problems(client, needed.images, settings)
    choice = runtimes.choose(problem, problems)
    host.say(choice.notice)
    if client is not None and choice.name == RuntimeName.DOCKER:
        return _docker(client, needed, settings, host)
    if client is not None:
        client.close()
    return _venv(needed, settings, host)


def _docker(client: Client, needed: Needed, settings: BuildSettings, host: Host) -> Chosen:
    try:
        limits = limits_of(client, host.listener)
        DiskCheck(host, needed.selects).images(client, needed.images, settings)
        if needed.source is not None:
            wanted = pulled_images.of_matrix(client, needed.images, settings)
            pulled_images.pull_missing(client, needed.source, wanted, host)
    except BaseException:
        client.close()
        raise
    user, owner = f"{os.getuid()}:{os.getgid()}", this_process()
    remove_leftovers(client, owner, host.listener)
    bounds = job_bounds(host.environment)
    runtime = DockerRuntime(client, settings, user=user, owner=owner, limits=limits, cache=host.cache, bounds=bounds)
    version = str(client.version().get("Version"))
    further = DiskCheck(host, selects=False)
    return Chosen(runtime, version, client.close, lambda images: further.images(client, images, settings))


def _venv(needed: Needed, settings: BuildSettings, host: Host) -> Chosen:
    DiskCheck(host, needed.selects).environments(needed.images)
    further = DiskCheck(host, selects=False)
    return Chosen(VenvRuntime(host.cache, settings, host.environment), require_room=further.environments)
