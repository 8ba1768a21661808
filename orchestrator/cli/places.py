"""Where this program keeps its own files on this host."""

import os
from pathlib import Path

CACHE_NAME = "framework-bench"


def cache_folder() -> Path:
    """Where this program keeps what it can make again: environments and the index."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / CACHE_NAME


def bundles_folder() -> Path:
    """Where loaded bundles are kept: what cannot be made again here, so not in the cache."""
    base = os.environ.get("XDG_DATA_HOME")
    data = Path(base) if base and Path(base).is_absolute() else Path.home() / ".local" / "share"
    return data / CACHE_NAME / "bundles"
