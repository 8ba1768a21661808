"""The removal of images of ours that nothing needs any more."""

import contextlib
from collections.abc import Collection
from pathlib import Path

from orchestrator.engine.client import connect
from orchestrator.errors import HostError
from orchestrator.images.surplus import given_up, labelled_images, removed_names
from orchestrator.running import active_runs
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.irreplaceable import irreplaceable_images


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
