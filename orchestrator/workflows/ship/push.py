"""The images of a plan, pushed to a registry for other hosts."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import images
from orchestrator.domain import ImageSpec
from orchestrator.engine import images as engine_images
from orchestrator.engine.client import Client, connect, needed_for
from orchestrator.errors import InputError
from orchestrator.images.registries.names import checked_registry, name_in
from orchestrator.images.registries.pushed_file import pushed_document
from orchestrator.images.registries.pushing import LocalImage, PushedImage, push_all
from orchestrator.results.files.writing import write_atomically
from orchestrator.running.active_runs import announced
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.bundle_plans import PlanSource, chosen_bundle, images_of, wanted_plan
from orchestrator.workflows.inputs.planned_matrix import plan_matrix
from orchestrator.workflows.outputs import check_file

_PATIENCE_S = 600.0
"""Longest silence of an engine while a registry stores a layer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushOptions(PlanSource):
    """The options of `push`."""

    registry: str
    """The registry, with a prefix for the names of images: `HOST[:PORT][/PREFIX]`."""
    output: Path | None = None
    """A file that lists the pushed images with their digests, for `RunOptions.images`."""


@dataclass(frozen=True, slots=True)
class PushResult:
    """The images of a plan in a registry."""

    registry: str
    images: tuple[PushedImage, ...]
    """Each with its digest."""
    missing: tuple[str, ...]
    """Images of the plan that are not on the engine. `build` makes them."""
    remedy: str
    """The command that brings the missing images."""
    stopped: bool = False
    """The push was asked to stop before its end."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """An image of a plan, with what the engine knows it by."""

    spec: ImageSpec
    reference: str
    identity: str


def push(options: PushOptions, host: Host) -> PushResult:
    """Push the images of a plan that the engine has. The registry gets only the layers that it lacks.

    Raises `InputError` with every mistake of the matrix, or if the registry cannot be one.
    Raises `HostError` if no engine answers, and `RegistryError`, which is one too, if the registry refuses.

    Example: `push(PushOptions(registry="registry:5000", output=Path("images.json")), this_host()).images`
    """
    registry = checked_registry(options.registry)
    if options.output is not None:
        check_file(options.output)
    with contextlib.closing(connect(host.environment, timeout_s=_PATIENCE_S)) as client, announced(host.cache):
        listed, remedy = _listed(options, client, host)
        if not listed:
            raise InputError("the plan has no images to push")
        there, missing = _there(client, registry, listed)
        with host.working(), needed_for("pushing images"):
            pushed = push_all(client, there, host.listener, host.stop)
    result = PushResult(registry, pushed, missing, remedy, stopped=len(pushed) < len(there))
    if options.output is not None and not result.stopped:
        document = pushed_document(registry, result.images, result.missing)
        write_atomically(options.output, "".join(document.texts()))
    return result


def _listed(options: PushOptions, client: Client, host: Host) -> tuple[list[_Listed], str]:
    """Return the images of the plan, and the command that makes or brings those that are missing."""
    bundle = chosen_bundle("push", options, host)
    if bundle is not None:
        plan = wanted_plan(bundle, options)
        bundled = zip(plan.images, images_of(bundle, plan), strict=True)
        return [_Listed(spec, image.reference, image.image_id) for spec, image in bundled], "orchestrator load BUNDLE"
    planned = plan_matrix(options, host)
    architecture = str(client.version().get("Arch", "amd64"))
    recipes = images.recipes(planned.plan.images, planned.settings, architecture=architecture)
    return [_Listed(recipe.spec, recipe.reference, recipe.reference) for recipe in recipes], "orchestrator build"


def _there(client: Client, registry: str, listed: Sequence[_Listed]) -> tuple[tuple[LocalImage, ...], tuple[str, ...]]:
    """Return the images that the engine has, and the names of those that it lacks."""
    there, missing = [], []
    for each in listed:
        facts = engine_images.facts(client, each.identity)
        if facts is None:
            missing.append(each.spec.name)
        else:
            remote = name_in(registry, each.spec.repository, each.reference)
            there.append(LocalImage(each.spec.name, each.reference, facts.image_id, remote))
    return tuple(there), tuple(missing)
