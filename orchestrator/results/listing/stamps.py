"""Stamps of files, by which unchanged files are not read again."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from orchestrator.results.names import CLUSTER, PARTS
from orchestrator.results.parity.checks import FOLDER as CHECKS
from orchestrator.results.results_folder import pending

Stamp = tuple[int, int]
"""Modification time in ns and size in bytes."""


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[int]:
    """Open a folder for the stamps of files below it. Raises `OSError` where it is missing."""
    within = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield within
    finally:
        os.close(within)


def stamp(path: Path | str, within: int | None = None) -> Stamp | None:
    """Return the stamp of a file, which may lie within a folder that is open, or None if there is no such file."""
    try:
        stat = os.stat(path, dir_fd=within)  # a `Path` for each takes far longer
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size


def stamped_runs(results: Path) -> Iterator[tuple[str, Stamp]]:
    """Yield the name of every run of a results folder, with the stamp of its `run.json`.

    Runs of parts are among them, by their place in the folder: `20261121T153000Z-1f3a/parts/003/node7`.
    """
    hidden = pending(results)
    for folder in results.iterdir() if results.is_dir() else ():
        if folder.name in hidden:
            continue
        if stamped := stamp(f"{folder}/run.json"):
            yield folder.name, stamped
        elif stamp(f"{folder}/{CLUSTER}"):
            for part in _folders(folder / PARTS):
                for node in _folders(part.path):
                    if stamped := stamp(f"{node.path}/run.json"):
                        yield f"{folder.name}/{PARTS}/{part.name}/{node.name}", stamped


def stamped_outcomes(run: Path) -> Iterator[tuple[str, int, Stamp]]:
    """Yield cell id, repeat and stamp of every `<cell id>/<repeat>/outcome.json` of a run, without opening one.

    A cell's id has two parts. A repeat's folder may hold anything, so nothing is looked for below it.
    """
    for cell_id, cell in _in_two_parts(run):
        for repeat in _folders(cell):
            if repeat.name.isascii() and repeat.name.isdecimal():
                stamped = stamp(f"{repeat.path}/outcome.json")
                if stamped:
                    yield cell_id, int(repeat.name), stamped


def stamped_checks(run: Path) -> Iterator[tuple[str, Stamp, Stamp | None]]:
    """Yield the id of every parity check of a run, with the stamps of its outcome and of its answer."""
    for check_id, check in _in_two_parts(run / CHECKS):
        stamped = stamp(f"{check}/outcome.json")
        if stamped:
            yield check_id, stamped, stamp(f"{check}/result.json")


def _in_two_parts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield id and path of every folder whose id has two parts."""
    for environment in _folders(folder):
        for work in _folders(environment.path):
            yield f"{environment.name}/{work.name}", work.path


def _folders(folder: Path | str) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    return []
