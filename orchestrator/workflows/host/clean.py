"""The removal of images, environments and caches that can be made again. Results are never touched."""

import contextlib
from dataclasses import dataclass

from orchestrator.engine.client import Client, connect
from orchestrator.errors import HostError
from orchestrator.images.surplus import Surplus, labelled_images, remove_stale_steps, removed_names
from orchestrator.images.surplus import surplus as surplus_images
from orchestrator.running import active_runs
from orchestrator.runtimes import cache_contents
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.images import irreplaceable_images
from orchestrator.workflows.host.node_caches import own_caches


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanOptions:
    """The options of `clean`."""

    keep_last: int = option_values.KEEP_LAST
    """Newest contents to keep of each image."""
    remove: bool = False
    """Remove the surplus. Without it, it is only listed."""


@dataclass(frozen=True, slots=True)
class SurplusItem:
    """An image, an environment or a cache that can be made again."""

    kind: str
    name: str
    created: str
    """UTC, ISO 8601."""
    frees_bytes: int
    removed: bool | None = None
    """None if nothing was to be removed. False if it is in use and stays."""


@dataclass(frozen=True, slots=True)
class CleanResult:
    """The surplus on a host, and what became of it."""

    surplus: tuple[SurplusItem, ...]
    engine_problem: str
    """The reason that no images were looked at."""


def clean(options: CleanOptions, host: Host) -> CleanResult:
    """List what of ours takes disk and can be made again, and remove it if that is asked for.

    Jobs on a cluster have caches of their own, of which only that of this node is looked at.

    Raises `HostError` while another process is building what it will need.

    Example: `clean(CleanOptions(keep_last=2), this_host()).surplus`
    """
    folders = (host.cache, *own_caches(host))
    active = [active_runs.images_in_use(folder) for folder in folders]
    references = frozenset[str]().union(*(each.references for each in active))
    # What runs now may have been built a moment ago: the newest of everything stays then.
    keep = max(options.keep_last, 1) if any(each.workers for each in active) else options.keep_last
    caches = [each for folder in folders for each in cache_contents.surplus(folder, keep, references)]
    items: list[SurplusItem] = []
    problem = ""
    try:
        client = connect(host.environment)
    except HostError as error:
        problem = str(error)
    else:
        with contextlib.closing(client):
            in_use = references | irreplaceable_images(host)
            surplus = surplus_images(labelled_images(client), keep, in_use)
            items = [_removed_image(client, image) if options.remove else _item(image) for image in surplus]
            if options.remove:
                remove_stale_steps(client)
    items += [
        SurplusItem(
            each.kind, each.name, each.created, each.size_bytes, cache_contents.remove(each) if options.remove else None
        )
        for each in caches
    ]
    return CleanResult(tuple(items), problem)


def _item(image: Surplus, removed: bool | None = None) -> SurplusItem:
    return SurplusItem(image.kind, ", ".join(image.names), image.created[:19] + "Z", image.frees_bytes, removed)


def _removed_image(client: Client, image: Surplus) -> SurplusItem:
    """Remove all names of an image. One that a container still uses stays under the names that are left."""
    return _item(image, removed_names(client, image) == tuple(image.names))
