"""Where this program keeps its own files on this host."""

import os
import stat
from pathlib import Path

CACHE_NAME = "framework-bench"
LOCK_FOLDER_VARIABLE = "ORCHESTRATOR_LOCK_FOLDER"
_LOCK_FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108 -- what lies there is opened as what anybody may have made


def cache_folder() -> Path:
    """Where this program keeps what it can make again: environments and the index."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / CACHE_NAME


def bundles_folder() -> Path:
    """Where loaded bundles are kept: what cannot be made again here, so not in the cache."""
    base = os.environ.get("XDG_DATA_HOME")
    data = Path(base) if base and Path(base).is_absolute() else Path.home() / ".local" / "share"
    return data / CACHE_NAME / "bundles"


def turns() -> tuple[Path, ...]:
    """Files that are locked while something is measured: one of this host, for all its users, and one of the cache.

    The second one keeps apart what shares a cache but not the host's folder, as in containers.
    """
    return lock_folder() / f"{CACHE_NAME}-measuring.lock", cache_folder() / "measuring.lock"


def lock_folder() -> Path:
    """The first folder that every user may write to, so that all choose the same; the environment may name another."""
    named = os.environ.get(LOCK_FOLDER_VARIABLE)
    if named:
        return Path(named)
    shared = (folder for folder in _LOCK_FOLDERS if folder.is_dir() and folder.stat().st_mode & stat.S_IWOTH)
    return next(shared, _LOCK_FOLDERS[-1])
