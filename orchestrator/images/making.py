"""Building of one image, from its environment to its names."""

import hashlib
import json
import re
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

from orchestrator import __version__
from orchestrator.build_settings import BuildSettings
from orchestrator.catalog.versions import mismatches
from orchestrator.domain import ImageSpec
from orchestrator.engine import images as engine
from orchestrator.engine.client import is_lost, lost, takes_connections
from orchestrator.engine.images import BuildError, Builds, LayerGoneError
from orchestrator.engine.questions import ask
from orchestrator.errors import HostError
from orchestrator.events import BuildFinished, BuildStarted, Listener
from orchestrator.images import labels
from orchestrator.images.bases import Bases
from orchestrator.images.context import tar
from orchestrator.images.engine_faults import engine_fault
from orchestrator.images.reasons import telling_line
from orchestrator.images.recipe import BuildStep, Recipe, expected_versions
from orchestrator.images.settings import build_arguments, build_network, redacted, secrets

STOPPED = "stopped"
_LINES = 2000
_SWEEPS = 50
_ATTEMPTS = 3
_QUIET_SWEEPS = 10
_SWEEP_PAUSE_S = 0.2
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Built:
    """An image that is ready on the engine."""

    image: str
    """`ImageSpec.name`."""
    image_id: str
    reference: str
    """Its content tag."""
    base_digest: str = ""
    """`name@sha256:…` of its base, or the base's id where it came from no registry."""
    wall_s: float = 0.0
    cached: bool = False
    versions: tuple[tuple[str, str], ...] = ()
    """Distributions it holds, as it was asked after the build; empty where the image was there already."""


def cached(name: str, image_id: str, reference: str, facts: engine.ImageFacts | None) -> Built:
    """Return an image that is on the engine, and that nothing had to build."""
    base_digest = facts.labels.get(labels.BASE_DIGEST, "") if facts else ""
    return Built(name, image_id, reference, base_digest, cached=True)


@dataclass(frozen=True, slots=True)
class BuildFailure:
    """The reason there is no such image."""

    image: str
    reason: str
    """One line; `STOPPED` where the build was stopped before its end."""
    log: Path | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """The values that the builds of one call share."""

    client: docker.DockerClient
    settings: BuildSettings
    logs: Path
    listener: Listener
    builds: Builds
    bases: Bases


def begin_batch(client: docker.DockerClient, settings: BuildSettings, logs: Path, listener: Listener) -> Batch:
    """Return a batch whose builds and base images are not begun yet."""
    builds = Builds(client)
    return Batch(client, settings, logs, listener, builds, Bases(client, lambda: builds.stopped, listener))


class EnvironmentFailedError(BuildError):
    """A step failed that other images of the group share."""


def make_group(group: Sequence[Recipe], batch: Batch) -> list[Built | BuildFailure]:
    """Make the images that share an environment, one after another.

    A fault of the environment fails all of them at once.

    The steps that may hold credentials are gone afterwards, whatever happens but the loss of the engine.
    Raises `HostError` where the engine went away: that is no failure of any image.
    """
    token = uuid4().hex
    results: list[Built | BuildFailure] = []
    shared: BuildFailure | None = None
    try:
        for recipe in group:
            name = recipe.spec.name
            if batch.builds.stopped:
                results.append(BuildFailure(name, STOPPED))
            elif shared is not None:
                batch.listener(BuildFinished(name, 0.0, reason=shared.reason))
                results.append(replace(shared, image=name))
            else:
                result, is_shared = _make(recipe, batch, token)
                shared = result if is_shared and isinstance(result, BuildFailure) else None
                results.append(result)
    finally:
        _sweep(batch, token)
    return results


def _sweep(batch: Batch, token: str) -> None:
    quiet = 0
    for _ in range(_SWEEPS):
        try:
            left = engine.remove_steps(batch.client, f"{labels.STAGE}={token}")
        except RequestException:
            return  # the engine is gone or too busy to answer; later builds remove what was left an hour ago
        quiet = 0 if left else quiet + 1
        # The engine ends a stopped build only after a moment, and may still finish the step that it was at.
        if quiet > (_QUIET_SWEEPS if batch.builds.stopped else 0):
            return
        time.sleep(_SWEEP_PAUSE_S)


def _make(recipe: Recipe, batch: Batch, token: str) -> tuple[Built | BuildFailure, bool]:
    """Make one image, and return true with it if a failure is that of the shared environment."""
    name = recipe.spec.name
    path = batch.logs / f"{recipe.reference.replace('/', '_').replace(':', '_')}.log"
    batch.listener(BuildStarted(name, str(path)))
    began = time.perf_counter()
    result: Built | BuildFailure
    is_shared = False
    with _Log(path, secrets(batch.settings)) as log:
        try:
            built = _built(recipe, batch, token, log)
            result = replace(built, wall_s=time.perf_counter() - began)
        except (BuildError, DockerException, RequestException, OSError) as error:
            # An engine that is stopped kills what it builds, and calls that a failure of the build.
            if not batch.builds.stopped and (is_lost(error) or not takes_connections(batch.client)):
                raise lost(f"building {name}", error) from error
            fault = (
                None if batch.builds.stopped else engine_fault(error, recipe, batch.client, batch.settings, log.lines)
            )
            if fault:
                log.line(str(error))
                secret = secrets(batch.settings)
                raise HostError(redacted(f"{name} cannot be built: {fault}", secret)) from error
            is_shared = isinstance(error, EnvironmentFailedError)
            log.line(str(error))
            reason = STOPPED if batch.builds.stopped else telling_line(log.lines, str(error))
            result = BuildFailure(name, redacted(reason, secrets(batch.settings)), path)
    reason = result.reason if isinstance(result, BuildFailure) else ""
    batch.listener(BuildFinished(name, time.perf_counter() - began, reason=reason, stopped=reason == STOPPED))
    return result, is_shared


def _built(recipe: Recipe, batch: Batch, token: str, log: "_Log") -> Built:
    try:
        digests = [batch.bases.digest(reference) for reference in recipe.bases]
        own = dict(zip((labels.BASE_DIGEST, labels.CUDA_DIGEST), digests, strict=False))
        if recipe.environment and engine.facts(batch.client, recipe.environment.reference) is None:
            environment_id = _step(
                recipe.environment, {**own, labels.KIND: labels.ENVIRONMENT}, batch, log, {"BENCH_BUILD": token}
            )
            engine.tag(batch.client, environment_id, recipe.environment.reference)
    except BuildError as error:
        raise EnvironmentFailedError(str(error)) from error
    values = {
        labels.CONTENT: recipe.content,
        labels.DOCKERFILE: hashlib.sha256(recipe.dockerfile.encode()).hexdigest(),
        labels.ORCHESTRATOR: __version__,
    }
    image_id = _step(recipe.image, own | values, batch, log, {})
    try:
        versions = verified(recipe.spec, ask(batch.client, image_id, ["--versions"]))
        if batch.builds.stopped:
            raise BuildError(STOPPED)
    except BuildError:
        engine.remove(batch.client, image_id)
        raise
    engine.tag(batch.client, image_id, recipe.reference)
    engine.tag(batch.client, image_id, recipe.alias)
    return Built(recipe.spec.name, image_id, recipe.reference, digests[0] if digests else "", versions=versions)


def _step(
    step: BuildStep, own_labels: Mapping[str, str], batch: Batch, log: "_Log", build_args: Mapping[str, str]
) -> str:
    log.line(f"== {step.reference}")
    dockerfile, *rest = step.files
    # As one instruction: the engine would make a container and an image for each label that it is given apart.
    named = " ".join(f'{name}="{value}"' for name, value in own_labels.items())
    files = (replace(dockerfile, content=dockerfile.read() + f"\nLABEL {named}\n".encode()), *rest)
    attempts = 0
    while True:
        attempts += 1
        try:
            return batch.builds.build(
                tar(files),
                build_args={**build_arguments(batch.settings), **build_args},
                network=build_network(batch.settings),
                on_line=log.line,
            )
        except LayerGoneError as error:
            # Whoever removes an image takes the layers with it that no other image stands on yet.
            if attempts == _ATTEMPTS:
                raise
            log.line(f"{error}: it was removed meanwhile, so this is built again")


def verified(spec: ImageSpec, answer: str) -> tuple[tuple[str, str], ...]:
    """The versions in an image's own answer to `--versions`.

    Raises `BuildError` where the answer is none, or is not what was asked for.
    """
    try:
        document = json.loads(answer)
        python, versions = str(document["python"]), dict(document["versions"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BuildError(f"asked for its versions, the image answered {answer[:100]!r}") from None
    wanted = spec.environment.python
    wrong = list(mismatches(expected_versions(spec), versions))
    if wanted and f"{python}.".split(".")[: wanted.count(".") + 1] != wanted.split("."):
        wrong.append(f"Python {wanted} was asked for, {python} is there (does build.base_image say {{python}}?)")
    if wrong:
        raise BuildError("; ".join(wrong))
    return tuple(sorted((str(name), str(version)) for name, version in versions.items()))


class _Log:
    """The log of a build, with secrets masked and its last lines in memory."""

    def __init__(self, path: Path, secret_texts: Sequence[str]) -> None:
        self._file = path.open("w", encoding="utf-8", errors="replace", buffering=1)
        self._secrets = secret_texts
        self.lines: deque[str] = deque(maxlen=_LINES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def line(self, text: str) -> None:
        """Write one line without the engine's colours. An empty line is dropped."""
        masked = redacted(_COLOUR.sub("", text).rstrip(), self._secrets)
        if masked:
            self.lines.append(masked)
            self._file.write(masked + "\n")
