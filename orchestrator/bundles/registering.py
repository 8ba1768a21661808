"""From a bundle as it was carried to what is kept of it on this host: plan, matrix, models, datasets, and papers."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from orchestrator.bundles import layout, loaded
from orchestrator.bundles.earlier import missing, sources_beside
from orchestrator.bundles.loaded import Loaded, LoadedRecord, read_matrix, read_plan, register
from orchestrator.bundles.manifest import File, Image
from orchestrator.bundles.sources import Source, read_whole
from orchestrator.bundles.verify import Opened, checked
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.results import frozen_scripts
from orchestrator.runtimes import GivenImage

KEPT = (layout.MATRIX, layout.PLAN, *(f"{folder}/" for folder in (
    layout.MODELS, layout.SCRIPTS, layout.DATA, layout.SBOM, layout.PROVENANCE,
)))  # fmt: skip
"""Paths, and beginnings of paths."""


def check_kept(bundle: Opened, place: Path, bundles: Path) -> Mapping[str, Source]:
    """Read the files that would be kept, so that one which is bad or nowhere is found before anything is loaded.

    Returns what each is read from: the bundle, or, of what a delta at `place` leaves out, one beside it; what a bundle
    has that is registered in `bundles` is not among them. Raises `InputError`.
    """
    sources = {file.path: bundle.source for file in _kept(bundle.manifest.files)} | _left_out(bundle, place, bundles)
    sums = {file.path: file.sha256 for file in (*bundle.manifest.files, *bundle.manifest.left_out)}
    for path, source in sources.items():
        for _ in checked(source, path, sums[path], lambda _: None):
            pass
    _refuse_other_scripts(bundle, read_plan(*_document(bundle.source, layout.PLAN)))
    read_matrix(*_document(bundle.source, layout.MATRIX))
    return sources


def _refuse_other_scripts(bundle: Opened, plan: Plan) -> None:
    """Raise `InputError` where the plan means other files of scripts than the bundle has."""
    listed = {file.path: file for file in (*bundle.manifest.files, *bundle.manifest.left_out)}
    wrong = []
    for script in frozen_scripts.scripts_of(plan):
        for file in script.files:
            path = f"{layout.SCRIPTS}/{script.name}/{file.path}"
            if listed.get(path) != File(path=path, size_bytes=file.size_bytes, sha256=file.sha256):
                wrong.append(f"{bundle.source.place}: {path} is not the file that the plan means; carry it again")
    if wrong:
        raise InputError(*wrong[:20])


def keep(
    bundles: Path, bundle: Opened, sources: Mapping[str, Source], identity: Callable[[Image], str], loaded_at: str
) -> Loaded:
    """Register a bundle whose images were loaded, with the ids that the engine gave them, and its files from `sources`
    as `check_kept` found them; raises as `loaded.register` does."""
    manifest = bundle.manifest
    record = LoadedRecord(
        name=manifest.name,
        manifest_sha256=bundle.manifest_sha256,
        loaded_at=loaded_at,
        images=tuple(GivenImage(image.name, image.reference, identity(image)) for image in manifest.images),
        files={file.path: file.sha256 for file in _kept((*manifest.files, *manifest.left_out))}
        | {layout.MANIFEST: bundle.manifest_sha256},
    )

    def opened(path: str) -> BinaryIO:
        if path in sources or path == layout.MANIFEST:
            return sources.get(path, bundle.source).open(path)
        raise _lacks(bundle, path)

    return register(bundles, record, opened)


def _kept(files: Iterable[File]) -> list[File]:
    return [file for file in files if file.path.startswith(KEPT)]


def _document(source: Source, path: str) -> tuple[bytes, str]:
    """A document, and its place for messages."""
    return read_whole(source, path, layout.MAX_DOCUMENT_BYTES[path]), f"{source.place}/{path}"


def _left_out(bundle: Opened, place: Path, bundles: Path) -> dict[str, Source]:
    """Where the files of a delta are that it leaves out and no registered bundle has."""
    known = loaded.files(bundles)
    lacking = [file for file in _kept(bundle.manifest.left_out) if not _is_there(known.get(file.sha256), file.sha256)]
    beside = list(sources_beside(bundle.manifest.base, place)) if lacking else []
    # The nearest last: of a path that two of them have, the later one is meant.
    found = {file.path: source for source in reversed(beside) for file in lacking if file.path in source.sizes}
    for file in lacking:
        if file.path not in found:
            raise _lacks(bundle, file.path)
    return found


def _is_there(path: Path | None, sha256: str) -> bool:
    return path is not None and loaded.has(path, sha256)


def _lacks(bundle: Opened, path: str) -> InputError:
    return missing(bundle.manifest.base, bundle.source.place, f"{path} is in")
