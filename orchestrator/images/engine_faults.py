"""Failures of the engine during a build, told from failures of what it builds."""

import re
from collections.abc import Iterable, Iterator

import docker

from orchestrator.build_settings import BuildSettings
from orchestrator.engine import health
from orchestrator.engine.images import StepError
from orchestrator.images.reasons import is_full
from orchestrator.images.recipe import Recipe
from orchestrator.images.settings import build_network

ROOM_BYTES = 16 << 30
"""More than any environment of the catalog takes: with so much left, a full disk is one that the build made itself."""
_NO_VERDICT = "this says nothing of the image"
_LAYER = re.compile(r" ---> ([0-9a-f]{12,64})")


def engine_fault(
    error: Exception, recipe: Recipe, client: docker.DockerClient, settings: BuildSettings, log: Iterable[str]
) -> str | None:
    """Return the engine's fault that made a build fail, or None if the build failed by itself.

    A command of the build that ended with an exit code did run, and only a full disk can be the engine's. Any other
    failure is the engine's where it cannot start a container of the last good layer either.
    """
    said, lines = str(error), list(log)
    if isinstance(error, StepError) or isinstance(error.__cause__, StepError):
        if not is_full(lines) or (health.room_bytes(client) or 0) > ROOM_BYTES:
            return None
        return f"the engine's store has no room: {said}; {_NO_VERDICT}: make room (docker system df), and go on"
    if health.is_of_the_store(said):
        return f"the engine's store fails: {said}; {_NO_VERDICT}: make room or mend the disk, and go on"
    for image in _layers(lines, recipe):
        why = health.start_fault(client, image, build_network(settings))
        return (
            f"the engine can start no container now: {why}; {_NO_VERDICT}: mend the engine, and go on" if why else None
        )
    return None


def _layers(lines: Iterable[str], recipe: Recipe) -> Iterator[str]:
    """Yield images that surely exist, which are the layers of this build, the last one first."""
    yield from reversed([match[1] for match in map(_LAYER.fullmatch, lines) if match])
    yield from recipe.bases
