"""The images of ours that nothing needs any more, and those that this host may not be able to make again."""

import contextlib
from collections.abc import Collection
from pathlib import Path

from orchestrator.bundles.read import registry
from orchestrator.engine.client import connect
from orchestrator.errors import HostError
from orchestrator.images.surplus import given_up, labelled_images, removed_names
from orchestrator.running import active_runs
from orchestrator.workflows.host.host import Host

OWN_IMAGE_VARIABLE = "ORCHESTRATOR_OWN_IMAGE"
"""Names the image that this very program runs from. `images/orchestrator/orchestrator.sh` sets it."""


def irreplaceable_images(host: Host) -> frozenset[str]:
    """Return the images of loaded bundles, and the one that this very program runs from."""
    bundles = registry.registered(host.bundles).values()
    own = host.environment.get(OWN_IMAGE_VARIABLE)
    return frozenset(image.image_id for bundle in bundles for image in bundle.record.images) | ({own} if own else set())


def remove_images(
    references: Collection[str], host: Host, run: Path | None = None, needed: Collection[str] = ()
) -> tuple[str, ...]:
    """Remove images by reference, with environments that nothing else needs. Return the removed names.

    What other runs use stays, and so does what `needed` names of the run in the folder `run` itself.
    """
    if not references:
        return ()
    try:
        client = connect(host.environment)
        with contextlib.closing(client):
            others = active_runs.images_in_use(host.cache, without=run).references
            in_use = others | irreplaceable_images(host) | frozenset(needed)
            surplus = given_up(labelled_images(client), references, in_use)
            return tuple(name for image in surplus for name in removed_names(client, image))
    except HostError as error:
        host.say(f"images were left: {error}")
        return ()
