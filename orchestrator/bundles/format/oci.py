"""The OCI layout of a bundle's images.

Source: OCI image specification 1.0, image layout and manifest.
"""

import json
from collections.abc import Sequence
from typing import Any

from orchestrator.bundles.format.manifest import Image, Layer

LAYOUT = json.dumps({"imageLayoutVersion": "1.0.0"}).encode()
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_INDEX = "application/vnd.oci.image.index.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar+zstd"
_NAME = "org.opencontainers.image.ref.name"
_CONTAINERD_NAME = "io.containerd.image.name"


def image_manifest(config: str, config_bytes: int, layers: Sequence[Layer]) -> bytes:
    """Return the manifest of one image."""
    return _encoded({
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": {"mediaType": _CONFIG, "digest": config, "size": config_bytes},
        "layers": [{"mediaType": _LAYER, "digest": layer.digest, "size": layer.size_bytes} for layer in layers],
    })  # fmt: skip


def index(images: Sequence[Image], manifest_bytes: Sequence[int]) -> bytes:
    """Return `index.json`, which lists every image under each of its tags."""
    return _index([
        _entry(image, size) | {"annotations": {_CONTAINERD_NAME: tag, _NAME: tag}}
        for image, size in zip(images, manifest_bytes, strict=True)
        for tag in image.tags
    ])  # fmt: skip


def index_without_names(image: Image, manifest_bytes: int) -> bytes:
    """Return `index.json` of one image that gets its tags later."""
    return _index([_entry(image, manifest_bytes)])


def _entry(image: Image, manifest_bytes: int) -> dict[str, Any]:
    return {"mediaType": _MANIFEST, "digest": image.manifest, "size": manifest_bytes}


def _index(entries: Sequence[dict[str, Any]]) -> bytes:
    return _encoded({"schemaVersion": 2, "mediaType": _INDEX, "manifests": list(entries)})


def _encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
