"""The images of a bundle, loaded onto an engine."""

from collections.abc import Sequence
from pathlib import Path

import docker

from orchestrator.bundles.format.manifest import Image
from orchestrator.bundles.read.deliveries import Delivery, deliveries
from orchestrator.bundles.read.receiver import Receiver
from orchestrator.bundles.read.transmission import send_all
from orchestrator.bundles.read.verify import OpenedBundle, check_image
from orchestrator.engine import images as engine
from orchestrator.errors import HostError, InputError
from orchestrator.images import labels


def load_images(bundle: OpenedBundle, place: Path, receiver: Receiver) -> list[Image]:
    """Load the images of a bundle at `place`, and return those that the engine lacked.

    Raises `InputError` for a damaged bundle or a missing base, and leaves nothing of the bundle on the engine.
    Raises `HostError` if the engine refuses, and `TransferStoppedError`. Then loaded images stay, and the next load
    continues.
    """
    images = bundle.manifest.images
    _refuse_foreign_names(receiver.client, images)
    missing = [image for image in images if not receiver.has(image)]
    for image in missing:
        check_image(bundle, image)
    pending = deliveries(bundle, place, missing, receiver) if missing else []
    begun: list[Delivery] = []
    try:
        send_all(bundle, pending, receiver, begun)
    except InputError:
        _take_back(receiver, [delivery.image for delivery in begun])
        raise
    for image in images:
        _add_tags(receiver, image)
    return missing


def _take_back(receiver: Receiver, images: Sequence[Image]) -> None:
    """Remove images of a damaged bundle, each with the one tag that it has so far."""
    for image in images:
        if receiver.id_of(image.reference) == receiver.identity(image):
            receiver.remove(image.reference)
        receiver.remove(receiver.identity(image))


def _refuse_foreign_names(client: docker.DockerClient, images: Sequence[Image]) -> None:
    """Raise `HostError` if a tag belongs to an image that is not ours."""
    tags = [tag for image in images for tag in image.tags]
    present = ((tag, engine.facts(client, tag)) for tag in tags)
    foreign = [tag for tag, facts in present if facts is not None and labels.KIND not in facts.labels]
    if foreign:
        raise HostError(
            "\n".join(f"{tag} is the name of an image that is none of ours; rename or remove it" for tag in foreign)
        )


def _add_tags(receiver: Receiver, image: Image) -> None:
    for tag in image.tags:
        if receiver.id_of(tag) != receiver.identity(image):
            if not receiver.has(image):
                raise HostError(f"{image.name} has gone from the engine meanwhile; load the bundle again")
            receiver.tag(image, tag)
