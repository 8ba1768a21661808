"""The errors a person can cause or cure, with one class per exit code."""

import errno
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

MAX_LISTED = 8


class OrchestratorError(Exception):
    """An error that a person can act on, never shown with a traceback."""

    exit_code = 1


class InputError(OrchestratorError):
    """Input that cannot be right on any host."""

    exit_code = 2

    def __init__(self, *messages: str) -> None:
        self.messages: Sequence[str] = messages
        super().__init__("\n".join(messages))


def plain_words(message: str) -> str:
    """Return a message of pydantic without the name that it puts before those of our own validators."""
    return message.removeprefix("Value error, ")


def first_problem(error: "ValidationError") -> str:
    """Return place and text of the first mistake in a document.

    An example is `cells.0.id: Field required`.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    return ": ".join(filter(None, (".".join(str(part) for part in first["loc"]), plain_words(first["msg"]))))


def remedy(error: OSError, place: str = "place") -> str:
    """Return what to do where a file could not be written, by the cause."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"make room there, or choose another {place}"
    if error.errno == errno.ENOENT:
        return f"create its folder first, or choose another {place}"
    return f"choose another {place}"


class HostError(OrchestratorError):
    """A fault of this host, such as a missing engine, disk or permission."""

    exit_code = 3


class FolderError(HostError):
    """A file or folder that cannot be used. Others may be fine."""


_OF_THE_HOST = frozenset({
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENXIO, errno.ENOMEM,
    errno.EMFILE, errno.ENFILE, errno.ENOLCK, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH,
    errno.ENOSYS, errno.EOPNOTSUPP,
})  # fmt: skip
"""The system's errors about a disk, a file system or itself: every other folder fails in the same way."""


def host_error(message: str, error: OSError) -> HostError:
    """Return the error for one of the system, which is a `FolderError` unless the disk fails."""
    return HostError(message) if error.errno in _OF_THE_HOST else FolderError(message)


def did_you_mean(word: str, known: Collection[str]) -> str:
    """Return the end of a message with the closest known word, or with the known words if none is close."""
    from difflib import get_close_matches  # noqa: PLC0415 - most commands find no mistake

    lowered = {name.lower(): name for name in reversed(list(known))}
    close = get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {lowered[close[0]]!r}?"
    if not known:
        return "; there is none"
    listed = ", ".join(list(known)[:MAX_LISTED])
    return f"; there is {listed}{', …' if len(known) > MAX_LISTED else ''}"
