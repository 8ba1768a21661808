"""Images that come from a registry before a run begins."""

from collections.abc import Iterable, Sequence

from orchestrator import images
from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.format.streams import STOPPED, TransferStoppedError
from orchestrator.domain import ImageSpec
from orchestrator.engine.client import Client, needed_for
from orchestrator.images.registries.source import ImageSource, WantedImage, fetch, lacking, wanted_by
from orchestrator.runtimes import BundledImage
from orchestrator.workflows.host.host import Host


def of_matrix(client: Client, specs: Sequence[ImageSpec], settings: BuildSettings) -> tuple[WantedImage, ...]:
    """Return the images of a matrix, each with its content."""
    return wanted_by(images.recipes(specs, settings, architecture=str(client.version().get("Arch", "amd64"))))


def of_bundle(bundled: Iterable[BundledImage]) -> tuple[WantedImage, ...]:
    """Return the images of a bundle, each with its content and its id."""
    return tuple(
        WantedImage(image.name, image.reference, image.reference.rpartition("-")[2], image.image_id)
        for image in bundled
    )


@needed_for("pulling images")
def pull_missing(client: Client, source: ImageSource, wanted: Iterable[WantedImage], host: Host) -> None:
    """Pull the images that the engine lacks. Raises as `fetch` does, and `TransferStoppedError`."""
    if not fetch(client, source, lacking(client, wanted), host.listener, host.stop):
        raise TransferStoppedError(STOPPED)
