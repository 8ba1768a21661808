"""The layers of each image that an engine lacks, and the bundles that hold them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.base import base_sources, missing_base_error
from orchestrator.bundles.format.manifest import Image, Layer
from orchestrator.bundles.format.sources import BundleSource
from orchestrator.bundles.read.receiver import Receiver
from orchestrator.bundles.read.verify import OpenedBundle
from orchestrator.engine import transfer
from orchestrator.errors import InputError


@dataclass(frozen=True, slots=True)
class Delivery:
    """One image, the layers that the engine lacks, and the bundles to read them from."""

    image: Image
    layers: tuple[Layer, ...]
    sources: tuple[BundleSource, ...]

    @property
    def unavailable(self) -> tuple[Layer, ...]:
        """The layers that none of the bundles holds."""
        return tuple(layer for layer in self.layers if source_of(layer, self.sources) is None)


def source_of(layer: Layer, sources: Collection[BundleSource]) -> BundleSource | None:
    """Return the first bundle that holds a layer."""
    return next((source for source in sources if layout.blob_path(layer.digest) in source.sizes), None)


def deliveries(bundle: OpenedBundle, place: Path, missing: Sequence[Image], receiver: Receiver) -> list[Delivery]:
    """Return the deliveries of missing images, in order. Raises `InputError` if they need a bundle that is not here."""
    known = _KnownLayers(bundle, missing, receiver)
    sources: tuple[BundleSource, ...] = (bundle.source,)
    result = []
    for image in missing:
        delivery = Delivery(image, known.absent(image), sources)
        if delivery.unavailable:
            sources = (bundle.source, *base_sources(bundle.manifest.base, place))
            delivery = replace(delivery, sources=sources)
        if delivery.unavailable and receiver.by_manifest:
            # Such an engine does not list its blobs, and may have these from the base.
            delivery = replace(
                delivery, layers=tuple(layer for layer in delivery.layers if layer not in delivery.unavailable)
            )
        if delivery.unavailable:
            raise base_is_missing(bundle, image)
        result.append(delivery)
        known.add(image)
    return result


class _KnownLayers:
    """The layers that an engine is known to have, as chains or as blobs of its images."""

    def __init__(self, bundle: OpenedBundle, missing: Sequence[Image], receiver: Receiver) -> None:
        self._by_manifest = receiver.by_manifest
        self._chains = set() if receiver.by_manifest else set(transfer.known_chains(receiver.client))
        self._blobs: set[str] = set()
        for image in bundle.manifest.images:
            if image not in missing:
                self.add(image)

    def absent(self, image: Image) -> tuple[Layer, ...]:
        """Return the layers of an image that the engine needs."""
        if self._by_manifest:
            return tuple(layer for layer in image.layers if layer.digest not in self._blobs)
        # Above an absent layer all are absent.
        chains = transfer.chain_ids([layer.diff_id for layer in image.layers])
        return tuple(layer for layer, chain in zip(image.layers, chains, strict=True) if chain not in self._chains)

    def add(self, image: Image) -> None:
        """Add the layers of an image that the engine has, or gets before the next one."""
        self._chains.update(transfer.chain_ids([layer.diff_id for layer in image.layers]))
        self._blobs.update(layer.digest for layer in image.layers)


def base_is_missing(bundle: OpenedBundle, image: Image) -> InputError:
    """Return the error of an image whose layers are in a bundle that is not here."""
    return missing_base_error(bundle.manifest.base, bundle.source.place, f"{image.name} builds on layers of")
