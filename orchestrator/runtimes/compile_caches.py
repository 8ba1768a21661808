"""Folders for what frameworks compile, one for each image, which every repeat in it finds as the last one left it.

They lie in the cache folder, on this host, whatever the runtime is. A launch may write to that of its own image alone.
"""

import hashlib
import shutil
from pathlib import Path

from orchestrator.domain import ImageSpec, OutputLimit
from orchestrator.results.files.trees import usage
from orchestrator.runtimes.model import Ready

FOLDER = "compiled"
LIMIT = OutputLimit()
"""The most that the folder of an image may hold, which is what a repeat may leave in its own by default."""


def of(image: ImageSpec, ready: Ready, cache: Path) -> tuple[Path, str] | None:
    """Return the folder for an image, made if it is not there, with its place in a container; None for no cache.

    One that holds as much as it may is emptied first.
    """
    place = image.environment.compile_cache
    if place is None:
        return None
    identity = hashlib.sha256((ready.image_id or ready.handle).encode()).hexdigest()[:16]
    folder = cache / FOLDER / identity
    held = usage(folder, LIMIT) if folder.is_dir() else None
    if held and (held.size_bytes > LIMIT.size_bytes or held.files > LIMIT.files):
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder, place
