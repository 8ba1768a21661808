"""The folders of this program's own files on a host."""

import stat
from collections.abc import Mapping
from pathlib import Path

CACHE_NAME = "framework-bench"
SITE_FILE = "site.yaml"
LOCK_FOLDER_VARIABLE = "ORCHESTRATOR_LOCK_FOLDER"
_LOCK_FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108 -- what lies there is opened as what anybody may have made


def home_folder(environment: Mapping[str, str]) -> Path:
    """Return the home folder that the environment names, or else the one of the user of this process."""
    home = environment.get("HOME")
    return Path(home) if home else Path.home()


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of environments, of the index and of other things that this program can make again."""
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else home_folder(environment) / ".cache") / CACHE_NAME


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the user's own settings."""
    base = environment.get("XDG_CONFIG_HOME")
    return (Path(base) if base and Path(base).is_absolute() else home_folder(environment) / ".config") / CACHE_NAME


def site_file(matrix_folder: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the site file next to a matrix, or else that of the user's own settings, or None without either."""
    folders = (matrix_folder, config_folder(environment))
    return next((path for folder in folders if (path := folder / SITE_FILE).is_file()), None)


def bundles_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of loaded bundles, which is not in the cache since they cannot be made again here."""
    base = environment.get("XDG_DATA_HOME")
    data = Path(base) if base and Path(base).is_absolute() else home_folder(environment) / ".local" / "share"
    return data / CACHE_NAME / "bundles"


def turns(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the files that are locked while a cell is measured.

    One is the host's, for all its users.
    One is the cache's, for containers that share a cache but not the host's folder.
    """
    return lock_folder(environment) / f"{CACHE_NAME}-measuring.lock", cache_folder(environment) / "measuring.lock"


def lock_folder(environment: Mapping[str, str]) -> Path:
    """Return the first folder that every user may write to, so that all choose the same.

    The environment may name another.
    """
    named = environment.get(LOCK_FOLDER_VARIABLE)
    if named:
        return Path(named)
    shared = (folder for folder in _LOCK_FOLDERS if folder.is_dir() and folder.stat().st_mode & stat.S_IWOTH)
    return next(shared, _LOCK_FOLDERS[-1])
