"""Build the images that are missing, several at once, and say of each how that ended."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

import docker

from orchestrator.build_settings import BuildSettings
from orchestrator.domain import ImageSpec
from orchestrator.engine import images as engine
from orchestrator.engine.client import needed_for
from orchestrator.events import BuildFinished, Event, Listener, Notice
from orchestrator.images.making import Batch, BuildFailure, Built, begin_batch, cached, make_group
from orchestrator.images.recipe import Recipe, gather, left_out, measuring_side, render
from orchestrator.images.surplus import remove_stale_steps
from orchestrator.processes import Stop

_TICK_S = 0.2


def recipes(specs: Sequence[ImageSpec], settings: BuildSettings, *, architecture: str = "amd64") -> tuple[Recipe, ...]:
    """Return the recipe of every image. Raises `InputError` if a file named by settings or matrix cannot be read."""
    benchmarks = measuring_side()
    inputs = (gather(spec, settings, architecture=architecture, benchmarks=benchmarks) for spec in specs)
    return tuple(render(spec, settings, each) for spec, each in zip(specs, inputs, strict=True))


def missing(wanted: Sequence[Recipe], there: Mapping[str, str]) -> tuple[Recipe, ...]:
    """Return the recipes whose image is missing. `there` maps content tags to image ids."""
    return tuple(recipe for recipe in wanted if recipe.reference not in there)


def present(client: docker.DockerClient, wanted: Sequence[Recipe]) -> dict[str, str]:
    """Content tag → image id, of the recipes whose image is on the engine."""
    present_facts = ((recipe.reference, engine.facts(client, recipe.reference)) for recipe in wanted)
    return {reference: image.image_id for reference, image in present_facts if image is not None}


def absent(
    client: docker.DockerClient, specs: Sequence[ImageSpec], settings: BuildSettings
) -> tuple[tuple[ImageSpec, ...], tuple[str, ...]]:
    """Return the images whose environment has to be made, one of each environment, and the bases to fetch for them."""
    wanted = recipes(specs, settings, architecture=str(client.version().get("Arch", "amd64")))
    unmade: dict[str, Recipe] = {}
    for recipe in missing(wanted, present(client, wanted)):
        environment = recipe.environment.reference if recipe.environment else ""
        if environment and engine.facts(client, environment) is None:
            unmade.setdefault(environment, recipe)
    bases = dict.fromkeys(name for recipe in unmade.values() for name in recipe.bases)
    fetched = tuple(name for name in bases if engine.facts(client, name) is None)
    return tuple(recipe.spec for recipe in unmade.values()), fetched


@needed_for("building images")
def build(  # noqa: PLR0913 - the settings, the engine and four things the caller owns
    specs: Sequence[ImageSpec],
    settings: BuildSettings,
    client: docker.DockerClient,
    *,
    jobs: int,
    logs: Path,
    listener: Listener,
    stop: Stop,
) -> dict[str, Built | BuildFailure]:
    """Make every image ready, `jobs` builds at once, and say of each, by `ImageSpec.name`, how that ended.

    Images that are there under their content tag cost no build. A build that fails leaves the others alone. When
    `stop` is set, or on an interrupt, builds end at once and leave nothing under any name.
    Raises `InputError` where a file that settings or matrix name cannot be read, and `HostError` where the engine goes
    away.
    """
    for message in left_out(settings):
        listener(Notice(message))
    wanted = recipes(specs, settings, architecture=str(client.version().get("Arch", "amd64")))
    there = present(client, wanted)
    done: dict[str, Built | BuildFailure] = {}
    for recipe in wanted:
        if recipe.reference in there:
            done[recipe.spec.name] = _cached(client, recipe, there[recipe.reference])
            listener(BuildFinished(recipe.spec.name, 0.0, cached=True))
    absent = missing(wanted, there)
    if absent:
        logs.mkdir(parents=True, exist_ok=True)
        remove_stale_steps(client)
        done |= _run(_groups(absent), begin_batch(client, settings, logs, _one_at_a_time(listener)), jobs, stop)
    return {spec.name: done[spec.name] for spec in specs}


def _cached(client: docker.DockerClient, recipe: Recipe, image_id: str) -> Built:
    engine.tag(client, image_id, recipe.alias)
    return cached(recipe.spec.name, image_id, recipe.reference, engine.facts(client, image_id))


def _groups(wanted: Sequence[Recipe]) -> list[list[Recipe]]:
    """Group recipes by the environment they share, which is made once."""
    groups: dict[str, list[Recipe]] = {}
    for recipe in wanted:
        key = recipe.environment.reference if recipe.environment else recipe.reference
        groups.setdefault(key, []).append(recipe)
    return list(groups.values())


def _one_at_a_time(listener: Listener) -> Listener:
    lock = threading.Lock()

    def tell(event: Event) -> None:
        with lock:
            listener(event)

    return tell


def _run(groups: Sequence[list[Recipe]], batch: Batch, jobs: int, stop: Stop) -> dict[str, Built | BuildFailure]:
    done: dict[str, Built | BuildFailure] = {}
    if stop.is_set():  # an engine is asked for no build that nobody waits for
        batch.builds.stop()
    with ThreadPoolExecutor(max_workers=max(1, jobs), thread_name_prefix="build") as pool:
        pending: set[Future[list[Built | BuildFailure]]] = {pool.submit(make_group, group, batch) for group in groups}
        try:
            while pending:
                finished, pending = wait(pending, timeout=_TICK_S, return_when=FIRST_COMPLETED)
                done |= {result.image: result for future in finished for result in future.result()}
                if stop.is_set():
                    batch.builds.stop()
        except BaseException:
            batch.builds.stop()
            raise
    return done
