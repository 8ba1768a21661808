"""The folder of loaded bundles, in the user's data folder."""

import hashlib
import json
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock
from pydantic import ValidationError

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.streams import CHUNK_BYTES
from orchestrator.bundles.read.loaded_bundle import SCHEMA, LoadedBundle, LoadedRecord
from orchestrator.bundles.read.names import RECORD
from orchestrator.errors import HostError, InputError, plain_words, remedy
from orchestrator.results.files.writing import flush

_PARTIAL = ".loading-"


def register(bundles: Path, record: LoadedRecord, opened: Callable[[str], BinaryIO]) -> LoadedBundle:
    """Store the files of a verified bundle in a folder of its name, whole or not at all.

    `opened` opens a file by its path in the bundle, and is called only for files that no loaded bundle has. A loaded
    bundle of the same name stays if it is equal, else it is replaced, because runs have copies of what they need.
    Raises `InputError` for a file with another checksum, and `HostError` if the folder cannot be written.
    """
    folder = bundles / record.name
    try:
        bundles.mkdir(parents=True, exist_ok=True)
        with FileLock(bundles / ".lock"):
            for leftover in bundles.glob(f"{_PARTIAL}*"):
                shutil.rmtree(leftover, ignore_errors=True)
            present = read(folder) if (folder / RECORD).exists() else None
            if present and _same(present.record, record) and _is_whole(present):
                return present
            partial = bundles / f"{_PARTIAL}{secrets.token_hex(8)}"
            try:
                _fill(partial, record, opened, files(bundles))
                _put(partial, folder, bundles)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        why = f"{error.strerror}; {remedy(error, 'XDG_DATA_HOME')}"
        raise HostError(f"{error.filename or bundles}: cannot be written: {why}") from error
    return LoadedBundle(folder, record)


def _fill(folder: Path, record: LoadedRecord, opened: Callable[[str], BinaryIO], known: Mapping[str, Path]) -> None:
    for path, digest in record.files.items():
        problem = layout.problem_of_path(path)
        if problem or path == RECORD:
            raise InputError(f"{path[:200]!a} in the bundle {record.name} {problem or 'is not its own to give'}")
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if not (digest in known and _linked(known[digest], place, digest)):
            with opened(path) as source:
                _copy(source, place, digest, record.name)
    (folder / RECORD).write_text(record.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")
    flush(folder)


def _linked(source: Path, place: Path, digest: str) -> bool:
    """Link a file of another loaded bundle, such as a dataset. Return false if that fails."""
    try:
        if not has(source, digest):
            return False
        place.hardlink_to(source)
    except OSError:
        return False
    return True


def _copy(source: BinaryIO, place: Path, digest: str, name: str) -> None:
    copied = hashlib.sha256()
    with place.open("xb") as file:
        while chunk := source.read(CHUNK_BYTES):
            copied.update(chunk)
            file.write(chunk)
    if copied.hexdigest() != digest:
        raise InputError(f"{place.name} of the bundle {name} is damaged; carry the bundle again")


def _put(partial: Path, folder: Path, bundles: Path) -> None:
    """Rename a filled folder, then remove the one that had its name."""
    old = bundles / f"{_PARTIAL}{secrets.token_hex(8)}"
    if folder.exists():
        folder.rename(old)
    partial.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _same(one: LoadedRecord, other: LoadedRecord) -> bool:
    """Return true for the same bundle with the same image ids, which differ between the stores of an engine."""
    return (one.manifest_sha256, one.images) == (other.manifest_sha256, other.images)


def _is_whole(loaded: LoadedBundle) -> bool:
    return all(has(loaded.folder / path, digest) for path, digest in loaded.record.files.items())


def has(path: Path, digest: str) -> bool:
    """Return true if a file exists with this SHA-256."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError:
        return False


def read(folder: Path) -> LoadedBundle:
    """Read a loaded bundle. Raises `InputError` if its record is unreadable or newer than this program."""
    path = folder / RECORD
    try:
        content = path.read_bytes()
        schema = json.loads(content).get("schema")
        if isinstance(schema, int) and schema > SCHEMA:
            raise InputError(f"{path}: schema {schema} is newer than this orchestrator reads ({SCHEMA}): upgrade it")
        return LoadedBundle(folder, LoadedRecord.model_validate_json(content))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InputError(
            f"{path}: {'.'.join(map(str, first['loc']))}: {plain_words(first['msg'])}; load the bundle again"
        ) from error
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: cannot be read; load the bundle again") from error


def registered(bundles: Path) -> dict[str, LoadedBundle]:
    """Return the loaded bundles by name, oldest first. Unreadable ones are left out."""
    readable = []
    for path in sorted(bundles.glob(f"*/{RECORD}")):
        try:
            readable.append(read(path.parent))
        except InputError:
            continue
    ordered = sorted(readable, key=lambda bundle: bundle.record.loaded_at)
    return {bundle.name: bundle for bundle in ordered if bundle.folder.name == bundle.name}


def files(bundles: Path) -> dict[str, Path]:
    """Return the files of all loaded bundles by their recorded SHA-256."""
    return {
        digest: bundle.folder / path
        for bundle in registered(bundles).values()
        for path, digest in bundle.record.files.items()
    }


def find(bundles: Path, name: str) -> LoadedBundle:
    """Return the loaded bundle with a name, or the one of a bundle's folder.

    Raises `InputError` if there is none of that name, and `HostError` if the bundle of that folder is not loaded.
    """
    known = registered(bundles)
    if name in known:
        return known[name]
    manifest = Path(name) / layout.MANIFEST
    if manifest.is_file():
        digest = hashlib.sha256(manifest.read_bytes()).hexdigest()
        for bundle in known.values():
            if bundle.record.manifest_sha256 == digest:
                return bundle
        raise HostError(f"the bundle in {name} is not loaded here; do it with: orchestrator load {name}")
    names = f"loaded are {', '.join(known)}" if known else "none is loaded here"
    raise InputError(f"no bundle {name!r}: {names}; `orchestrator load BUNDLE` loads one")
