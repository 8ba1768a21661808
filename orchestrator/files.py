"""Files that what was measured could write to: a link or a pipe may lie in their place, and is not opened."""

import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_plain(path: Path | str) -> BinaryIO:
    """Open a plain file for reading; raises `OSError` where it is missing, or is a link, a pipe or a folder.

    A link could lead to any file of this host that the user may read, and a pipe holds up its reader for ever.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "is no plain file", str(path))
    return os.fdopen(descriptor, "rb")


def read_tail(path: Path, most_bytes: int) -> str:
    """Read the end of a log; empty where there is none, or what lies there is no plain file."""
    try:
        with open_plain(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - most_bytes))
            return file.read(most_bytes).decode("utf-8", "replace")
    except OSError:
        return ""
