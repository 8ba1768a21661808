"""Put a bundle's images on an engine: what it has not, as far as it is proven, and nothing where the bundle is bad."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import docker

from orchestrator.bundles import sending
from orchestrator.bundles.earlier import find_base
from orchestrator.bundles.manifest import Image
from orchestrator.bundles.saving import STOPPED, StoppedError
from orchestrator.bundles.sending import Parcel
from orchestrator.bundles.sources import Source
from orchestrator.bundles.verify import Opened, Progress, check_image
from orchestrator.engine import images as engine
from orchestrator.engine import transfer
from orchestrator.engine.transfer import TransferError
from orchestrator.errors import HostError, InputError
from orchestrator.images import labels
from orchestrator.processes import TICK_S, Stop


@dataclass(frozen=True, slots=True)
class Receiver:
    """The engine that images go to, and who is told on the way."""

    client: docker.DockerClient
    progress: Progress
    said: Callable[[str], None]
    stop: Stop


def load_images(bundle: Opened, place: Path, to: Receiver) -> list[Image]:
    """Bring every image of a bundle at `place` onto the engine, and return those that it had not.

    Raises `InputError` for a bundle that is bad or that lacks the one it builds on, and leaves nothing of it then;
    `HostError` where the engine refuses, and `StoppedError`: what is there by then stays, and the next load goes on.
    """
    images = bundle.manifest.images
    _refuse_foreign_names(to.client, images)
    missing = [image for image in images if not _is_there(to.client, image)]
    for image in missing:
        check_image(bundle, image)
    parcels = _parcels(bundle, place, missing, to.client) if missing else []
    begun: list[str] = []
    try:
        _send_all(bundle, parcels, to, begun)
    except InputError:
        for config in begun:
            engine.remove(to.client, config)
        raise
    for image in images:
        _name(to.client, image)
    return missing


def _is_there(client: docker.DockerClient, image: Image) -> bool:
    return engine.facts(client, image.config) is not None


def _refuse_foreign_names(client: docker.DockerClient, images: Sequence[Image]) -> None:
    """A bundle may rename images of ours, and no others."""
    tags = [tag for image in images for tag in image.tags]
    found = ((tag, engine.facts(client, tag)) for tag in tags)
    foreign = [tag for tag, facts in found if facts is not None and labels.KIND not in facts.labels]
    if foreign:
        raise HostError(
            "\n".join(f"{tag} is the name of an image that is none of ours; rename or remove it" for tag in foreign)
        )


def _parcels(bundle: Opened, place: Path, missing: Sequence[Image], client: docker.DockerClient) -> list[Parcel]:
    """What has to be sent, in order; raises `InputError` with the name of a bundle that is missing for it."""
    chains = set(transfer.known_chains(client))
    sources: tuple[Source, ...] = (bundle.source,)
    parcels = []
    for image in missing:
        parcel = Parcel(image, sending.absent(image, chains), sources)
        if parcel.lost:
            sources = (bundle.source, *_bases(bundle, place))
            parcel = replace(parcel, sources=sources)
        if parcel.lost:
            raise InputError(_base_is_missing(bundle, place, image))
        parcels.append(parcel)
        chains.update(transfer.chain_ids([layer.diff_id for layer in image.layers]))
    return parcels


def _bases(bundle: Opened, place: Path) -> Iterator[Source]:
    """The bundles that a delta builds on, as far as they lie beside it."""
    base = bundle.manifest.base
    while base is not None and (found := find_base(base, place)) is not None:
        if found.source is not None:
            yield found.source
        base = found.manifest.base


def _base_is_missing(bundle: Opened, place: Path, image: Image) -> str:
    base = bundle.manifest.base
    named = f"{base.name} (its manifest has the sum {base.manifest_sha256[:12]}…)" if base else "another one"
    return (
        f"{bundle.source.place}: {image.name} builds on layers of the bundle {named}, which this engine has not; "
        f"load that bundle first, or put it into {place.resolve().parent}"
    )


def _send_all(bundle: Opened, parcels: Sequence[Parcel], to: Receiver, begun: list[str]) -> None:
    """Send image after image, each while the engine unpacks the one before; `begun` gets the id of each."""
    under_way: list[_Sending] = []
    try:
        for parcel in parcels:
            before = under_way[-1] if under_way else None
            if before is not None:
                before.wait_until_sent(to.stop)
            to.said(f"loading {parcel.image.name}")
            begun.append(parcel.image.config)
            under_way.append(_Sending(bundle, parcel, to, before))
        if under_way:
            under_way[-1].wait_until_loaded(to.stop)
    except (InputError, HostError):
        # What the engine is still at comes to an end before anything is said or taken back.
        for one in under_way:
            one.join()
        raise


class _Sending:
    """One image on its way, in a thread of its own."""

    def __init__(self, bundle: Opened, parcel: Parcel, to: Receiver, before: "_Sending | None") -> None:
        self._bundle = bundle
        self._parcel = parcel
        self._to = to
        self._before = before
        self._sent = threading.Event()
        self._ended = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait_until_sent(self, stop: Stop) -> None:
        """Wait until all of it but its end is with the engine; raises what went wrong."""
        self._wait(self._sent, stop)

    def wait_until_loaded(self, stop: Stop) -> None:
        """Wait until the engine has taken it; raises what went wrong."""
        self._wait(self._ended, stop)

    def join(self) -> None:
        """Wait for the end of the thread, whatever it is."""
        self._thread.join()

    def _wait(self, event: threading.Event, stop: Stop) -> None:
        while not event.wait(TICK_S):
            if stop.is_set():
                raise StoppedError(STOPPED)
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._load(self._parcel)
            if not _is_there(self._to.client, self._parcel.image):
                raise HostError(
                    f"the engine took {self._parcel.image.name} and does not know it by its id; "
                    "engines with containerd's image store are not served yet"
                )
        except Exception as error:
            self._error = error
        finally:
            self._sent.set()
            self._ended.set()

    def _load(self, parcel: Parcel) -> None:
        try:
            transfer.load(self._to.client, self._pieces(parcel))
        except TransferError as error:
            whole = replace(parcel, layers=parcel.image.layers)
            if whole != parcel and not whole.lost:
                # What it had when it was asked may have been removed since: it gets everything.
                self._load(whole)
                return
            raise HostError(f"the engine did not take {parcel.image.name}: {error}") from error

    def _pieces(self, parcel: Parcel) -> Iterator[bytes]:
        for piece in sending.archive(self._bundle, parcel, self._to.progress, self._before_end):
            if self._to.stop.is_set():
                raise StoppedError(STOPPED)
            yield piece

    def _before_end(self) -> None:
        """An image may stand on layers of the one before: the engine must have taken that first."""
        self._sent.set()
        if self._before is not None:
            self._before.wait_until_loaded(self._to.stop)


def _name(client: docker.DockerClient, image: Image) -> None:
    for tag in image.tags:
        facts = engine.facts(client, tag)
        if facts is None or facts.image_id != image.config:
            if not _is_there(client, image):
                raise HostError(f"{image.name} has gone from the engine meanwhile; load the bundle again")
            engine.tag(client, image.config, tag)
