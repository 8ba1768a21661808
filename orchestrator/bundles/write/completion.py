"""The completion of an export with checksums, signature and manifest."""

import hashlib

from orchestrator import __version__
from orchestrator.bundles.format import layout
from orchestrator.bundles.format.manifest import File, Manifest
from orchestrator.bundles.format.sources import FolderSource
from orchestrator.bundles.write.request import Export
from orchestrator.results.writing import write_atomically

OMITTED_FROM_DELTAS = (f"{layout.WHEELS}/", f"{layout.DATA}/", f"{layout.SCRIPTS}/", layout.OWN_IMAGE)
"""Files besides layers that a delta leaves out if its base has them."""


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
