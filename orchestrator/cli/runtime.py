"""Which runtime a run gets: the one asked for, or what this host can do best, with the reason said."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from orchestrator import runtimes
from orchestrator.bundles.loaded import Loaded
from orchestrator.cli import carried, places
from orchestrator.devices import Allocation, Inventory, allocate
from orchestrator.domain import BuildSettings, ImageSpec, Plan
from orchestrator.engine.client import Client, connect
from orchestrator.errors import HostError, InputError
from orchestrator.events import Listener, Notice
from orchestrator.runtimes import (
    DockerRuntime,
    GivenImages,
    HostRuntime,
    Runtime,
    VenvRuntime,
    image_problems,
    remove_leftovers,
    this_process,
)


class RuntimeName(StrEnum):
    """Where cells run."""

    AUTO = "auto"
    DOCKER = "docker"
    VENV = "venv"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A runtime, with what belongs to it."""

    runtime: Runtime
    engine_version: str | None = None
    close: Callable[[], None] = lambda: None


def choose(asked: RuntimeName, plan: Plan, settings: BuildSettings, here: Inventory, listener: Listener) -> Chosen:
    """Give the runtime; raises `HostError` where it was asked for by name and this host has it not."""
    match asked:
        case RuntimeName.DOCKER:
            return _docker(connect(os.environ), settings, listener)
        case RuntimeName.VENV:
            return _venv(settings)
        case RuntimeName.HOST:
            return Chosen(HostRuntime(os.environ))
        case RuntimeName.AUTO:
            return _automatic(plan, settings, here, listener)


def given(asked: RuntimeName, bundle: Loaded, plan: Plan, here: Inventory, listener: Listener) -> Chosen:
    """Give the runtime for the plan of a bundle: containers of the images that came with it, and nothing else.

    Raises `InputError` where another runtime was asked for, `HostError` with every image that is not on the engine.
    """
    if asked not in {RuntimeName.AUTO, RuntimeName.DOCKER}:
        raise InputError(
            f"--runtime {asked}: the plan of the bundle {bundle.name} came with images for containers; "
            "leave it out, or take a matrix with --file"
        )
    client = connect(os.environ)
    missing = carried.missing_images(client, bundle, replace(plan, images=_runnable(plan, here)))
    if missing:
        client.close()
        raise HostError(missing)
    user, owner = f"{os.getuid()}:{os.getgid()}", this_process()
    remove_leftovers(client, owner, listener)
    images = carried.images_of(bundle, plan)
    runtime = GivenImages(client, images, carried.remedy(bundle), user=user, owner=owner)
    return Chosen(runtime, str(client.version().get("Version")), client.close)


def _automatic(plan: Plan, settings: BuildSettings, here: Inventory, listener: Listener) -> Chosen:
    client: Client | None = None
    problem: str | None = None
    problems: tuple[str, ...] = ()
    try:
        client = connect(os.environ)
    except HostError as error:
        problem = str(error)
    else:
        problems = image_problems(client, _runnable(plan, here), settings)
    choice = runtimes.choose(problem, problems)
    listener(Notice(choice.notice))
    if client is not None and choice.name == RuntimeName.DOCKER:
        return _docker(client, settings, listener)
    if client is not None:
        client.close()
    return _venv(settings)


def _docker(client: Client, settings: BuildSettings, listener: Listener) -> Chosen:
    user, owner = f"{os.getuid()}:{os.getgid()}", this_process()
    remove_leftovers(client, owner, listener)
    runtime = DockerRuntime(client, settings, user=user, owner=owner)
    return Chosen(runtime, str(client.version().get("Version")), client.close)


def _venv(settings: BuildSettings) -> Chosen:
    return Chosen(VenvRuntime(places.cache_folder(), settings, os.environ))


def _runnable(plan: Plan, here: Inventory) -> tuple[ImageSpec, ...]:
    """The images of cells that this host has the devices for: no others will be built."""
    wanted = {cell.image for cell in plan.cells if isinstance(allocate(cell.system, here), Allocation)}
    return tuple(image for image in plan.images if image.name in wanted)
