"""From a bundle as it was carried to what is kept of it on this host: plan, matrix, models, datasets, and papers."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from orchestrator.bundles import layout
from orchestrator.bundles.loaded import Loaded, LoadedRecord, read_matrix, read_plan, register
from orchestrator.bundles.manifest import Image
from orchestrator.bundles.sources import read_whole
from orchestrator.bundles.verify import Opened, checked
from orchestrator.errors import InputError
from orchestrator.runtimes import GivenImage

KEPT = (layout.MATRIX, layout.PLAN, *(f"{folder}/" for folder in (
    layout.MODELS, layout.DATA, layout.SBOM, layout.PROVENANCE,
)))  # fmt: skip
"""Paths, and beginnings of paths."""
MAX_DOCUMENT_BYTES = 256 * 1024 * 1024
"""Of the plan, and of the matrix."""


def check_kept(bundle: Opened) -> None:
    """Read the files that would be kept, so that a bad one is found before anything is loaded; raises `InputError`."""
    for file in bundle.manifest.files:
        if file.path.startswith(KEPT):
            for _ in checked(bundle.source, file.path, file.sha256, lambda _: None):
                pass
    place = bundle.source.place
    read_plan(read_whole(bundle.source, layout.PLAN, MAX_DOCUMENT_BYTES), f"{place}/{layout.PLAN}")
    read_matrix(read_whole(bundle.source, layout.MATRIX, MAX_DOCUMENT_BYTES), f"{place}/{layout.MATRIX}")


def keep(bundles: Path, bundle: Opened, identity: Callable[[Image], str], loaded_at: str) -> Loaded:
    """Register a bundle whose images were loaded, with the ids that the engine gave them; raises as
    `loaded.register` does."""
    manifest = bundle.manifest
    listed = (*manifest.files, *manifest.left_out)
    record = LoadedRecord(
        name=manifest.name,
        manifest_sha256=bundle.manifest_sha256,
        loaded_at=loaded_at,
        images=tuple(GivenImage(image.name, image.reference, identity(image)) for image in manifest.images),
        files={file.path: file.sha256 for file in listed if file.path.startswith(KEPT)}
        | {layout.MANIFEST: bundle.manifest_sha256},
    )
    return register(bundles, record, lambda path: _opened(bundle, path))


def _opened(bundle: Opened, path: str) -> BinaryIO:
    base = bundle.manifest.base
    if path not in bundle.source.sizes and base is not None:
        raise InputError(
            f"{bundle.source.place}: {path} is in the bundle {base.name} that this one builds on: load that one first"
        )
    return bundle.source.open(path)
