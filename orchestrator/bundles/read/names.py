"""The names of loaded bundles, found without a validation of their records."""

import json
from pathlib import Path

from orchestrator.files import open_plain

RECORD = "loaded.json"
"""In the folder of a loaded bundle."""


def loaded_names(bundles: Path) -> list[str]:
    """Return the names of the loaded bundles, oldest first. Unreadable ones are left out."""
    return [name for _, name in sorted(filter(None, map(_loaded, sorted(bundles.glob(f"*/{RECORD}")))))]


def _loaded(record: Path) -> tuple[str, str] | None:
    """Return the time and the name of a loaded bundle, or None if its record is not that of its folder."""
    try:
        with open_plain(record) as file:
            document = json.load(file)
        loaded_at, name = document["loaded_at"], document["name"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return (loaded_at, name) if name == record.parent.name and isinstance(loaded_at, str) else None
