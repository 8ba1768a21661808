"""The folder that an export writes into: what an interrupted one has left there, and nothing that is not ours."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.bundles import layout
from orchestrator.bundles.earlier import Earlier
from orchestrator.bundles.manifest import MAX_MANIFEST_BYTES, Layer, Manifest, read_manifest
from orchestrator.bundles.sources import FolderSource
from orchestrator.errors import HostError, InputError
from orchestrator.files import open_plain
from orchestrator.results.store import write_atomically

_FILES = frozenset({layout.PLAN, layout.MATRIX, layout.INSTALL, layout.SUMS, layout.SIGNATURE})
_FOLDERS = frozenset({layout.MODELS, layout.SCRIPTS, layout.DATA, layout.SBOM, layout.PROVENANCE, layout.PROGRAMS})
_OF_IMAGES = re.compile(r"images/(oci-layout|index\.json|blobs/sha256/([0-9a-f]{64}|\.part))")
_TEMPORARY = re.compile(r"\.(\.unfinished\.json|SHA256SUMS|manifest\.json(\.sig)?)\.[0-9a-f]{16}")
"""What a kill leaves of a file that is written atomically."""
_MOST_NAMED = 5


class Note(BaseModel):
    """What an export that goes on must know."""

    model_config = ConfigDict(extra="forbid")

    layers: tuple[Layer, ...]
    paths: Mapping[str, str]
    """At which paths the engine's archives have which layers (diff ids)."""
    only_images: bool
    """Whether no other part was begun: whatever else lies there then is somebody's own."""


def noted(folder: Path) -> Note | None:
    """What an interrupted export has left word of; None where there is no such word."""
    try:
        return Note.model_validate_json((folder / layout.STATE).read_bytes())
    except (OSError, ValidationError):
        return None


def note(folder: Path, layers: Iterable[Layer], paths: Mapping[str, str], *, only_images: bool) -> None:
    """Leave word of what is there: as long as that lies there, the folder is no bundle."""
    left = Note(layers=tuple(layers), paths=paths, only_images=only_images)
    write_atomically(folder / layout.STATE, left.model_dump_json(indent=1) + "\n")


def check(folder: Path, earlier: Earlier | None) -> Manifest | None:
    """The manifest of the bundle in a folder that may be written anew; None where there is none, or not yet.

    Raises `InputError` where the folder holds anything that no export has written, `HostError` where it cannot be read.
    """
    try:
        there = {path.name for path in folder.iterdir()} if os.path.lexists(folder) else set()
    except OSError as error:
        raise HostError(f"{folder}: cannot be read: {error.strerror}; choose another -o") from error
    if layout.MANIFEST in there:
        found = _replaceable(folder, earlier)
        listed = {*found.by_path(), *layout.UNLISTED}
        _refuse_others(folder, lambda path: path in listed)
        return found
    if there:
        left = noted(folder)
        if left is None:
            raise InputError(f"{folder}: holds something else than a bundle; choose another -o")
        _refuse_others(folder, lambda path: _is_of_images(path) or not (left.only_images or _is_foreign(path)))
    return None


def prepare(folder: Path, earlier: Earlier | None) -> None:
    """Make a folder ready: empty, or with the blobs that exports have left there and nothing else.

    Raises as `check` does, and has touched nothing then.
    """
    found = check(folder, earlier)
    if found:
        note(folder, found.layers.values(), {}, only_images=False)
        (folder / layout.MANIFEST).unlink()
    folder.mkdir(parents=True, exist_ok=True)
    for path in list(folder.iterdir()):
        if path.name in _FOLDERS:
            shutil.rmtree(path)
        elif path.name in _FILES or _TEMPORARY.fullmatch(path.name):
            path.unlink()


def _replaceable(folder: Path, earlier: Earlier | None) -> Manifest:
    path = folder / layout.MANIFEST
    with open_plain(path) as file:
        content = file.read(MAX_MANIFEST_BYTES)
    found = read_manifest(content, str(path))
    if earlier and earlier.base.manifest_sha256 == hashlib.sha256(content).hexdigest():
        raise InputError(f"{folder}: is the bundle that --since names; choose another -o for what is new")
    return found


def _is_of_images(path: str) -> bool:
    return _OF_IMAGES.fullmatch(path) is not None


def _is_foreign(path: str) -> bool:
    """Whether no part of an export writes such a file."""
    top, below, _ = path.partition("/")
    return path not in _FILES and not (below and top in _FOLDERS)


def _refuse_others(folder: Path, is_ours: Callable[[str], bool]) -> None:
    kept = sorted(FolderSource(folder).sizes)
    others = [path for path in kept if not (path == layout.STATE or _TEMPORARY.fullmatch(path) or is_ours(path))]
    if others:
        named = ", ".join(others[:_MOST_NAMED])
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        raise InputError(
            f"{folder}: holds what no export has put there: {named}{more}; move that elsewhere, or choose another -o"
        )
