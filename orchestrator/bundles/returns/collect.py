"""The collection of runs into one file of results. Equal runs give equal bytes."""

import contextlib
import filecmp
import hashlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from orchestrator.bundles.format.streams import CHUNK_BYTES
from orchestrator.bundles.returns.cluster_files import carried
from orchestrator.bundles.returns.results_manifest import (
    MANIFEST,
    RUN_NAME,
    SUMS,
    ResultsManifest,
    RunEntry,
    manifest_text,
    read_sums_line,
    sums_line,
)
from orchestrator.bundles.returns.results_tar import ArchiveWriter, archive_writer
from orchestrator.bundles.returns.selection import select_files
from orchestrator.errors import HostError, InputError
from orchestrator.files import open_plain
from orchestrator.results.store import Run


@dataclass(frozen=True, slots=True)
class Collected:
    """A file of results that was written."""

    path: Path
    size_bytes: int
    manifest: ResultsManifest
    left_out: tuple[str, ...] = ()
    """One line on each repeat with files beyond the limits, then on links, pipes and invalid names."""


def collect(runs: Sequence[Run], output: Path, version: str) -> Collected:
    """Write runs into a new file. An equal file of that name stays.

    Raises `InputError` if another file has that name or a run is unreadable. Raises `HostError` if a run is being
    written, a file changes, or the new file cannot be written.
    """
    ordered = sorted({run.name: carried(run) for run in runs}.values(), key=lambda run: run.name)
    with contextlib.ExitStack() as locks, tempfile.TemporaryFile() as sums:
        for run in ordered:
            _lock(run, locks)
        left_out: list[str] = []
        entries = tuple(_write_sums(run, sums, left_out) for run in ordered)
        manifest = ResultsManifest(orchestrator_version=version, runs=entries)
        size = _published(output, lambda stream: _write(stream, manifest, sums, ordered))
    return Collected(output, size, manifest, tuple(left_out))


def _lock(run: Run, locks: contextlib.ExitStack) -> None:
    """Lock a run against writers, if this user may write into its folder."""
    if not RUN_NAME.fullmatch(run.name):
        raise InputError(f"{run.folder}: a run is carried under its name, and {run.name!r} is none; rename the folder")
    if os.access(run.folder, os.W_OK):
        locks.callback(run.lock().release)


def _write_sums(run: Run, sums: BinaryIO, left_out: list[str]) -> RunEntry:
    """Write the checksums of all files of a run, and return its entry in the manifest."""
    record, files, size = run.record(), 0, 0
    for path in select_files(run, left_out):
        digest, length = hashlib.sha256(), 0
        for chunk in _content(run, path):
            digest.update(chunk)
            length += len(chunk)
        sums.write(sums_line(digest.hexdigest(), path))
        files, size = files + 1, size + length
    return RunEntry(run=run.name, files=files, size_bytes=size, host=record.host, part_of=record.part_of)


def _content(run: Run, path: str) -> Iterator[bytes]:
    try:
        with open_plain(run.folder.parent / path) as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk
    except OSError as error:
        raise HostError(f"{run.folder.parent / path}: cannot be read: {error.strerror}; try again") from error


def _write(stream: BinaryIO, manifest: ResultsManifest, sums: BinaryIO, runs: Sequence[Run]) -> None:
    folders = {run.name: run for run in runs}
    text, length = manifest_text(manifest), sums.tell()
    with archive_writer(stream) as archive:
        archive.add(MANIFEST, len(text), [text])
        sums.seek(0)
        archive.add(SUMS, length, iter(lambda: sums.read(CHUNK_BYTES), b""))
        sums.seek(0)
        for line in sums:
            digest, path = read_sums_line(line)
            _add(archive, folders[path.partition("/")[0]], path, digest)


def _add(archive: ArchiveWriter, run: Run, path: str, digest: str) -> None:
    """Copy a file. Raises `HostError` if it has changed since its checksum was written."""
    copied = hashlib.sha256()

    def chunks() -> Iterator[bytes]:
        for chunk in _content(run, path):
            copied.update(chunk)
            yield chunk

    source = run.folder.parent / path
    changed = HostError(f"{source}: changed while it was collected; try again when nothing writes it")
    try:
        archive.add(path, source.lstat().st_size, chunks())
    except (OSError, ValueError):
        raise changed from None
    if copied.hexdigest() != digest:
        raise changed


def _published(output: Path, write: Callable[[BinaryIO], None]) -> int:
    """Write a new file under a temporary name, rename it, and return its size in bytes."""
    temporary = output.with_name(f".{output.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        size = temporary.stat().st_size
        if not os.path.lexists(output):
            temporary.rename(output)
        elif not filecmp.cmp(temporary, output, shallow=False):
            raise InputError(f"{output}: is there already, with something else in it; name another with -o")
        return size
    except OSError as error:
        raise HostError(f"{output}: cannot be written: {error.strerror}; choose another place with -o") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
