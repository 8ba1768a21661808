"""The contents of the cache folder, all of which can be made again.

They are environments, indexes of results, logs of builds, answers of parity checks, served sites, and what exports have
found out.
"""

import json
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from orchestrator.results.files.trees import reclaim
from orchestrator.runtimes import compile_caches
from orchestrator.runtimes.environments import MARKER

_FOLDERS = {
    compile_caches.FOLDER: "compiled",
    "build-logs": "logs",
    "parity": "answers",
    "layer-contents": "contents of layers",
    "wheel-proofs": "proofs",
    "sites": "sites",
}
"""Of small files that go together."""
_OWN_IMAGES = "own-image"


@dataclass(frozen=True, slots=True)
class CachedItem:
    """One thing in the cache."""

    path: Path
    kind: str
    """`venv`, `index`, `logs`, `answers` (of parity checks), `compiled` (by frameworks), `archive` (of our
    own image), or what exports keep: `contents of layers`, `proofs` (of wheels), or `sites` (that are served)."""
    name: str
    """The purpose of an environment, if it tells."""
    created: str
    """ISO 8601, UTC."""
    size_bytes: int


def surplus(cache: Path, keep_last: int, in_use: Collection[str] = ()) -> tuple[CachedItem, ...]:
    """Find the items to remove.

    These are all but the newest of each environment and of archives, those in `in_use` left alone, and all caches.
    """
    seen: dict[str, int] = {}
    gone = []
    for one in sorted(_environments(cache), key=lambda one: one.created, reverse=True):
        if any(Path(path).is_relative_to(one.path) for path in in_use):
            continue
        seen[one.name] = seen.get(one.name, 0) + 1
        if seen[one.name] > keep_last:
            gone.append(one)
    indexes = [_kept(path, "index") for path in sorted(cache.glob("*.sqlite"))]
    archives = [_kept(path, "archive") for path in (cache / _OWN_IMAGES).glob("*.tar.gz")]
    older = sorted(archives, key=lambda one: one.created, reverse=True)[keep_last:]
    folders = [(cache / name, kind) for name, kind in _FOLDERS.items()]
    full = [_kept(path, kind) for path, kind in folders if path.is_dir() and any(path.iterdir())]
    if in_use:  # which may be compiling just now
        full = [each for each in full if each.path.name != compile_caches.FOLDER]
    return (*gone, *indexes, *older, *full)


def remove(one: CachedItem) -> bool:
    """Remove an item. Return false if it is being made or read just now."""
    if one.kind in _FOLDERS.values():
        shutil.rmtree(one.path, ignore_errors=True)
        return not one.path.exists()
    if one.kind == "archive":
        one.path.unlink(missing_ok=True)
        return True
    lock = FileLock(one.path.with_suffix(".lock"))
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        return False
    try:
        if one.kind == "index":
            one.path.unlink(missing_ok=True)
        else:
            reclaim(one.path)
            (one.path / MARKER).unlink(missing_ok=True)  # first, so that a half-removed one is never taken for whole
            shutil.rmtree(one.path, ignore_errors=True)
    finally:
        lock.release()
    return not one.path.exists()


def _environments(cache: Path) -> list[CachedItem]:
    return [_kept(marker.parent, "venv", _name(marker)) for marker in (cache / "environments").glob(f"*/{MARKER}")]


def _name(marker: Path) -> str:
    """Return the image an environment was made for, or its folder's name if an older marker lacks it."""
    try:
        return str(json.loads(marker.read_bytes())["image"])
    except (OSError, ValueError, KeyError, TypeError):
        return marker.parent.name


def _kept(path: Path, kind: str, name: str = "") -> CachedItem:
    created = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
    files = path.rglob("*") if path.is_dir() else (path,)
    size = sum(file.lstat().st_size for file in files if not file.is_dir() or file.is_symlink())
    return CachedItem(path, kind, name or path.name, created, size)
