"""Runs that came home in a file: checked to the last byte, then put beside those that are there; none is replaced."""

import contextlib
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from orchestrator.bundles.naming import STAGING, Naming, clear_away, complete_interrupted, remove
from orchestrator.bundles.results_tar import CHUNK_BYTES, ArchiveReader, BrokenArchiveError, Member, shown
from orchestrator.bundles.returns import (
    MANIFEST,
    MERGED,
    MOST_LINE_BYTES,
    MOST_MANIFEST_BYTES,
    SUMS,
    Returned,
    RunEntry,
    read_manifest,
    read_sums_line,
)
from orchestrator.errors import HostError, InputError
from orchestrator.files import open_plain
from orchestrator.results.store import PRIVATE, Run

LOCK = ".merge.lock"
_SPARE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of each run in a file of results."""

    added: tuple[RunEntry, ...]
    present: tuple[RunEntry, ...]
    """They were there already, with the same content."""


class _CollisionError(Exception):
    """A run that is there with other content; the message names the file."""


def merge(path: Path, results: Path) -> Merged:
    """Put every run of a file of results into a results folder: all of them, or none.

    Raises `InputError` where the file is broken, hostile or newer, or a run of that name is there with other content;
    `HostError` where there is no room or the folder cannot be written.
    """
    try:
        with path.open("rb") as stream, _staging(results) as staging:
            merged = _checked(stream, results, staging)
            for entry in merged.added:
                (staging / entry.run / MERGED).touch()
                (staging / entry.run).chmod(PRIVATE)
            Naming(staging, tuple(entry.run for entry in merged.added)).all_or_none()
            return merged
    except BrokenArchiveError as error:
        raise InputError(f"{path}: {error}; nothing was merged: collect it again, or carry it again") from None
    except _CollisionError as error:
        raise InputError(f"{path}: {error}; nothing was merged: with --results DIR it goes to another folder") from None
    except OSError as error:
        raise HostError(f"{error.filename or path}: cannot be used: {error.strerror}; nothing was merged") from error


@contextlib.contextmanager
def _staging(results: Path) -> Iterator[Path]:
    """Make a folder beside the runs, which is gone afterwards; a merge that was killed is completed or cleared away."""
    results.mkdir(parents=True, exist_ok=True)
    lock = FileLock(results / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise HostError(f"{results}: another merge is under way; wait for it") from None
    try:
        complete_interrupted(results)
        clear_away(results)
        staging = results / f"{STAGING}{secrets.token_hex(8)}"
        staging.mkdir(PRIVATE)
        try:
            yield staging
        finally:
            remove([staging])
    finally:
        lock.release()


def _checked(stream: BinaryIO, results: Path, staging: Path) -> Merged:
    """Read the whole file into the staging folder, and hold it against what it says of itself and what is there."""
    archive = ArchiveReader(stream)
    members = archive.members()
    manifest = read_manifest(_read(archive, _named(next(members, None), MANIFEST), MOST_MANIFEST_BYTES))
    listing = _named(next(members, None), SUMS)
    _room(results, manifest.size_bytes + listing.size)
    sums = staging / SUMS
    _copy_sums(archive, sums, manifest)
    counts = {entry.run: [0, 0] for entry in manifest.runs}
    with sums.open("rb") as lines:
        for member in members:
            digest, path = _declared(lines)
            if member.path != path:
                raise BrokenArchiveError(f"{shown(member.path)} in it is not what {SUMS} lists next")
            count = counts.get(path.partition("/")[0])
            if count is None or "/" not in path:
                raise BrokenArchiveError(f"{shown(path)} in it belongs to none of its runs")
            count[0], count[1] = count[0] + 1, count[1] + member.size
            _bounded(manifest, counts)
            _take(archive, member, digest, results, staging)
        if lines.read(1):
            raise BrokenArchiveError(f"files are missing that {SUMS} lists")
    for entry in manifest.runs:
        if [entry.files, entry.size_bytes] != counts[entry.run]:
            raise BrokenArchiveError(f"run {entry.run} is not as large as its manifest says")
    return _sorted(manifest, results, staging)


def _named(member: Member | None, name: str) -> Member:
    if member is None or member.path != name:
        raise BrokenArchiveError(f"it is no file of results: {name} is not where it belongs")
    return member


def _read(archive: ArchiveReader, member: Member, most: int) -> bytes:
    if member.size > most:
        raise BrokenArchiveError(f"its {member.path} has {member.size} bytes")
    return b"".join(archive.content())


def _room(results: Path, announced_bytes: int) -> None:
    """Refuse what the disk cannot hold before anything of it is written."""
    disk, needed = shutil.disk_usage(results), announced_bytes + _SPARE_BYTES
    if needed > disk.free:
        raise HostError(
            f"{results}: {needed / 1e9:,.1f} GB are needed and {disk.free / 1e9:,.1f} GB free; "
            "make room there, or choose another --results"
        )


def _copy_sums(archive: ArchiveReader, path: Path, manifest: Returned) -> None:
    """Write the sums to a new file, as far as they are lines of the runs that the manifest announces."""
    files, last, rest = 0, "", b""
    with path.open("xb") as file:
        for chunk in archive.content():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                _, listed = read_sums_line(line + b"\n")
                if listed <= last:
                    raise BrokenArchiveError(f"{SUMS} is not in order")
                files, last = files + 1, listed
            if files > manifest.files or len(rest) > MOST_LINE_BYTES:
                raise BrokenArchiveError(f"{SUMS} in it is longer than its manifest says")
            file.write(chunk)
    if rest:
        raise BrokenArchiveError(f"{SUMS} has a line that is none")


def _copied(archive: ArchiveReader, path: Path) -> str:
    """Write a member to a new file, and return its sum."""
    digest = hashlib.sha256()
    with path.open("xb") as file:
        for chunk in archive.content():
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def _declared(lines: BinaryIO) -> tuple[str, str]:
    line = lines.readline()
    if not line:
        raise BrokenArchiveError(f"it has files that {SUMS} does not list")
    return read_sums_line(line)


def _bounded(manifest: Returned, counts: dict[str, list[int]]) -> None:
    """Stop at more than was announced: the room was looked for by that."""
    files, size = (sum(count[which] for count in counts.values()) for which in (0, 1))
    if files > manifest.files or size > manifest.size_bytes:
        raise BrokenArchiveError("there is more in it than its manifest says")


def _take(archive: ArchiveReader, member: Member, digest: str, results: Path, staging: Path) -> None:
    """Write a file of a new run, or hold it against that of a run which is there."""
    there = results / member.path.partition("/")[0]
    if os.path.lexists(there):
        found = _sum_of(archive.content())
        if _sum_of_file(results / member.path) != digest:
            raise _CollisionError(f"{there} is another run of that name: {results / member.path} differs")
    else:
        place = staging / member.path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            found = _copied(archive, place)
        except (FileExistsError, NotADirectoryError):
            raise BrokenArchiveError(f"{shown(member.path)} in it is a file and a folder at once") from None
    if found != digest:
        raise BrokenArchiveError(f"{shown(member.path)} in it is damaged")


def _sum_of(chunks: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def _sum_of_file(path: Path) -> str:
    """The sum of a file that is here; empty where there is no such plain file."""
    try:
        with open_plain(path) as file:
            return _sum_of(iter(lambda: file.read(CHUNK_BYTES), b""))
    except OSError:
        return ""


def _sorted(manifest: Returned, results: Path, staging: Path) -> Merged:
    """Which runs are new and which are there, each held against what its own record says."""
    added: list[RunEntry] = []
    present: list[RunEntry] = []
    for entry in manifest.runs:
        new = (staging / entry.run).is_dir()
        run = Run((staging if new else results) / entry.run)
        try:
            record = run.record()
            run.plan()
        except InputError as error:
            raise BrokenArchiveError(f"run {entry.run} in it cannot be read: {_shorter(error, run.folder)}") from None
        if record.run != entry.run or record.host != entry.host:
            raise BrokenArchiveError(f"run {entry.run} says something else of itself than the manifest")
        (added if new else present).append(entry)
    return Merged(tuple(added), tuple(present))


def _shorter(error: InputError, folder: Path) -> str:
    return str(error).replace(f"{folder}/", "")
