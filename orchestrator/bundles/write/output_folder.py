"""The folder of an export, which may hold an interrupted export or a bundle, and nothing else."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator import __version__
from orchestrator.bundles.format import layout
from orchestrator.bundles.format.base import BaseBundle
from orchestrator.bundles.format.manifest import MAX_MANIFEST_BYTES, File, Layer, Manifest, read_manifest
from orchestrator.bundles.format.sources import FolderSource
from orchestrator.bundles.write.request import Export
from orchestrator.errors import HostError, InputError
from orchestrator.files import open_plain
from orchestrator.results.files.writing import write_atomically

_FILES = frozenset({layout.PLAN, layout.MATRIX, layout.INSTALL, layout.SUMS, layout.SIGNATURE})
_FOLDERS = frozenset(
    {layout.MODELS, layout.SCRIPTS, layout.NETWORKS, layout.DATA, layout.SBOM, layout.PROVENANCE, layout.PROGRAMS}
)
_OF_IMAGES = re.compile(r"images/(oci-layout|index\.json|blobs/sha256/([0-9a-f]{64}|\.part))")
_TEMPORARY = re.compile(r"\.(\.unfinished\.json|SHA256SUMS|manifest\.json(\.sig)?)\.[0-9a-f]{16}")
"""Files that a killed atomic write leaves."""
_MOST_NAMED = 5

OMITTED_FROM_DELTAS = (
    f"{layout.WHEELS}/",
    f"{layout.DATA}/",
    f"{layout.SCRIPTS}/",
    f"{layout.NETWORKS}/",
    layout.OWN_IMAGE,
)
"""Files besides layers that a delta leaves out if its base has them."""


class ExportState(BaseModel):
    """The state of an export, which a later one continues from."""

    model_config = ConfigDict(extra="forbid")

    layers: tuple[Layer, ...]
    paths: Mapping[str, str]
    """Diff ids of layers by their paths in the engine's archives."""
    only_images: bool
    """True until the export writes another part. Until then any other file belongs to the user."""


def read_state(folder: Path) -> ExportState | None:
    """Return the state of an interrupted export, None if there is none."""
    try:
        return ExportState.model_validate_json((folder / layout.STATE).read_bytes())
    except (OSError, ValidationError):
        return None


def write_state(folder: Path, layers: Iterable[Layer], paths: Mapping[str, str], *, only_images: bool) -> None:
    """Write the state of an export. A folder with a state is no bundle."""
    state = ExportState(layers=tuple(layers), paths=paths, only_images=only_images)
    write_atomically(folder / layout.STATE, state.model_dump_json(indent=1) + "\n")


def check_folder(folder: Path, base: BaseBundle | None) -> Manifest | None:
    """Return the manifest of the bundle that an export may replace, None if there is no complete bundle.

    Raises `InputError` if the folder holds anything that no export has written, and `HostError` if it cannot be read.
    """
    try:
        names = {path.name for path in folder.iterdir()} if os.path.lexists(folder) else set()
    except OSError as error:
        raise HostError(f"{folder}: cannot be read: {error.strerror}; choose another -o") from error
    if layout.MANIFEST in names:
        manifest = _replaceable(folder, base)
        listed = {*manifest.by_path(), *layout.UNLISTED}
        _refuse_others(folder, lambda path: path in listed)
        return manifest
    if names:
        state = read_state(folder)
        if state is None:
            raise InputError(f"{folder}: holds something else than a bundle; choose another -o")
        _refuse_others(folder, lambda path: _is_of_images(path) or not (state.only_images or _is_foreign(path)))
    return None


def prepare_folder(folder: Path, base: BaseBundle | None) -> None:
    """Make the folder and remove what earlier exports left, except their blobs.

    Raises as `check_folder` does, before any change.
    """
    manifest = check_folder(folder, base)
    if manifest:
        write_state(folder, manifest.layers.values(), {}, only_images=False)
        (folder / layout.MANIFEST).unlink()
    folder.mkdir(parents=True, exist_ok=True)
    for path in list(folder.iterdir()):
        if path.name in _FOLDERS:
            shutil.rmtree(path)
        elif path.name in _FILES or _TEMPORARY.fullmatch(path.name):
            path.unlink()


def _replaceable(folder: Path, base: BaseBundle | None) -> Manifest:
    path = folder / layout.MANIFEST
    with open_plain(path) as file:
        content = file.read(MAX_MANIFEST_BYTES)
    manifest = read_manifest(content, str(path))
    if base and base.identity.manifest_sha256 == hashlib.sha256(content).hexdigest():
        raise InputError(f"{folder}: is the bundle that --since names; choose another -o for what is new")
    return manifest


def _is_of_images(path: str) -> bool:
    return _OF_IMAGES.fullmatch(path) is not None


def _is_foreign(path: str) -> bool:
    """Return true if no part of an export writes such a file."""
    top, below, _ = path.partition("/")
    return path not in _FILES and not (below and top in _FOLDERS)


def _refuse_others(folder: Path, is_ours: Callable[[str], bool]) -> None:
    paths = sorted(FolderSource(folder).sizes)
    others = [path for path in paths if not (path == layout.STATE or _TEMPORARY.fullmatch(path) or is_ours(path))]
    if others:
        named = ", ".join(others[:_MOST_NAMED])
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        raise InputError(
            f"{folder}: holds what no export has put there: {named}{more}; move that elsewhere, or choose another -o"
        )


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
