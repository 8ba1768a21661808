"""A bundle that was loaded on this host, with the files that a run needs besides the images."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.portable_plan import checked_plan
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.results.records import plan_from_json
from orchestrator.runtimes.docker import BundledImage
from orchestrator.user_files import ModelDefinition, ModelFile

SCHEMA: Literal[1] = 1
_MOST_VALUES = 2_000_000
_Name = Annotated[str, Field(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,127}\z")]
_Sum = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]


class LoadedRecord(BaseModel):
    """The file `loaded.json`, which identifies a bundle and lists its files."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    name: _Name
    manifest_sha256: _Sum
    loaded_at: str
    """ISO 8601, UTC."""
    images: tuple[BundledImage, ...]
    files: dict[str, _Sum]
    """SHA-256 by path below the folder."""


@dataclass(frozen=True, slots=True)
class LoadedBundle:
    """A loaded bundle."""

    folder: Path
    record: LoadedRecord

    @property
    def name(self) -> str:
        """The name of the bundle."""
        return self.record.name

    @property
    def matrix_file(self) -> Path:
        """The matrix in its long form."""
        return self.folder / layout.MATRIX

    @property
    def data_folder(self) -> Path | None:
        """The folder of the bundle's datasets, None if it has none."""
        folder = self.folder / layout.DATA
        return folder if folder.is_dir() else None

    def plan(self) -> Plan:
        """Return the frozen plan. Raises `InputError` if it is damaged."""
        return read_plan(self._read(layout.PLAN), str(self.folder / layout.PLAN))

    def matrix(self) -> dict[str, Any]:
        """Return the matrix in its long form. Raises `InputError` if it is damaged."""
        return read_matrix(self._read(layout.MATRIX), str(self.folder / layout.MATRIX))

    def own_models(self) -> tuple[ModelFile, ...]:
        """Return the user's own models that the matrix may name. Raises `InputError` if one is damaged."""
        paths = [Path(path) for path in self.record.files if Path(path).parts[0] == layout.MODELS]
        return tuple(
            ModelFile(path.stem, *self._text(path), self._definitions(path.stem, paths))
            for path in paths
            if path.parent == Path(layout.MODELS)
        )

    def _definitions(self, model: str, paths: list[Path]) -> tuple[ModelDefinition, ...]:
        return tuple(
            ModelDefinition(model, path.stem, *self._text(path))
            for path in paths
            if path.parent == Path(layout.MODELS, model)
        )

    def _text(self, path: Path) -> tuple[str, str]:
        """Return the text of a file and its SHA-256."""
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
    """Read a frozen plan. Raises `InputError` with one line if it is invalid."""
    try:
        document = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise InputError(f"{place}: not JSON: {str(error)[:200]}") from None
    try:
        return checked_plan(plan_from_json(document))
    except InputError as error:
        raise InputError(*(f"{place}: {message}" for message in error.messages)) from None


def read_matrix(content: bytes, place: str) -> dict[str, Any]:
    """Read a matrix in its long form. Raises `InputError` with one line if it is invalid."""
    try:
        document = yaml.safe_load(content)
        _count(document, _MOST_VALUES)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{place}: not YAML of a matrix: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(document, dict):
        raise InputError(f"{place}: not the long form of a matrix")
    return document


def _count(value: object, left: int) -> int:
    """Return `left` less one for every value. Raises `ValueError` at zero.

    Values that repeat through references would fill the memory when they are written.
    """
    if left <= 0:
        raise ValueError("too many values")
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        left = _count(each, left - 1)
    return left
