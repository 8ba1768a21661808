"""Bundles that were loaded on this host: what of each a run needs beside the images, in the user's data folder."""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import yaml
from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from orchestrator.brought import Definition, ModelFile
from orchestrator.bundles import layout
from orchestrator.bundles.places import checked_places
from orchestrator.domain import Plan
from orchestrator.errors import HostError, InputError, plain_words, remedy
from orchestrator.results.plans import plan_from_json
from orchestrator.runtimes.given import GivenImage

SCHEMA: Literal[1] = 1
RECORD = "loaded.json"
_CHUNK_BYTES = 1024 * 1024
_PARTIAL = ".loading-"
_MOST_VALUES = 2_000_000
_Name = Annotated[str, Field(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,127}\z")]
_Sum = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]


class LoadedRecord(BaseModel):
    """`loaded.json`: which bundle this is, and what belongs to it."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    name: _Name
    manifest_sha256: _Sum
    loaded_at: str
    """ISO 8601, UTC."""
    images: tuple[GivenImage, ...]
    files: dict[str, _Sum]
    """Path below its folder, and sum."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """One bundle that was loaded here."""

    folder: Path
    record: LoadedRecord

    @property
    def name(self) -> str:
        """Of the bundle."""
        return self.record.name

    @property
    def matrix_file(self) -> Path:
        """The long form of the matrix."""
        return self.folder / layout.MATRIX

    @property
    def data_folder(self) -> Path | None:
        """Where the datasets are that came with it; None where none did."""
        folder = self.folder / layout.DATA
        return folder if folder.is_dir() else None

    def plan(self) -> Plan:
        """The plan as it was frozen when the bundle was made; raises `InputError` where it is damaged."""
        return read_plan(self._read(layout.PLAN), str(self.folder / layout.PLAN))

    def matrix(self) -> dict[str, Any]:
        """The matrix in its long form; raises `InputError` where it is damaged."""
        return read_matrix(self._read(layout.MATRIX), str(self.folder / layout.MATRIX))

    def own_models(self) -> tuple[ModelFile, ...]:
        """The user's own models that the matrix may name; raises `InputError` where one is damaged."""
        paths = [Path(path) for path in self.record.files if Path(path).parts[0] == layout.MODELS]
        return tuple(
            ModelFile(path.stem, *self._text(path), self._definitions(path.stem, paths))
            for path in paths
            if path.parent == Path(layout.MODELS)
        )

    def _definitions(self, model: str, paths: list[Path]) -> tuple[Definition, ...]:
        return tuple(
            Definition(model, path.stem, *self._text(path))
            for path in paths
            if path.parent == Path(layout.MODELS, model)
        )

    def _text(self, path: Path) -> tuple[str, str]:
        """A file, and its SHA-256."""
        try:
            text = self._read(path.as_posix()).decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{self.folder / layout.MODELS}: holds what is no Python: {error.reason}") from None
        return text, hashlib.sha256(text.encode()).hexdigest()

    def _read(self, path: str) -> bytes:
        try:
            content = (self.folder / path).read_bytes()
        except OSError as error:
            raise InputError(f"{self.folder / path}: {error.strerror}; load the bundle {self.name} again") from error
        if hashlib.sha256(content).hexdigest() != self.record.files.get(path):
            raise InputError(f"{self.folder / path}: changed since it was loaded; load the bundle {self.name} again")
        return content


def read_plan(content: bytes, place: str) -> Plan:
    """Read a frozen plan; raises `InputError` with one line where it is none."""
    try:
        document = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise InputError(f"{place}: not JSON: {str(error)[:200]}") from None
    try:
        return checked_places(plan_from_json(document))
    except InputError as error:
        raise InputError(*(f"{place}: {message}" for message in error.messages)) from None


def read_matrix(content: bytes, place: str) -> dict[str, Any]:
    """Read a matrix in its long form; raises `InputError` with one line where it is none."""
    try:
        document = yaml.safe_load(content)
        _count(document, _MOST_VALUES)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{place}: not YAML of a matrix: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(document, dict):
        raise InputError(f"{place}: not the long form of a matrix")
    return document


def _count(value: object, left: int) -> int:
    """Count down by every value: what refers to itself again and again would fill any memory once it is written."""
    if left <= 0:
        raise ValueError("too many values")
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        left = _count(each, left - 1)
    return left


def register(bundles: Path, record: LoadedRecord, opened: Callable[[str], BinaryIO]) -> Loaded:
    """Keep the files of a verified bundle in a folder of its name, whole or not at all.

    `opened` gives a file by its path in the bundle, and is asked only for what no other loaded bundle has; what it
    gives must have the sum that the record says. A bundle of that name which is there already stays as it is where it
    is the same, and else is replaced: runs keep all that they need of it themselves.
    Raises `InputError` for a file with another sum, `HostError` where the folder cannot be written.
    """
    folder = bundles / record.name
    try:
        bundles.mkdir(parents=True, exist_ok=True)
        with FileLock(bundles / ".lock"):
            for left in bundles.glob(f"{_PARTIAL}*"):
                shutil.rmtree(left, ignore_errors=True)
            there = read(folder) if (folder / RECORD).exists() else None
            if there and _same(there.record, record) and _is_whole(there):
                return there
            partial = bundles / f"{_PARTIAL}{secrets.token_hex(8)}"
            try:
                _fill(partial, record, opened, files(bundles))
                _put(partial, folder, bundles)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        why = f"{error.strerror}; {remedy(error, 'XDG_DATA_HOME')}"
        raise HostError(f"{error.filename or bundles}: cannot be written: {why}") from error
    return Loaded(folder, record)


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
    os.sync()


def _linked(source: Path, place: Path, digest: str) -> bool:
    """Share a file with another loaded bundle, as a dataset that a later bundle leaves out; False where that fails."""
    try:
        if not has(source, digest):
            return False
        place.hardlink_to(source)
    except OSError:
        return False
    return True


def _copy(source: BinaryIO, place: Path, digest: str, name: str) -> None:
    found = hashlib.sha256()
    with place.open("xb") as file:
        while chunk := source.read(_CHUNK_BYTES):
            found.update(chunk)
            file.write(chunk)
    if found.hexdigest() != digest:
        raise InputError(f"{place.name} of the bundle {name} is damaged; carry the bundle again")


def _put(partial: Path, folder: Path, bundles: Path) -> None:
    """Give a filled folder its name; what had it goes only then."""
    old = bundles / f"{_PARTIAL}{secrets.token_hex(8)}"
    if folder.exists():
        folder.rename(old)
    partial.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _same(one: LoadedRecord, other: LoadedRecord) -> bool:
    """Whether they are of one bundle, and of one engine: with another image store it gives images other ids."""
    return (one.manifest_sha256, one.images) == (other.manifest_sha256, other.images)


def _is_whole(loaded: Loaded) -> bool:
    return all(has(loaded.folder / path, digest) for path, digest in loaded.record.files.items())


def has(path: Path, digest: str) -> bool:
    """Whether a file is there, and what its sum says."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError:
        return False


def read(folder: Path) -> Loaded:
    """Read a loaded bundle; raises `InputError` where its record cannot be read, or is newer than this program."""
    path = folder / RECORD
    try:
        content = path.read_bytes()
        schema = json.loads(content).get("schema")
        if isinstance(schema, int) and schema > SCHEMA:
            raise InputError(f"{path}: schema {schema} is newer than this orchestrator reads ({SCHEMA}): upgrade it")
        return Loaded(folder, LoadedRecord.model_validate_json(content))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InputError(
            f"{path}: {'.'.join(map(str, first['loc']))}: {plain_words(first['msg'])}; load the bundle again"
        ) from error
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: cannot be read; load the bundle again") from error


def registered(bundles: Path) -> dict[str, Loaded]:
    """Every bundle that was loaded, by name, the one that was loaded last at the end; what is broken is left out."""
    found = []
    for path in sorted(bundles.glob(f"*/{RECORD}")):
        try:
            found.append(read(path.parent))
        except InputError:
            continue
    return {one.name: one for one in sorted(found, key=lambda one: one.record.loaded_at) if one.folder.name == one.name}


def files(bundles: Path) -> dict[str, Path]:
    """Every file of the bundles that were loaded, by the sum that it should have."""
    return {
        digest: one.folder / path
        for one in registered(bundles).values()
        for path, digest in one.record.files.items()
    }  # fmt: skip


def find(bundles: Path, wanted: str) -> Loaded:
    """The loaded bundle of that name, or the one that a bundle's folder is.

    Raises `InputError` where there is none of that name, `HostError` where the bundle in that folder is not loaded.
    """
    known = registered(bundles)
    if wanted in known:
        return known[wanted]
    manifest = Path(wanted) / layout.MANIFEST
    if manifest.is_file():
        digest = hashlib.sha256(manifest.read_bytes()).hexdigest()
        for one in known.values():
            if one.record.manifest_sha256 == digest:
                return one
        raise HostError(f"the bundle in {wanted} is not loaded here; do it with: orchestrator load {wanted}")
    names = f"loaded are {', '.join(known)}" if known else "none is loaded here"
    raise InputError(f"no bundle {wanted!r}: {names}; `orchestrator load BUNDLE` loads one")
