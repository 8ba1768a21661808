"""The export of a bundle. Images come first, then every other part, and the manifest last."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import requests

from orchestrator import __version__
from orchestrator.bundles.format import layout
from orchestrator.bundles.format.manifest import File, Manifest
from orchestrator.bundles.format.sources import FolderSource
from orchestrator.bundles.format.streams import STOPPED, TransferStoppedError
from orchestrator.bundles.write import output_folder
from orchestrator.bundles.write.images import write_images
from orchestrator.bundles.write.request import Export, Part
from orchestrator.engine.client import is_lost
from orchestrator.errors import HostError, InputError, remedy
from orchestrator.results.writing import write_atomically

OMITTED_FROM_DELTAS = (f"{layout.WHEELS}/", f"{layout.DATA}/", f"{layout.SCRIPTS}/", layout.OWN_IMAGE)
"""Files besides layers that a delta leaves out if its base has them."""


def write(export: Export, parts: Sequence[Part]) -> Manifest:
    """Write the bundle and return its manifest.

    The folder may hold an interrupted export, which is continued, or a bundle, which is replaced. Raises `InputError`
    if it holds anything else, which stays as it is, `HostError`, and `TransferStoppedError`.
    """
    _refuse_own_data(export)
    try:
        output_folder.prepare_folder(export.folder, export.base)
        export = replace(export, images=write_images(export))
        for part in parts:
            if export.stop.is_set():
                raise TransferStoppedError(STOPPED)
            part(export)
        return complete(export)
    except requests.exceptions.RequestException as error:
        if not is_lost(error):
            raise
        raise HostError(
            f"the engine was lost while the bundle was written: {error}; start it again, and run the command again"
        ) from error
    except OSError as error:
        raise HostError(
            f"{error.filename or export.folder}: cannot be written: {error.strerror}; {remedy(error, '-o')}"
        ) from error


def _refuse_own_data(export: Export) -> None:
    """Raise `InputError` if a dataset lies in the folder, which is written anew."""
    for name, place in export.data:
        if place.resolve().is_relative_to(export.folder.resolve()):
            raise InputError(f"--data {name}: {place} lies in the bundle that is written; choose another -o")


def complete(export: Export) -> Manifest:
    """Write what turns the folder into a bundle, and return its manifest."""
    files, left_out = [], []
    base_files = export.base.manifest.by_path() if export.base else {}
    source = FolderSource(export.folder)
    for path in sorted(set(source.sizes) - {layout.STATE}):
        file = _listed(source, path)
        if path.startswith(OMITTED_FROM_DELTAS) and base_files.get(path) == file:
            (export.folder / path).unlink()
            left_out.append(file)
        else:
            files.append(file)
    manifest = Manifest(
        name=export.name,
        orchestrator_version=__version__,
        images=export.images,
        files=tuple(files),
        base=export.base.identity if export.base else None,
        left_out=tuple(left_out),
    )
    write_atomically(export.folder / layout.SUMS, manifest.sums().decode())
    if export.sign:
        # Before the manifest, because a bundle that must be signed is none without its signature.
        write_atomically(export.folder / layout.SIGNATURE, export.sign(manifest.encoded()).decode())
    write_atomically(export.folder / layout.MANIFEST, manifest.encoded().decode())
    (export.folder / layout.STATE).unlink()
    return manifest


def _listed(source: FolderSource, path: str) -> File:
    if path.startswith(f"{layout.BLOBS}/"):
        digest = path.rpartition("/")[2]  # hashed when it was written
    else:
        with source.open(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    return File(path=path, size_bytes=source.sizes[path], sha256=digest)
