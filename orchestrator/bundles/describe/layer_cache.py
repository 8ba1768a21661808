"""A cache of what layers hold, so that a layer that several images share is read once."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ValidationError

from orchestrator.bundles.describe.layer_contents import LayerContents
from orchestrator.results.store import write_atomically

_READING = 2
"""Raised when a scan stores more than before, so that layers are read again."""
_PATHS, _MOST_PATHS = "paths.json", 10_000


class _Paths(BaseModel):
    """Diff ids of layers by their paths in the engine's archives."""

    paths: dict[str, str] = {}


class LayerCache:
    """A folder with the contents of layers by diff id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, diff_id: str, contents: LayerContents) -> None:
        """Store the contents of a layer."""
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._place(diff_id), contents.model_dump_json() + "\n")

    def get(self, diff_id: str) -> LayerContents | None:
        """Return the contents of a layer, None if they are not stored."""
        try:
            return LayerContents.model_validate_json(self._place(diff_id).read_bytes())
        except (OSError, ValidationError):
            return None

    def add_paths(self, paths: Mapping[str, str]) -> None:
        """Store diff ids of layers by their paths in the engine's archives, which follow from the content."""
        self._folder.mkdir(parents=True, exist_ok=True)
        latest = dict(list({**self.paths(), **paths}.items())[-_MOST_PATHS:])
        write_atomically(self._folder / _PATHS, _Paths(paths=latest).model_dump_json() + "\n")

    def paths(self) -> dict[str, str]:
        """Return the diff ids by path from earlier exports."""
        try:
            return _Paths.model_validate_json((self._folder / _PATHS).read_bytes()).paths
        except (OSError, ValidationError):
            return {}

    def _place(self, diff_id: str) -> Path:
        return self._folder / f"{diff_id.removeprefix('sha256:')}.{_READING}.json"
