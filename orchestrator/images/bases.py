"""Base images, each looked up or fetched once and known by its digest afterwards."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import docker

from orchestrator.engine import images as engine
from orchestrator.engine.images import BuildError
from orchestrator.events import Listener, ignore, transferred
from orchestrator.images.cuda_images import is_deleted
from orchestrator.images.recipe import Recipe


class Bases:
    """Base images of one batch of builds, which several workers share."""

    def __init__(self, client: docker.DockerClient, stopped: Callable[[], bool], listener: Listener = ignore) -> None:
        self._client = client
        self._stopped = stopped
        self._listener = listener
        self._guard = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._known: dict[str, str | BuildError] = {}

    def digest(self, reference: str) -> str:
        """Return `name@sha256:…` of an image on the engine, or its id if it came from no registry.

        Raises `BuildError` where it is neither here nor to be had; the registry is asked once, whoever asks again.
        """
        with self._guard:
            lock = self._locks.setdefault(reference, threading.Lock())
        with lock:
            if reference not in self._known:
                self._known[reference] = self._resolve(reference)
            base = self._known[reference]
        if isinstance(base, BuildError):
            raise base
        return base

    def _resolve(self, reference: str) -> str | BuildError:
        try:
            told = transferred(f"pulling {reference}", self._listener)
            engine.pull(self._client, reference, stopped=self._stopped, fetched=told)
            base = engine.facts(self._client, reference)
        except BuildError as error:
            return BuildError(unresolved(reference, str(error)))
        return base.digest if base else BuildError(unresolved(reference, "it was removed meanwhile"))


def base_problems(client: docker.DockerClient, wanted: Sequence[Recipe]) -> tuple[str, ...]:
    """Return a line for each base image that cannot be obtained. Nothing is fetched to find out."""
    references = dict.fromkeys(reference for recipe in wanted for reference in recipe.bases)
    with ThreadPoolExecutor(max_workers=8) as pool:
        reasons = pool.map(lambda reference: engine.unavailable(client, reference), references)
        return tuple(unresolved(name, reason) for name, reason in zip(references, reasons, strict=True) if reason)


def unresolved(reference: str, reason: str) -> str:
    """The sentence for a base image that is not to be had."""
    remedy = "set build.base_image or build.registry, or load the image"
    if is_deleted(reference):
        remedy = "NVIDIA has deleted it: name a copy of yours in build.cuda_images, or load the image"
    return f"base image {reference} is not on this engine and cannot be pulled: {reason.rstrip('.')}; {remedy}"
