"""The changes in a results folder since an export, told by the stamps of files alone."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator import __version__
from orchestrator.results.decisions import DECISIONS_FILE
from orchestrator.results.listing.stamps import stamped_checks, stamped_outcomes
from orchestrator.results.names import CLUSTER
from orchestrator.results.telemetry.files import FILE as TELEMETRY_FILE
from orchestrator.tables.reading import TABLES
from orchestrator.tables.stored import OpenedRun


@dataclass(frozen=True, slots=True)
class Changes:
    """The runs to read and to leave out, by their names as tables hold them."""

    stale: tuple[OpenedRun, ...]
    """Runs that are new, or have changed since."""
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    digests: Mapping[str, str]
    """Of every run that is there, taken before any of it is read: what changes meanwhile is read again next time."""


def changes(runs: list[OpenedRun], exported: Mapping[str, str]) -> Changes:
    """Compare the runs of a results folder with the digests of an export."""
    digests = {stored.label: run_digest(stored) for stored in runs}
    return Changes(
        stale=tuple(stored for stored in runs if exported.get(stored.label) != digests[stored.label]),
        unchanged=tuple(name for name, digest in digests.items() if exported.get(name) == digest),
        removed=tuple(name for name in exported if name not in digests),
        digests=digests,
    )


def run_digest(stored: OpenedRun) -> str:
    """Return a digest over the stamps of all files that the rows of a run are made of, none of which is opened."""
    digest = hashlib.sha256(f"{_made_by()}\n".encode())
    for line in _stamps(stored):
        digest.update(f"{line!a}\n".encode())
    return digest.hexdigest()


def _made_by() -> str:
    """Return what the rows depend on besides the files: the program, and the columns of every table."""
    columns = "\n".join(f"{table.name} {','.join(each.name for each in table.columns)}" for table in TABLES)
    return f"{__version__} {columns}"


def _stamps(stored: OpenedRun) -> Iterator[object]:
    folder = stored.run.folder
    for name in ("run.json", "environments.json", DECISIONS_FILE):
        yield name, _stamp(f"{folder}/{name}")
    if stored.is_part:  # which run of a part counts depends on the others
        yield CLUSTER, _stamp(f"{stored.results}/{stored.run.whole}/{CLUSTER}"), sorted(_names(folder.parent))
    for cell_id, repeat, _ in sorted(stamped_outcomes(folder)):
        place = f"{folder}/{cell_id}/{repeat}"
        yield cell_id, repeat, *(_stamp(f"{place}/{name}") for name in ("outcome.json", "result.json", TELEMETRY_FILE))
    yield from sorted(stamped_checks(folder), key=lambda each: each[0])


def _stamp(path: str) -> tuple[int, int, int] | None:
    """Return time, size and inode of a file, or None. A file that is written anew has another inode."""
    try:
        status = os.stat(path)  # noqa: PTH116 -- a `Path` for each takes far longer
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _names(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder)]
    except OSError:
        return []
