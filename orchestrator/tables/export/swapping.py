"""Two folders that change places in one step, so that a reader sees the whole old one or the whole new one."""

import ctypes
import errno
import os
import shutil
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def put_in_place(new: Path, target: Path) -> None:
    """Move a folder to where another one may be, which is removed. Raises `OSError`.

    The two are exchanged in one step where the file system can. Elsewhere there is a moment without either at
    `target`, and a program that is killed just then leaves both next to it: `recovered` puts the new one in place.
    """
    if not target.exists():
        new.rename(target)
        return
    if not _exchanged(new, target):
        old = new.with_name(f"{new.name}.old")
        target.rename(old)
        new.rename(target)
        shutil.rmtree(old)
        return
    shutil.rmtree(new)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders, or return false where the C library or the file system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}:
        return False
    raise OSError(number, os.strerror(number), str(other))


def recovered(target: Path, beginning: str) -> None:
    """Clear away what an export that was killed has left next to its target: half of a new state, or the old one.

    `beginning` is that of the names of such folders. Raises `OSError`.
    """
    left = sorted(target.parent.glob(f"{_literal(beginning)}*"))
    finished = [each for each in left if each.name.endswith(".old")]
    if not target.exists() and finished:  # killed between two renames: the old state is whole
        finished.pop().rename(target)
    for each in left:
        if each.exists():
            shutil.rmtree(each)


def _literal(text: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)
