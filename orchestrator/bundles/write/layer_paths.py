"""The layers that earlier exports found at the paths of the engine's archives."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ValidationError

from orchestrator.results.writing import write_atomically

_MOST_PATHS = 10_000


class _Paths(BaseModel):
    paths: dict[str, str] = {}


class LayerPaths:
    """A file with the diff ids of layers by their paths, which follow from the content of the layers.

    With it a layer that is in the base of a delta is not read again.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, diff_ids: Mapping[str, str]) -> None:
        """Store the diff ids of an export."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        latest = dict(list({**self.by_path(), **diff_ids}.items())[-_MOST_PATHS:])
        write_atomically(self._file, _Paths(paths=latest).model_dump_json() + "\n")

    def by_path(self) -> dict[str, str]:
        """Return the diff ids of earlier exports."""
        try:
            return _Paths.model_validate_json(self._file.read_bytes()).paths
        except (OSError, ValidationError):
            return {}
