"""Put a bundle's images on an engine: what it has not, as far as it is proven, and nothing where the bundle is bad."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import docker

from orchestrator.bundles import earlier, sending
from orchestrator.bundles.manifest import Image, Layer
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
    by_manifest: bool = False
    """Whether the engine knows images by their manifests (`transfer.knows_by_manifest`), not by configurations."""

    def identity(self, image: Image) -> str:
        """The id that the engine gives to an image."""
        return image.manifest if self.by_manifest else image.config

    def has(self, image: Image) -> bool:
        """Whether the image is there."""
        return engine.facts(self.client, self.identity(image)) is not None


def load_images(bundle: Opened, place: Path, to: Receiver) -> list[Image]:
    """Bring every image of a bundle at `place` onto the engine, and return those that it had not.

    Raises `InputError` for a bundle that is bad or that lacks the one it builds on, and leaves nothing of it then;
    `HostError` where the engine refuses, and `StoppedError`: what is there by then stays, and the next load goes on.
    """
    images = bundle.manifest.images
    _refuse_foreign_names(to.client, images)
    missing = [image for image in images if not to.has(image)]
    for image in missing:
        check_image(bundle, image)
    parcels = _parcels(bundle, place, missing, to) if missing else []
    begun: list[Image] = []
    try:
        _send_all(bundle, parcels, to, begun)
    except InputError:
        _take_back(to, begun)
        raise
    for image in images:
        _name(to, image)
    return missing


def _take_back(to: Receiver, begun: Sequence[Image]) -> None:
    """Remove what came of a bundle that turned out to be bad, with the one name that each has by then."""
    for image in begun:
        known = engine.facts(to.client, image.reference)
        if known is not None and known.image_id == to.identity(image):
            engine.remove(to.client, image.reference)
        engine.remove(to.client, to.identity(image))


def _refuse_foreign_names(client: docker.DockerClient, images: Sequence[Image]) -> None:
    """A bundle may rename images of ours, and no others."""
    tags = [tag for image in images for tag in image.tags]
    found = ((tag, engine.facts(client, tag)) for tag in tags)
    foreign = [tag for tag, facts in found if facts is not None and labels.KIND not in facts.labels]
    if foreign:
        raise HostError(
            "\n".join(f"{tag} is the name of an image that is none of ours; rename or remove it" for tag in foreign)
        )


def _parcels(bundle: Opened, place: Path, missing: Sequence[Image], to: Receiver) -> list[Parcel]:
    """What has to be sent, in order; raises `InputError` with the name of a bundle that is missing for it."""
    known = _Known(bundle, missing, to)
    sources: tuple[Source, ...] = (bundle.source,)
    parcels = []
    for image in missing:
        parcel = Parcel(image, known.absent(image), sources)
        if parcel.lost:
            sources = (bundle.source, *earlier.sources_beside(bundle.manifest.base, place))
            parcel = replace(parcel, sources=sources)
        if parcel.lost and to.by_manifest:
            # Such an engine does not tell which blobs it has: it may have these from the bundle that this builds on.
            parcel = replace(parcel, layers=tuple(layer for layer in parcel.layers if layer not in parcel.lost))
        if parcel.lost:
            raise _base_is_missing(bundle, image)
        parcels.append(parcel)
        known.add(image)
    return parcels


class _Known:
    """What an engine has of layers, as far as it tells: chains of them, or the blobs of images that it has."""

    def __init__(self, bundle: Opened, missing: Sequence[Image], to: Receiver) -> None:
        self._by_manifest = to.by_manifest
        self._chains = set() if to.by_manifest else set(transfer.known_chains(to.client))
        self._blobs: set[str] = set()
        for image in bundle.manifest.images:
            if image not in missing:
                self.add(image)

    def absent(self, image: Image) -> tuple[Layer, ...]:
        """The layers of an image that it has to be sent."""
        if self._by_manifest:
            return tuple(layer for layer in image.layers if layer.digest not in self._blobs)
        return sending.absent(image, self._chains)

    def add(self, image: Image) -> None:
        """Remember that it has an image, or will have it by then."""
        self._chains.update(transfer.chain_ids([layer.diff_id for layer in image.layers]))
        self._blobs.update(layer.digest for layer in image.layers)


def _base_is_missing(bundle: Opened, image: Image) -> InputError:
    return earlier.missing(bundle.manifest.base, bundle.source.place, f"{image.name} builds on layers of")


def _send_all(bundle: Opened, parcels: Sequence[Parcel], to: Receiver, begun: list[Image]) -> None:
    """Send image after image, each while the engine unpacks the one before; `begun` gets each."""
    under_way: list[_Sending] = []
    try:
        for parcel in parcels:
            before = under_way[-1] if under_way else None
            if before is not None:
                before.wait_until_sent(to.stop)
            to.said(f"loading {parcel.image.name}")
            begun.append(parcel.image)
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
            image = self._parcel.image
            self._load(self._parcel)
            if not self._to.has(image):
                raise HostError(
                    f"the engine took {image.name} and does not know it by its id {self._to.identity(image)}"
                )
            if engine.facts(self._to.client, image.reference) is None:
                # At once, so that an interrupted load leaves nothing without a name; the others it gets with the rest.
                engine.tag(self._to.client, self._to.identity(image), image.reference)
        except Exception as error:
            self._error = error
        finally:
            self._sent.set()
            self._ended.set()

    def _load(self, parcel: Parcel) -> None:
        try:
            transfer.load(self._to.client, self._pieces(parcel))
        except TransferError as error:
            if self._to.by_manifest:
                # It keeps the name of an image that it could not unpack.
                engine.remove(self._to.client, self._to.identity(parcel.image))
            whole = replace(parcel, layers=parcel.image.layers)
            if whole != parcel and whole.lost and self._to.by_manifest:
                raise _base_is_missing(self._bundle, parcel.image) from error
            if whole != parcel and not whole.lost:
                # What it had when it was asked may have been removed since: it gets everything.
                self._load(whole)
                return
            raise HostError(f"the engine did not take {parcel.image.name}: {error}") from error

    def _pieces(self, parcel: Parcel) -> Iterator[bytes]:
        form = sending.layout_archive if self._to.by_manifest else sending.archive
        for piece in form(self._bundle, parcel, self._to.progress, self._before_end):
            if self._to.stop.is_set():
                raise StoppedError(STOPPED)
            yield piece

    def _before_end(self) -> None:
        """An image may stand on layers of the one before: the engine must have taken that first."""
        self._sent.set()
        if self._before is not None:
            self._before.wait_until_loaded(self._to.stop)


def _name(to: Receiver, image: Image) -> None:
    for tag in image.tags:
        facts = engine.facts(to.client, tag)
        if facts is None or facts.image_id != to.identity(image):
            if not to.has(image):
                raise HostError(f"{image.name} has gone from the engine meanwhile; load the bundle again")
            engine.tag(to.client, to.identity(image), tag)
