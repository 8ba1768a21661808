"""The images on an engine that this host may not be able to make again."""

from orchestrator.bundles.read import registry
from orchestrator.workflows.host.host import Host

OWN_IMAGE_VARIABLE = "ORCHESTRATOR_OWN_IMAGE"
"""Names the image that this very program runs from. `images/orchestrator/orchestrator.sh` sets it."""


def irreplaceable_images(host: Host) -> frozenset[str]:
    """Return the images of loaded bundles, and the one that this very program runs from."""
    bundles = registry.registered(host.bundles).values()
    own = host.environment.get(OWN_IMAGE_VARIABLE)
    return frozenset(image.image_id for bundle in bundles for image in bundle.record.images) | ({own} if own else set())
