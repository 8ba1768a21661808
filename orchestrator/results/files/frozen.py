"""Copies of scripts and networks as they were when a run began, below its folder. Nothing else is mounted."""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from orchestrator.domain import Plan
from orchestrator.errors import HostError, InputError
from orchestrator.files import open_plain
from orchestrator.user_files import Frozen, Network, Script, ScriptFile

FOLDERS = (Script.FOLDER, Network.FOLDER)
_CHUNK_BYTES = 1 << 20
_READABLE = 0o444


def folder_of(base: Path, frozen: Frozen) -> Path:
    """Return the folder of the files of a script or a network below that of a run or a bundle."""
    return base / frozen.FOLDER / frozen.name


def scripts_of(plan: Plan) -> tuple[Script, ...]:
    """Return every script of a plan, once."""
    return tuple(dict.fromkeys(cell.script for cell in plan.cells if cell.script))


def frozen_of(plan: Plan) -> tuple[Frozen, ...]:
    """Return every script and every network of a plan, once."""
    return (*scripts_of(plan), *plan.networks)


def freeze(base: Path, placed: Sequence[tuple[Frozen, Path]]) -> None:
    """Copy the files of scripts and networks, each with its folder, below `base`.

    Raises `InputError` for a file that has changed since the plan was made, `HostError` if it cannot be copied.
    """
    for frozen, source in placed:
        for file in frozen.files:
            target = folder_of(base, frozen) / file.path
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                _copy(frozen, file, source, target)
            except OSError as error:
                raise HostError(f"{error.filename or target}: cannot be copied: {error.strerror}") from error


def check(base: Path, every: Sequence[Frozen]) -> None:
    """Raise `InputError` with a line for every frozen file that is not what it was."""
    mistakes = []
    for frozen in every:
        for file in frozen.files:
            place = folder_of(base, frozen) / file.path
            try:
                with open_plain(place) as copy:
                    same = hashlib.file_digest(copy, "sha256").hexdigest() == file.sha256  # type: ignore[arg-type]
            except OSError:
                same = False
            if not same:
                mistakes.append(f"{place}: is not what it was when the run began; bring it back, or begin a new run")
    if mistakes:
        raise InputError(*mistakes)


def refuse_paths(plan: Plan, remedy: str) -> None:
    """Raise `InputError` for a plan of an earlier version, whose scripts are paths on a host."""
    old = [script for script in scripts_of(plan) if not script.files]
    if old:
        raise InputError(
            *(
                f"script {script.name}: the plan names a place on a host, {script.path[:200]!r}, and not the files "
                f"themselves; nothing is run from there: {remedy}"
                for script in old
            )
        )


def copied(file: ScriptFile, source: Path, target: Path) -> bool:
    """Copy a file of a script or a network. If its content has changed, leave no copy and return false.

    Raises `OSError`.
    """
    digest = hashlib.sha256()
    with open_plain(source) as original, target.open("xb") as copy:
        _pour(original, copy, file.size_bytes, digest.update)
        copy.flush()
        os.fsync(copy.fileno())
    if digest.hexdigest() != file.sha256:
        target.unlink()
        return False
    target.chmod(_READABLE)
    return True


def _copy(frozen: Frozen, file: ScriptFile, source: Path, target: Path) -> None:
    if not copied(file, (source / file.path).resolve(), target):
        raise InputError(
            f"{source / file.path}: changed since it was planned for the {_kind(frozen)} {frozen.name}; try again"
        )


def _kind(frozen: Frozen) -> str:
    return "script" if isinstance(frozen, Script) else "network"


def _pour(source: BinaryIO, target: BinaryIO, size_bytes: int, seen: Callable[[bytes], object]) -> None:
    """Copy at most one byte more than expected, so that a growing file fills no disk."""
    left = size_bytes + 1
    while left and (chunk := source.read(min(left, _CHUNK_BYTES))):
        seen(chunk)
        target.write(chunk)
        left -= len(chunk)
