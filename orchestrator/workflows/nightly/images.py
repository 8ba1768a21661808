"""The removal of images that no later night needs."""

import contextlib

from orchestrator.bundles.read import registry
from orchestrator.engine import images as engine
from orchestrator.engine.client import connect
from orchestrator.errors import HostError
from orchestrator.images import labels
from orchestrator.images.surplus import given_up
from orchestrator.running import active_runs
from orchestrator.workflows.host.host import Host


def remove_images(references: tuple[str, ...], host: Host) -> tuple[str, ...]:
    """Remove images by reference, with environments that nothing else needs. Return the removed names."""
    if not references:
        return ()
    try:
        client = connect(host.environment)
        with contextlib.closing(client):
            needed = active_runs.images_in_use(host.cache).references
            bundles = registry.registered(host.bundles).values()
            of_bundles = frozenset(image.image_id for bundle in bundles for image in bundle.record.images)
            surplus = given_up(engine.labelled(client, labels.KIND), references, needed | of_bundles)
            return tuple(name for image in surplus for name in image.names if engine.remove(client, name))
    except HostError as error:
        host.say(f"images were left: {error}")
        return ()
