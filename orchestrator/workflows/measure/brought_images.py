"""Images that come to the node of a part, from a registry or from a bundle in a shared folder."""

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.bundles.format.sources import open_source
from orchestrator.bundles.format.streams import Meter, TransferStoppedError, stoppable
from orchestrator.bundles.read.load import load_images
from orchestrator.bundles.read.load_lock import one_load_at_a_time
from orchestrator.bundles.read.receiver import Receiver
from orchestrator.bundles.read.verify import open_bundle
from orchestrator.clusters.images import FrozenImage, FrozenImages
from orchestrator.clusters.site import ImagesFrom
from orchestrator.devices.job_bounds import job_bounds
from orchestrator.engine import images as engine
from orchestrator.engine import transfer
from orchestrator.engine.client import Client, connect, needed_for
from orchestrator.engine.registry_errors import NotInRegistryError
from orchestrator.errors import HostError, InputError, OrchestratorError
from orchestrator.images.registries.source import ImageSource, WantedImage, fetch, lacking
from orchestrator.runtimes import (
    STOPPED,
    BroughtRuntime,
    BundledImage,
    NotBrought,
    limits_of,
    remove_leftovers,
    this_process,
)
from orchestrator.wording import clean_line
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.runtime import Chosen

_Ends = dict[str, BundledImage | NotBrought]


def choose_brought(frozen: FrozenImages, host: Host) -> Chosen:
    """Return the runtime of a node that builds nothing.

    Raises `HostError` if no engine answers, or if it would ignore limits.
    """
    client = connect(host.environment)
    try:
        limits = limits_of(client, host.listener)
    except BaseException:
        client.close()
        raise
    user, owner = f"{os.getuid()}:{os.getgid()}", this_process()
    remove_leftovers(client, owner, host.listener)
    bounds = job_bounds(host.environment)

    def bring(names: Sequence[str]) -> _Ends:
        wanted = frozen.of(names).images
        if frozen.kind is ImagesFrom.BUNDLE:
            return _loaded(frozen, wanted, client, host)
        return _pulled(frozen, wanted, client, host)

    runtime = BroughtRuntime(client, bring, user=user, owner=owner, limits=limits, cache=host.cache, bounds=bounds)
    return Chosen(runtime, str(client.version().get("Version")), client.close)


def _pulled(frozen: FrozenImages, wanted: Sequence[FrozenImage], client: Client, host: Host) -> _Ends:
    """Pull images one after the other. A registry that does not answer for one is not asked for the next."""
    source = ImageSource(frozen.place, {image.reference: image.identity for image in wanted})
    ends: _Ends = {}
    for image in wanted:
        try:
            ends[image.name] = _pull(source, image, client, host)
        except (NotInRegistryError, InputError) as error:
            ends[image.name] = _reason(error)
        except (HostError, TransferStoppedError) as error:
            return {**{each.name: _reason(error) for each in wanted}, **ends}
    return ends


@needed_for("pulling images")
def _pull(source: ImageSource, image: FrozenImage, client: Client, host: Host) -> BundledImage:
    content = image.reference.rpartition("-")[2]
    missing = lacking(client, [WantedImage(image.name, image.reference, content)])
    if not fetch(client, source, missing, host.listener, host.stop):
        raise TransferStoppedError(STOPPED)
    facts = engine.facts(client, image.reference)
    if facts is None:
        raise HostError(f"{image.reference} was removed after it was pulled; try again")
    return BundledImage(image.name, image.reference, facts.image_id)


def _loaded(frozen: FrozenImages, wanted: Sequence[FrozenImage], client: Client, host: Host) -> _Ends:
    """Load the images that are missing, all of them or none. A bundle is not opened for images that are here."""
    try:
        with needed_for("loading images"):
            here = {image.name: _here(image, client) for image in wanted}
            missing = [image for image in wanted if here[image.name] is None]
            loaded = _load(frozen, missing, client, host) if missing else {}
    except (HostError, InputError, TransferStoppedError) as error:
        return {image.name: _reason(error) for image in wanted}
    return {**{name: image for name, image in here.items() if image}, **loaded}


def _here(image: FrozenImage, client: Client) -> BundledImage | None:
    """Return an image of a bundle that an earlier part has loaded, or None.

    An engine that identifies images by manifests asks the bundle, which lists them.
    """
    facts = engine.facts(client, image.reference)
    return (
        BundledImage(image.name, image.reference, facts.image_id)
        if facts and facts.image_id == image.identity
        else None
    )


def _load(frozen: FrozenImages, wanted: Sequence[FrozenImage], client: Client, host: Host) -> _Ends:
    place, references = Path(frozen.place), {image.reference for image in wanted}
    opened = open_bundle(open_source(place))
    if opened.manifest_sha256 != frozen.manifest_sha256:
        raise InputError(f"{place}: is another bundle than when this run began; bring that one back, or run anew")
    listed = tuple(image for image in opened.manifest.images if image.reference in references)
    # What the other images of the bundle would bring is not there, so the load may not count on it.
    own = replace(opened, manifest=opened.manifest.model_copy(update={"images": listed}))
    size_bytes = sum({layer.digest: layer.size_bytes for image in listed for layer in image.layers}.values())
    progress = stoppable(Meter(host.listener, "read", size_bytes), host.stop)
    receiver = Receiver(client, progress, host.say, host.stop, transfer.knows_by_manifest(client))
    with one_load_at_a_time(host.cache, platform.node(), frozen.manifest_sha256, host.say, host.stop):
        for image in load_images(own, place, receiver):
            host.say(f"loaded {image.name} from {place}")
    return {image.name: BundledImage(image.name, image.reference, receiver.identity(image)) for image in listed}


def _reason(error: OrchestratorError) -> NotBrought:
    """Return the reason that images did not come, in one line."""
    if isinstance(error, TransferStoppedError):
        return NotBrought(STOPPED)
    return NotBrought(clean_line("; ".join(str(error).splitlines())))
