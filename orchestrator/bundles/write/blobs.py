"""The blobs of a bundle, named after their contents, with every layer compressed once."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.compression import compressor, decompressed
from orchestrator.bundles.format.engine_archive import diff_ids
from orchestrator.bundles.format.manifest import Layer
from orchestrator.bundles.format.streams import Progress
from orchestrator.bundles.write import output_folder

_PART = ".part"


class Blobs:
    """The blobs below `images/blobs/sha256` of a folder, and a state file that says which layer each blob holds.

    `base_layers` are in the bundle that this one builds on, so they are not written. Whole blobs of an interrupted
    export are used again. `paths` are the places of layers in archives of earlier exports.
    """

    def __init__(
        self,
        folder: Path,
        base_layers: Mapping[str, Layer],
        progress: Progress,
        paths: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._progress = progress
        self._base_layers = dict(base_layers)
        self._own: dict[str, Layer] = {}
        self._paths: dict[str, str] = {}
        self.written: dict[str, int] = {}
        """Size in bytes of every blob of this bundle, by digest."""
        (folder / layout.BLOBS).mkdir(parents=True, exist_ok=True)
        state = output_folder.read_state(folder)
        for layer in state.layers if state else ():
            if layer.diff_id not in self._base_layers and _is_whole(folder / layout.blob_path(layer.digest), layer):
                self._add_layer(layer)
        known = {**(paths or {}), **(state.paths if state else {})}
        self._paths = {path: diff_id for path, diff_id in known.items() if diff_id in self.layers}
        self._write_state()

    @property
    def layers(self) -> dict[str, Layer]:
        """Every known layer by its diff id."""
        return self._base_layers | self._own

    @property
    def own(self) -> Iterable[Layer]:
        """The layers with blobs in this folder."""
        return self._own.values()

    @property
    def paths(self) -> Mapping[str, str]:
        """The diff ids of known layers by their paths in the engine's archives."""
        return self._paths

    def known(self, path: str) -> str | None:
        """Return the diff id of the layer that earlier archives had at this path."""
        return self._paths.get(path)

    def take(self, path: str, head: bytes, rest: BinaryIO) -> str:
        """Compress a layer into a blob and return its diff id. Raises `ArchiveError` if it cannot be read."""
        part = self._folder / layout.BLOBS / _PART
        plain_sum, blob_sum = hashlib.sha256(), hashlib.sha256()
        plain_bytes = 0
        compressing = compressor()
        with part.open("wb") as file:

            def put(compressed: bytes) -> None:
                blob_sum.update(compressed)
                file.write(compressed)

            for data in decompressed(head, rest):
                plain_sum.update(data)
                plain_bytes += len(data)
                put(compressing.compress(data))
                self._progress(len(data))
            put(compressing.flush())
            size_bytes = file.tell()
        diff_id, digest = f"sha256:{plain_sum.hexdigest()}", f"sha256:{blob_sum.hexdigest()}"
        self._paths[path] = diff_id
        if diff_id in self.layers:
            part.unlink()
            return diff_id
        part.replace(self._folder / layout.blob_path(digest))
        self._add_layer(Layer(digest=digest, diff_id=diff_id, size_bytes=size_bytes, uncompressed_bytes=plain_bytes))
        self._write_state()
        return diff_id

    def add(self, content: bytes) -> str:
        """Write a small blob uncompressed and return its digest."""
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        (self._folder / layout.blob_path(digest)).write_bytes(content)
        self.written[digest] = len(content)
        return digest

    def offer(self, content: bytes) -> None:
        """Write a configuration from another bundle, which stays if an image needs it."""
        name = hashlib.sha256(content).hexdigest()
        (self._folder / layout.BLOBS / name).write_bytes(content)

    def has_config(self, digest: str, layers: Sequence[str]) -> bool:
        """Return true if the configuration of an image with these layers (diff ids) is here.

        The digest may be that of a manifest, by which some engines identify images.
        """
        try:
            content = (self._folder / layout.blob_path(digest)).read_bytes()
            listed = diff_ids(content)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return False
        return listed == tuple(layers) and f"sha256:{hashlib.sha256(content).hexdigest()}" == digest

    def config(self, digest: str) -> tuple[tuple[str, ...], int]:
        """Make a configuration part of the bundle, and return its layers and its size in bytes."""
        content = (self._folder / layout.blob_path(digest)).read_bytes()
        self.written[digest] = len(content)
        return diff_ids(content), len(content)

    def remove_others(self, layers: Iterable[Layer]) -> None:
        """Remove the blobs of an earlier export that are neither these layers nor written by `add`."""
        digests = {layer.digest for layer in layers}
        for layer in [layer for layer in self._own.values() if layer.digest not in digests]:
            del self._own[layer.diff_id]
            del self.written[layer.digest]
        names = {digest.removeprefix("sha256:") for digest in self.written}
        for path in (self._folder / layout.BLOBS).iterdir():
            if path.name not in names:
                path.unlink()

    def _add_layer(self, layer: Layer) -> None:
        self._own[layer.diff_id] = layer
        self.written[layer.digest] = layer.size_bytes

    def _write_state(self) -> None:
        output_folder.write_state(self._folder, self.own, self._paths, only_images=True)


def _is_whole(path: Path, layer: Layer) -> bool:
    """Return true if an earlier blob is complete. A loss of power may have cut it."""
    try:
        if path.stat().st_size != layer.size_bytes:
            return False
        with path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}" == layer.digest
    except OSError:
        return False
