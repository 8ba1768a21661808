"""Cells in containers of images that are brought to this host, and never built on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import docker

from orchestrator.build_settings import BuildSettings
from orchestrator.devices.job_bounds import JobBounds
from orchestrator.domain import ImageSpec, Status
from orchestrator.engine import images as engine
from orchestrator.engine.client import needed_for
from orchestrator.engine.confinement import Limits
from orchestrator.engine.ownership import Owner
from orchestrator.events import BuildFinished, Listener
from orchestrator.images.making import cached
from orchestrator.processes import Stop
from orchestrator.runtimes.docker import BundledImage, DockerRuntime
from orchestrator.runtimes.model import Provided, Unavailable


@dataclass(frozen=True, slots=True)
class NotBrought:
    """The reason that an image did not come, in one line."""

    reason: str


Bring = Callable[[Sequence[str]], Mapping[str, BundledImage | NotBrought]]
"""Brings images by their names, and says of each what the engine has now."""


class BroughtRuntime(DockerRuntime):
    """The `docker` runtime with images from a registry or a bundle.

    An image that does not come leaves its cells `not_run`, since neither they nor their framework are to blame.
    """

    def __init__(  # noqa: PLR0913 - what every runtime of containers is given, and the bringing
        self, client: docker.DockerClient, bring: Bring, *, user: str, owner: Owner, limits: Limits | None = None,
        cache: Path | None = None, bounds: JobBounds | None = None,
    ) -> None:  # fmt: skip
        super().__init__(client, BuildSettings(), user=user, owner=owner, limits=limits, cache=cache, bounds=bounds)
        self._bring = bring

    @needed_for("bringing images")
    def provide(
        self, images: Sequence[ImageSpec], *, jobs: int, logs: Path, listener: Listener, stop: Stop
    ) -> Provided:
        """Bring the images that are missing. Raises `HostError` if the engine goes away afterwards."""
        del logs
        brought = self._bring([image.name for image in images])
        lacking = {
            name: Unavailable(name, Status.NOT_RUN, end.reason)
            for name, end in brought.items()
            if isinstance(end, NotBrought)
        }
        there = {name: end for name, end in brought.items() if not isinstance(end, NotBrought)}
        built = {
            name: cached(name, image.image_id, image.reference, engine.facts(self._client, image.image_id))
            for name, image in there.items()
        }
        for name in built:
            listener(BuildFinished(name, 0.0, cached=True))
        known = self._known([image for image in images if image.name in built], built, jobs, stop)
        return {**known, **lacking}
