"""The errors a person can cause or cure: one class per exit code, every message with its place and remedy."""

import errno
from collections.abc import Sequence


class OrchestratorError(Exception):
    """Something the person at the keyboard can act on; never shown with a traceback."""

    exit_code = 1


class InputError(OrchestratorError):
    """Bad input: what was asked for cannot be right on any host."""

    exit_code = 2

    def __init__(self, *messages: str) -> None:
        self.messages: Sequence[str] = messages
        super().__init__("\n".join(messages))


def plain_words(message: str) -> str:
    """Return a message of pydantic without the name that it puts before those of our own validators."""
    return message.removeprefix("Value error, ")


def remedy(error: OSError, place: str = "place") -> str:
    """Return what to do where a file could not be written, by the cause."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"make room there, or choose another {place}"
    if error.errno == errno.ENOENT:
        return f"create its folder first, or choose another {place}"
    return f"choose another {place}"


class HostError(OrchestratorError):
    """This host cannot do it: no engine, no disk, no permission."""

    exit_code = 3


class FolderError(HostError):
    """One file or folder cannot be used, by its rights or by what lies there; others may be fine."""


_OF_THE_HOST = frozenset({
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENXIO, errno.ENOMEM,
    errno.EMFILE, errno.ENFILE, errno.ENOLCK, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH,
    errno.ENOSYS, errno.EOPNOTSUPP,
})  # fmt: skip
"""What the system says of a disk, a file system or itself: every other folder fails in the same way."""


def host_error(message: str, error: OSError) -> HostError:
    """Return the error of this host that stands for one of the system: `FolderError` unless it is the disk's."""
    return HostError(message) if error.errno in _OF_THE_HOST else FolderError(message)
