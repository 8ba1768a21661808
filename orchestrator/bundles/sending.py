"""Images of a bundle as archives that engines read, made as they are sent: none is written to a disk here."""

import json
import tarfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from orchestrator.bundles import layout, oci
from orchestrator.bundles.manifest import Image, Layer
from orchestrator.bundles.sources import Source
from orchestrator.bundles.verify import Opened, Progress, config_of, manifest_of, packed, unpacked
from orchestrator.engine.transfer import chain_ids

_BLOCK = 512
_END = bytes(2 * _BLOCK)


@dataclass(frozen=True, slots=True)
class Parcel:
    """One image, which of its layers the engine has not, and the bundles that they are read from."""

    image: Image
    layers: tuple[Layer, ...]
    sources: tuple[Source, ...]

    @property
    def lost(self) -> tuple[Layer, ...]:
        """Layers that none of the bundles holds."""
        return tuple(layer for layer in self.layers if source_of(layer, self.sources) is None)


def absent(image: Image, chains: Collection[str]) -> tuple[Layer, ...]:
    """The layers of an image that an engine with these chains needs: with a layer, all above it."""
    named = zip(image.layers, chain_ids([layer.diff_id for layer in image.layers]), strict=True)
    return tuple(layer for layer, chain in named if chain not in chains)


def archive(bundle: Opened, parcel: Parcel, progress: Progress, before_end: Callable[[], None]) -> Iterator[bytes]:
    """A docker-archive of one image without names, in which the layers that the engine has are only named.

    Its manifest, without which an engine takes nothing, comes last: after every layer was found to be what it should
    be, and after `before_end` has returned. Raises `InputError` as `unpacked` does.
    Source: Docker image specification 1.2, combined image JSON and filesystem changeset format.
    """
    image = parcel.image
    sent: set[str] = set()
    for layer in parcel.layers:
        source = source_of(layer, parcel.sources)
        if source is not None and layer.diff_id not in sent:
            sent.add(layer.diff_id)
            yield _header(_layer_name(layer), layer.uncompressed_bytes)
            yield from unpacked(source, layer, progress)
            yield _padding(layer.uncompressed_bytes)
    config_name = f"{image.config.removeprefix('sha256:')}.json"
    names = [_layer_name(layer) for layer in image.layers]
    yield _file(config_name, config_of(bundle, image))
    manifest = json.dumps([{"Config": config_name, "RepoTags": None, "Layers": names}])
    before_end()
    yield _file("manifest.json", manifest.encode())
    yield _END


def layout_archive(
    bundle: Opened, parcel: Parcel, progress: Progress, before_end: Callable[[], None]
) -> Iterator[bytes]:
    """An OCI layout of one image without names, its blobs as they lie in the bundle, for engines that keep such.

    Its index, without which an engine takes nothing, comes last, as the manifest does in `archive`.
    Raises `InputError` as `packed` does.
    """
    image = parcel.image
    for layer in dict.fromkeys(parcel.layers):
        source = source_of(layer, parcel.sources)
        if source is not None:
            yield _header(_blob_name(layer.digest), layer.size_bytes)
            yield from packed(source, layer, progress)
            yield _padding(layer.size_bytes)
    manifest = manifest_of(bundle, image)
    yield _file(_blob_name(image.config), config_of(bundle, image))
    yield _file(_blob_name(image.manifest), manifest)
    yield _file("oci-layout", oci.LAYOUT)
    before_end()
    yield _file("index.json", oci.index_without_names(image, len(manifest)))
    yield _END


def source_of(layer: Layer, sources: Collection[Source]) -> Source | None:
    """Which of several bundles holds a layer."""
    return next((source for source in sources if layout.blob(layer.digest) in source.sizes), None)


def _layer_name(layer: Layer) -> str:
    return f"{layer.diff_id.removeprefix('sha256:')}/layer.tar"


def _blob_name(digest: str) -> str:
    return layout.blob(digest).removeprefix(f"{layout.IMAGES}/")


def _file(name: str, content: bytes) -> bytes:
    return _header(name, len(content)) + content + _padding(len(content))


def _header(name: str, size: int) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size = size
    return entry.tobuf(tarfile.GNU_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)
