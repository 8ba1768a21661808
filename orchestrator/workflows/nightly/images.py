"""The removal of images that no later night needs."""

import contextlib

from orchestrator.engine import images as engine
from orchestrator.engine.client import connect
from orchestrator.errors import HostError
from orchestrator.images import labels
from orchestrator.images.surplus import given_up
from orchestrator.running import active_runs
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.irreplaceable import irreplaceable_images


def remove_images(references: tuple[str, ...], host: Host) -> tuple[str, ...]:
    """Remove images by reference, with environments that nothing else needs. Return the removed names."""
    if not references:
        return ()
    try:
        client = connect(host.environment)
        with contextlib.closing(client):
            in_use = active_runs.images_in_use(host.cache).references | irreplaceable_images(host)
            surplus = given_up(engine.labelled(client, labels.KIND), references, in_use)
            return tuple(name for image in surplus for name in image.names if engine.remove(client, name))
    except HostError as error:
        host.say(f"images were left: {error}")
        return ()
