"""Which runtime a run gets: the one asked for, or what this host can do best, with the reason said."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from orchestrator import runtimes
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.cli import carried, disk, places
from orchestrator.domain import BuildSettings, ImageSpec, Plan
from orchestrator.engine.client import Client, connect
from orchestrator.errors import HostError, InputError
from orchestrator.events import Listener, Notice
from orchestrator.runtimes import (
    BundledRuntime,
    DockerRuntime,
    HostRuntime,
    Runtime,
    VenvRuntime,
    filters_system_calls,
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


def _ample(images: tuple[ImageSpec, ...]) -> None:
    del images


@dataclass(frozen=True, slots=True)
class Chosen:
    """A runtime, with what belongs to it."""

    runtime: Runtime
    engine_version: str | None = None
    close: Callable[[], None] = lambda: None
    require_room: Callable[[tuple[ImageSpec, ...]], None] = _ample
    """Raises `HostError` where the disk has no room for further images."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What a runtime has to provide."""

    images: tuple[ImageSpec, ...]
    """Of the cells that will run: no others are built."""
    selects: bool
    """Whether the command takes `--select`, which would leave some of them out."""


def choose(asked: RuntimeName, needed: Needed, settings: BuildSettings, listener: Listener) -> Chosen:
    """Give the runtime; raises `HostError` where this host has it not, or no disk for what it needs."""
    match asked:
        case RuntimeName.DOCKER:
            return _docker(connect(os.environ), needed, settings, listener)
        case RuntimeName.VENV:
            return _venv(needed, settings)
        case RuntimeName.HOST:
            return Chosen(HostRuntime(os.environ))
        case RuntimeName.AUTO:
            return _automatic(needed, settings, listener)


def given(asked: RuntimeName, bundle: LoadedBundle, plan: Plan, needed: Needed, listener: Listener) -> Chosen:
    """Give the runtime for the plan of a bundle: containers of the images that came with it, and nothing else.

    Raises `InputError` where another runtime was asked for, `HostError` with every image that is not on the engine.
    """
    if asked not in {RuntimeName.AUTO, RuntimeName.DOCKER}:
        raise InputError(
            f"--runtime {asked}: the plan of the bundle {bundle.name} came with images for containers; "
            "leave it out, or take a matrix with --file"
        )
    client = connect(os.environ)
    missing = carried.missing_images(client, bundle, replace(plan, images=needed.images))
    if missing:
        client.close()
        raise HostError(missing)
    user, owner = f"{os.getuid()}:{os.getgid()}", this_process()
    remove_leftovers(client, owner, listener)
    images = carried.images_of(bundle, plan)
    seccomp = filters_system_calls(client, listener)
    runtime = BundledRuntime(client, images, carried.remedy(bundle), user=user, owner=owner, seccomp=seccomp)
    return Chosen(runtime, str(client.version().get("Version")), client.close)


def _automatic(needed: Needed, settings: BuildSettings, listener: Listener) -> Chosen:
    client: Client | None = None
    problem: str | None = None
    problems: tuple[str, ...] = ()
    try:
        client = connect(os.environ)
    except HostError as error:
        problem = str(error)
    else:
        problems = image_problems(client, needed.images, settings)
    choice = runtimes.choose(problem, problems)
    listener(Notice(choice.notice))
    if client is not None and choice.name == RuntimeName.DOCKER:
        return _docker(client, needed, settings, listener)
    if client is not None:
        client.close()
    return _venv(needed, settings)


def _docker(client: Client, needed: Needed, settings: BuildSettings, listener: Listener) -> Chosen:
    try:
        disk.require_for_images(client, needed.images, settings, selects=needed.selects)
    except BaseException:
        client.close()
        raise
    user, owner = f"{os.getuid()}:{os.getgid()}", this_process()
    remove_leftovers(client, owner, listener)
    seccomp = filters_system_calls(client, listener)
    runtime = DockerRuntime(client, settings, user=user, owner=owner, seccomp=seccomp)
    version = str(client.version().get("Version"))
    return Chosen(
        runtime, version, client.close, lambda images: disk.require_for_images(client, images, settings, selects=False)
    )


def _venv(needed: Needed, settings: BuildSettings) -> Chosen:
    disk.require_for_environments(places.cache_folder(), needed.images, selects=needed.selects)
    return Chosen(
        VenvRuntime(places.cache_folder(), settings, os.environ),
        require_room=lambda images: disk.require_for_environments(places.cache_folder(), images, selects=False),
    )
