"""Runs gathered into one file, to be carried home: streamed, checksummed, the same bytes for the same runs."""

import contextlib
import filecmp
import hashlib
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from orchestrator.bundles import layout
from orchestrator.bundles.launch_files import OURS, LaunchFiles, launch_of
from orchestrator.bundles.results_tar import CHUNK_BYTES, ArchiveWriter, written
from orchestrator.bundles.returns import (
    MANIFEST,
    MERGED,
    RUN_NAME,
    SUMS,
    Returned,
    RunEntry,
    manifest_text,
    read_sums_line,
    sums_line,
)
from orchestrator.bundles.script_files import ScriptFiles
from orchestrator.errors import HostError, InputError
from orchestrator.files import open_plain
from orchestrator.results.store import Run
from orchestrator.results.trees import Entry, reclaim, walk

NOT_CARRIED = frozenset({".lock", "report", MERGED})
"""In a run's folder: who writes it, pages that are made of the rest whenever they are asked for, and our mark."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a file of results holds."""

    path: Path
    size_bytes: int
    manifest: Returned
    left_out: tuple[str, ...] = ()
    """What was measured has put into its folder, with the reason: for each repeat how much there was beyond the
    bounds, then links, pipes and unspeakable names."""


def collect(runs: Sequence[Run], output: Path, version: str) -> Collected:
    """Write runs into a new file; where it is there already, with the very same content, it stays as it is.

    Raises `InputError` where another file has that name or a run is unreadable, `HostError` where a run is being
    written, a file changes meanwhile, or the new one cannot be written.
    """
    ordered = sorted({run.name: run for run in runs}.values(), key=lambda run: run.name)
    with contextlib.ExitStack() as held, tempfile.TemporaryFile() as sums:
        for run in ordered:
            _hold(run, held)
        left_out: list[str] = []
        entries = tuple(_summed(run, sums, left_out) for run in ordered)
        manifest = Returned(orchestrator_version=version, runs=entries)
        size = _published(output, lambda stream: _write(stream, manifest, sums, ordered))
    return Collected(output, size, manifest, tuple(left_out))


def _hold(run: Run, held: contextlib.ExitStack) -> None:
    """Keep others from writing a run; in a folder that this user cannot write to, nobody can be kept from it."""
    if not RUN_NAME.fullmatch(run.name):
        raise InputError(f"{run.folder}: a run is carried under its name, and {run.name!r} is none; rename the folder")
    if os.access(run.folder, os.W_OK):
        held.callback(run.lock().release)


def _summed(run: Run, sums: BinaryIO, left_out: list[str]) -> RunEntry:
    """Write the sums of all files of a run, and count them."""
    host, files, size = run.record().host, 0, 0
    for path in _files(run, left_out):
        digest, length = hashlib.sha256(), 0
        for chunk in _content(run, path):
            digest.update(chunk)
            length += len(chunk)
        sums.write(sums_line(digest.hexdigest(), path))
        files, size = files + 1, size + length
    return RunEntry(run=run.name, files=files, size_bytes=size, host=host)


def _files(run: Run, left_out: list[str]) -> list[str]:
    """Every file of a run that is carried, as the archive names it: `<run>/<path in its folder>`, in order.

    What was measured may have closed its own folders, and these are opened again.
    """
    found: list[str] = []
    launches: dict[str, LaunchFiles] = {}
    scripts = ScriptFiles(run)
    for entry in _entries(run):
        path = f"{run.name}/{entry.path}"
        if not scripts.admits(entry):
            continue
        launch = launch_of(path)
        if launch and not entry.status.st_mode & stat.S_IRUSR:
            reclaim(run.folder.parent / launch)
        problem = entry.problem or _problem(path, entry.status.st_mode) or _denied(run, path, entry)
        if entry.problem and not launch:
            raise HostError(f"{run.folder / entry.path}: {problem}; give yourself the right to")
        if problem:
            left_out.append(f"{path!a} {problem}")
        elif stat.S_ISREG(entry.status.st_mode) and launch:
            launches.setdefault(launch, LaunchFiles(launch)).add(path, entry.status.st_size)
        elif stat.S_ISREG(entry.status.st_mode):
            found.append(path)
    lines = [launch.left_out() for _, launch in sorted(launches.items())]
    left_out[:0] = filter(None, (*lines, scripts.left_out()))
    return sorted([*found, *(path for launch in launches.values() for path in launch.carried())])


def _entries(run: Run) -> Iterator[Entry]:
    try:
        for entry in walk(run.folder):
            if entry.path.partition("/")[0] not in NOT_CARRIED:
                yield entry
    except OSError as error:
        raise HostError(f"{run.folder}: cannot be read: {error.strerror}; give yourself the right to") from error


def _problem(path: str, mode: int) -> str:
    """Why something in a run's folder is not carried; empty where it is."""
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return "is no plain file"
    return layout.problem_of_path(path)


def _denied(run: Run, path: str, entry: Entry) -> str:
    """Say that a file of another user, which no launch of ours has written, cannot be read; empty where it can."""
    others = stat.S_ISREG(entry.status.st_mode) and entry.status.st_uid != os.geteuid()
    if others and Path(path).name not in OURS and launch_of(path) and not os.access(run.folder.parent / path, os.R_OK):
        return "cannot be read: it is another user's"
    return ""


def _content(run: Run, path: str) -> Iterator[bytes]:
    try:
        with open_plain(run.folder.parent / path) as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk
    except OSError as error:
        raise HostError(f"{run.folder.parent / path}: cannot be read: {error.strerror}; try again") from error


def _write(stream: BinaryIO, manifest: Returned, sums: BinaryIO, runs: Sequence[Run]) -> None:
    folders = {run.name: run for run in runs}
    text, length = manifest_text(manifest), sums.tell()
    with written(stream) as archive:
        archive.add(MANIFEST, len(text), [text])
        sums.seek(0)
        archive.add(SUMS, length, iter(lambda: sums.read(CHUNK_BYTES), b""))
        sums.seek(0)
        for line in sums:
            digest, path = read_sums_line(line)
            _add(archive, folders[path.partition("/")[0]], path, digest)


def _add(archive: ArchiveWriter, run: Run, path: str, digest: str) -> None:
    """Copy a file that must still be what was summed."""
    found = hashlib.sha256()

    def chunks() -> Iterator[bytes]:
        for chunk in _content(run, path):
            found.update(chunk)
            yield chunk

    source = run.folder.parent / path
    changed = HostError(f"{source}: changed while it was collected; try again when nothing writes it")
    try:
        archive.add(path, source.lstat().st_size, chunks())
    except (OSError, ValueError):
        raise changed from None
    if found.hexdigest() != digest:
        raise changed


def _published(output: Path, write: Callable[[BinaryIO], None]) -> int:
    """Write a new file beside its place and put it there whole; return its size in bytes."""
    beside = output.with_name(f".{output.name}.{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        size = beside.stat().st_size
        if not os.path.lexists(output):
            beside.rename(output)
        elif not filecmp.cmp(beside, output, shallow=False):
            raise InputError(f"{output}: is there already, with something else in it; name another with -o")
        return size
    except OSError as error:
        raise HostError(f"{output}: cannot be written: {error.strerror}; choose another place with -o") from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
