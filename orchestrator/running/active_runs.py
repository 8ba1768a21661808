"""The orchestrators of this user that are active, whose images `clean` leaves alone."""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from orchestrator.errors import HostError
from orchestrator.results.store import Run

_FOLDER = "working"


@contextmanager
def announced(cache: Path, run: Path | None = None) -> Iterator[None]:
    """Announce work on the run in that folder, or on images alone, until the end.

    A killed process is recognised as such.

    Where the cache cannot be written, nobody hears of it, and work goes on.
    """
    own = cache / _FOLDER / secrets.token_hex(8)
    lock = FileLock(own.with_suffix(".lock"))
    try:
        own.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
        own.with_suffix(".json").write_text(json.dumps({"run": str(run.resolve()) if run else None}))
    except (OSError, Timeout):
        lock.release()
        yield
        return
    try:
        yield
    finally:
        own.with_suffix(".json").unlink(missing_ok=True)
        lock.release()
        own.with_suffix(".lock").unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class ImagesInUse:
    """The images and interpreters that active orchestrators use."""

    workers: int
    references: frozenset[str] = frozenset()
    """Names and ids of images, and paths of interpreters."""


def images_in_use(cache: Path, without: Path | None = None) -> ImagesInUse:
    """Return the images in use, without those of the run in one folder.

    Raises `HostError` if an orchestrator is still making its own.
    """
    own = {"run": str(without.resolve())} if without else None
    workers = [document for document in map(_alive, sorted((cache / _FOLDER).glob("*.json"))) if document]
    workers = [document for document in workers if document != own]
    references: set[str] = set()
    for worker in workers:
        environments = Run(Path(worker["run"])).environments().environments if worker["run"] else ()
        if not environments:
            raise HostError("an orchestrator is building images or environments; clean when it has done")
        references |= {each for entry in environments for each in (entry.reference, entry.image_id) if each}
    return ImagesInUse(len(workers), frozenset(references))


def _alive(path: Path) -> dict[str, str | None] | None:
    """Return the announcement of a worker, or None for a dead one, whose files are removed."""
    lock = FileLock(path.with_suffix(".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        with suppress(OSError, ValueError):
            document: dict[str, str | None] = json.loads(path.read_text())
            return document
        return None
    path.unlink(missing_ok=True)
    lock.release()
    path.with_suffix(".lock").unlink(missing_ok=True)
    return None
