"""The files of a bundle that a load stores on this host."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.base import base_sources, missing_base_error
from orchestrator.bundles.format.manifest import File, Image
from orchestrator.bundles.format.sources import BundleSource, read_whole
from orchestrator.bundles.format.streams import stoppable
from orchestrator.bundles.read import registry
from orchestrator.bundles.read.loaded_bundle import LoadedBundle, LoadedRecord, read_matrix, read_plan
from orchestrator.bundles.read.verify import OpenedBundle, verified_bytes
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.processes import Stop
from orchestrator.results.files import frozen as frozen_files
from orchestrator.runtimes import BundledImage

STORED = (layout.MATRIX, layout.PLAN, *(f"{folder}/" for folder in (
    layout.MODELS, layout.SCRIPTS, layout.NETWORKS, layout.DATA, layout.DOCUMENTATION, layout.SBOM,
    layout.PROVENANCE,
)))  # fmt: skip
"""Paths and prefixes of paths."""


def check_stored_files(bundle: OpenedBundle, place: Path, bundles: Path, stop: Stop) -> Mapping[str, BundleSource]:
    """Verify the files to store before anything is loaded, and return the bundle that holds each.

    Files that a delta at `place` leaves out are in the bundles it builds on. Files of bundles that are registered in
    `bundles` are not returned. Raises `InputError` if a file is damaged or missing, and `TransferStoppedError` after a
    request to stop.
    """
    sources = {file.path: bundle.source for file in _stored(bundle.manifest.files)} | _left_out(bundle, place, bundles)
    sums = {file.path: file.sha256 for file in (*bundle.manifest.files, *bundle.manifest.left_out)}
    for path, source in sources.items():
        for _ in verified_bytes(source, path, sums[path], stoppable(lambda _: None, stop)):
            pass
    _refuse_other_files(bundle, read_plan(*_document(bundle.source, layout.PLAN)))
    read_matrix(*_document(bundle.source, layout.MATRIX))
    return sources


def _refuse_other_files(bundle: OpenedBundle, plan: Plan) -> None:
    """Raise `InputError` if the plan lists other files of scripts and networks than the bundle."""
    listed = {file.path: file for file in (*bundle.manifest.files, *bundle.manifest.left_out)}
    wrong = []
    for frozen in frozen_files.frozen_of(plan):
        for file in frozen.files:
            path = f"{frozen.FOLDER}/{frozen.name}/{file.path}"
            if listed.get(path) != File(path=path, size_bytes=file.size_bytes, sha256=file.sha256):
                wrong.append(f"{bundle.source.place}: {path} is not the file that the plan means; carry it again")
    if wrong:
        raise InputError(*wrong[:20])


def store(
    bundles: Path,
    bundle: OpenedBundle,
    sources: Mapping[str, BundleSource],
    identity: Callable[[Image], str],
    loaded_at: str,
) -> LoadedBundle:
    """Register a bundle after its images were loaded.

    `sources` comes from `check_stored_files`, and `identity` returns the id of an image on the engine.
    Raises as `registry.register` does.
    """
    manifest = bundle.manifest
    record = LoadedRecord(
        name=manifest.name,
        manifest_sha256=bundle.manifest_sha256,
        loaded_at=loaded_at,
        images=tuple(BundledImage(image.name, image.reference, identity(image)) for image in manifest.images),
        files={file.path: file.sha256 for file in _stored((*manifest.files, *manifest.left_out))}
        | {layout.MANIFEST: bundle.manifest_sha256},
    )

    def opened(path: str) -> BinaryIO:
        if path in sources or path == layout.MANIFEST:
            return sources.get(path, bundle.source).open(path)
        raise _lacks(bundle, path)

    return registry.register(bundles, record, opened)


def _stored(files: Iterable[File]) -> list[File]:
    return [file for file in files if file.path.startswith(STORED)]


def _document(source: BundleSource, path: str) -> tuple[bytes, str]:
    """Return a document and its place for messages."""
    return read_whole(source, path, layout.MAX_DOCUMENT_BYTES[path]), f"{source.place}/{path}"


def _left_out(bundle: OpenedBundle, place: Path, bundles: Path) -> dict[str, BundleSource]:
    """Return the bundles of the files that a delta leaves out and that no registered bundle has."""
    known = registry.files(bundles)
    missing = [file for file in _stored(bundle.manifest.left_out) if not _exists(known.get(file.sha256), file.sha256)]
    bases = list(base_sources(bundle.manifest.base, place)) if missing else []
    # The nearest base comes last, because its version of a path is the current one.
    sources = {file.path: source for source in reversed(bases) for file in missing if file.path in source.sizes}
    for file in missing:
        if file.path not in sources:
            raise _lacks(bundle, file.path)
    return sources


def _exists(path: Path | None, sha256: str) -> bool:
    return path is not None and registry.has(path, sha256)


def _lacks(bundle: OpenedBundle, path: str) -> InputError:
    return missing_base_error(bundle.manifest.base, bundle.source.place, f"{path} is in")
