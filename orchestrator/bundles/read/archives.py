"""Archives of a bundle's images for engines, written into the stream that sends them."""

import json
import tarfile
from collections.abc import Callable, Iterator

from orchestrator.bundles.format import layout, oci
from orchestrator.bundles.format.manifest import Layer
from orchestrator.bundles.format.streams import Progress
from orchestrator.bundles.read.deliveries import Delivery, source_of
from orchestrator.bundles.read.verify import OpenedBundle, config_of, manifest_of, packed_layer, unpacked_layer

_BLOCK = 512
_END = bytes(2 * _BLOCK)


def docker_archive(
    bundle: OpenedBundle, delivery: Delivery, progress: Progress, before_end: Callable[[], None]
) -> Iterator[bytes]:
    """Give a docker-archive of one image without tags, with the contents of those layers that the engine lacks.

    The manifest comes last, because an engine takes nothing without it. By then every layer is verified, and
    `before_end` has returned. Raises `InputError` as `unpacked_layer` does.
    Source: Docker image specification 1.2, combined image JSON and filesystem changeset format.
    """
    image = delivery.image
    sent: set[str] = set()
    for layer in delivery.layers:
        source = source_of(layer, delivery.sources)
        if source is not None and layer.diff_id not in sent:
            sent.add(layer.diff_id)
            yield _header(_layer_name(layer), layer.uncompressed_bytes)
            yield from unpacked_layer(source, layer, progress)
            yield _padding(layer.uncompressed_bytes)
    config_name = f"{image.config.removeprefix('sha256:')}.json"
    names = [_layer_name(layer) for layer in image.layers]
    yield _file(config_name, config_of(bundle, image))
    manifest = json.dumps([{"Config": config_name, "RepoTags": None, "Layers": names}])
    before_end()
    yield _file("manifest.json", manifest.encode())
    yield _END


def oci_archive(
    bundle: OpenedBundle, delivery: Delivery, progress: Progress, before_end: Callable[[], None]
) -> Iterator[bytes]:
    """Give an OCI layout of one image without tags, with the blobs of the bundle.

    The index comes last, like the manifest in `docker_archive`. Raises `InputError` as `packed_layer` does.
    """
    image = delivery.image
    for layer in dict.fromkeys(delivery.layers):
        source = source_of(layer, delivery.sources)
        if source is not None:
            yield _header(_blob_name(layer.digest), layer.size_bytes)
            yield from packed_layer(source, layer, progress)
            yield _padding(layer.size_bytes)
    manifest = manifest_of(bundle, image)
    yield _file(_blob_name(image.config), config_of(bundle, image))
    yield _file(_blob_name(image.manifest), manifest)
    yield _file("oci-layout", oci.LAYOUT)
    before_end()
    yield _file("index.json", oci.index_without_names(image, len(manifest)))
    yield _END


def _layer_name(layer: Layer) -> str:
    return f"{layer.diff_id.removeprefix('sha256:')}/layer.tar"


def _blob_name(digest: str) -> str:
    return layout.blob_path(digest).removeprefix(f"{layout.IMAGES}/")


def _file(name: str, content: bytes) -> bytes:
    return _header(name, len(content)) + content + _padding(len(content))


def _header(name: str, size: int) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size = size
    return entry.tobuf(tarfile.GNU_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)
