"""The merge of a file of results into a results folder, after every byte is verified."""

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

from orchestrator.bundles.format.streams import CHUNK_BYTES
from orchestrator.bundles.returns.cluster_files import carried
from orchestrator.bundles.returns.publication import STAGING, Publication, clear_away, complete_interrupted, remove
from orchestrator.bundles.returns.results_manifest import (
    MANIFEST,
    MERGED,
    MOST_LINE_BYTES,
    MOST_MANIFEST_BYTES,
    SUMS,
    ResultsManifest,
    RunEntry,
    read_manifest,
    read_sums_line,
)
from orchestrator.bundles.returns.results_tar import ArchiveReader, BrokenArchiveError, Member, printable
from orchestrator.errors import HostError, InputError
from orchestrator.files import open_plain
from orchestrator.results.store import PRIVATE, Run

LOCK = ".merge.lock"
_SPARE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Merged:
    """The runs of a file of results after a merge."""

    added: tuple[RunEntry, ...]
    present: tuple[RunEntry, ...]
    """Runs that the results folder already had with the same contents."""


class _CollisionError(Exception):
    """A run of the same name with other contents. The message names the file."""


def merge(path: Path, results: Path) -> Merged:
    """Merge all runs of a file of results into a results folder, or none.

    Raises `InputError` if the file is damaged or newer, or if a run of the same name has other contents.
    Raises `HostError` if the disk is full or the folder cannot be written.
    """
    try:
        with path.open("rb") as stream, _staging(results) as staging:
            merged = _unpack(stream, results, staging)
            for entry in merged.added:
                (staging / entry.run / MERGED).touch()
                (staging / entry.run).chmod(PRIVATE)
            Publication(staging, tuple(entry.run for entry in merged.added)).all_or_none()
            return merged
    except BrokenArchiveError as error:
        raise InputError(f"{path}: {error}; nothing was merged: collect it again, or carry it again") from None
    except _CollisionError as error:
        raise InputError(f"{path}: {error}; nothing was merged: with --results DIR it goes to another folder") from None
    except OSError as error:
        raise HostError(f"{error.filename or path}: cannot be used: {error.strerror}; nothing was merged") from error


def manifest_of(path: Path) -> ResultsManifest:
    """Read the manifest of a file of results. Raises `InputError` if it is damaged or newer, or no such file."""
    try:
        with path.open("rb") as stream:
            archive = ArchiveReader(stream)
            return read_manifest(_read(archive, _expect(next(archive.members(), None), MANIFEST), MOST_MANIFEST_BYTES))
    except BrokenArchiveError as error:
        raise InputError(f"{path}: {error}; nothing was merged: collect it again, or carry it again") from None
    except OSError as error:
        raise HostError(f"{path}: cannot be used: {error.strerror}; nothing was merged") from error


@contextlib.contextmanager
def _staging(results: Path) -> Iterator[Path]:
    """Give a temporary folder among the runs, after an interrupted merge is completed or removed."""
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


def _unpack(stream: BinaryIO, results: Path, staging: Path) -> Merged:
    """Read the whole file into the staging folder, and compare it with its manifest and with the runs present."""
    archive = ArchiveReader(stream)
    members = archive.members()
    manifest = read_manifest(_read(archive, _expect(next(members, None), MANIFEST), MOST_MANIFEST_BYTES))
    listing = _expect(next(members, None), SUMS)
    _require_room(results, manifest.size_bytes + listing.size)
    sums = staging / SUMS
    _copy_sums(archive, sums, manifest)
    counts = {entry.run: [0, 0] for entry in manifest.runs}
    with sums.open("rb") as lines:
        for member in members:
            digest, path = _next_sum(lines)
            if member.path != path:
                raise BrokenArchiveError(f"{printable(member.path)} in it is not what {SUMS} lists next")
            count = counts.get(path.partition("/")[0])
            if count is None or "/" not in path:
                raise BrokenArchiveError(f"{printable(path)} in it belongs to none of its runs")
            count[0], count[1] = count[0] + 1, count[1] + member.size
            _check_counts(manifest, counts)
            _unpack_member(archive, member, digest, results, staging)
        if lines.read(1):
            raise BrokenArchiveError(f"files are missing that {SUMS} lists")
    for entry in manifest.runs:
        if [entry.files, entry.size_bytes] != counts[entry.run]:
            raise BrokenArchiveError(f"run {entry.run} is not as large as its manifest says")
    return _check_records(manifest, results, staging)


def _expect(member: Member | None, name: str) -> Member:
    if member is None or member.path != name:
        raise BrokenArchiveError(f"it is no file of results: {name} is not where it belongs")
    return member


def _read(archive: ArchiveReader, member: Member, most: int) -> bytes:
    if member.size > most:
        raise BrokenArchiveError(f"its {member.path} has {member.size} bytes")
    return b"".join(archive.content())


def _require_room(results: Path, announced_bytes: int) -> None:
    """Raise `HostError` if the disk has too little room, before anything is written."""
    disk, needed = shutil.disk_usage(results), announced_bytes + _SPARE_BYTES
    if needed > disk.free:
        raise HostError(
            f"{results}: {needed / 1e9:,.1f} GB are needed and {disk.free / 1e9:,.1f} GB free; "
            "make room there, or choose another --results"
        )


def _copy_sums(archive: ArchiveReader, path: Path, manifest: ResultsManifest) -> None:
    """Copy the checksums to a new file. Raises `BrokenArchiveError` if they do not fit the manifest."""
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
    """Write a member to a new file, and return its SHA-256."""
    digest = hashlib.sha256()
    with path.open("xb") as file:
        for chunk in archive.content():
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def _next_sum(lines: BinaryIO) -> tuple[str, str]:
    line = lines.readline()
    if not line:
        raise BrokenArchiveError(f"it has files that {SUMS} does not list")
    return read_sums_line(line)


def _check_counts(manifest: ResultsManifest, counts: dict[str, list[int]]) -> None:
    """Raise `BrokenArchiveError` at more than the manifest announced, which the disk may not hold."""
    files, size = (sum(count[which] for count in counts.values()) for which in (0, 1))
    if files > manifest.files or size > manifest.size_bytes:
        raise BrokenArchiveError("there is more in it than its manifest says")


def _unpack_member(archive: ArchiveReader, member: Member, digest: str, results: Path, staging: Path) -> None:
    """Write a file of a new run, or compare it with the file of a run that is present."""
    present = results / member.path.partition("/")[0]
    if os.path.lexists(present):
        actual = _sum_of(archive.content())
        if _sum_of_file(results / member.path) != digest:
            raise _CollisionError(f"{present} is another run of that name: {results / member.path} differs")
    else:
        place = staging / member.path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            actual = _copied(archive, place)
        except (FileExistsError, NotADirectoryError):
            raise BrokenArchiveError(f"{printable(member.path)} in it is a file and a folder at once") from None
    if actual != digest:
        raise BrokenArchiveError(f"{printable(member.path)} in it is damaged")


def _sum_of(chunks: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def _sum_of_file(path: Path) -> str:
    """Return the SHA-256 of a file, empty if there is no such plain file."""
    try:
        with open_plain(path) as file:
            return _sum_of(iter(lambda: file.read(CHUNK_BYTES), b""))
    except OSError:
        return ""


def _check_records(manifest: ResultsManifest, results: Path, staging: Path) -> Merged:
    """Return the new runs and the present ones. Raises `BrokenArchiveError` if a run's record differs."""
    added: list[RunEntry] = []
    present: list[RunEntry] = []
    for entry in manifest.runs:
        new = (staging / entry.run).is_dir()
        run = carried(Run((staging if new else results) / entry.run))
        try:
            record = run.record()
            run.plan()
        except InputError as error:
            raise BrokenArchiveError(f"run {entry.run} in it cannot be read: {_shorter(error, run.folder)}") from None
        if (record.run, record.host, record.part_of) != (entry.run, entry.host, entry.part_of):
            raise BrokenArchiveError(f"run {entry.run} says something else of itself than the manifest")
        (added if new else present).append(entry)
    return Merged(tuple(added), tuple(present))


def _shorter(error: InputError, folder: Path) -> str:
    return str(error).replace(f"{folder}/", "")
