"""Paths that came from elsewhere: only plain ones, below the folder that they are meant for, are taken."""

import unicodedata
from pathlib import PurePosixPath

MOST_BYTES = 3072
"""Of a whole path: file systems take 4096, with the folder that it is put in."""
MOST_PART_BYTES = 255


def problem(path: str) -> str | None:
    """Why a path from a bundle or a file of results is not taken, in a few words; None where it is plain.

    A plain path is relative, in its shortest form, in UTF-8, and a line of `SHA256SUMS` can hold it as it is.
    """
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    parts = path.split("/")
    if any(part in {"", ".", ".."} for part in parts) or PurePosixPath(path).is_absolute():
        return "leads out of its folder, or is not in its shortest form"
    if len(encoded) > MOST_BYTES or any(len(part.encode()) > MOST_PART_BYTES for part in parts):
        return "is too long"
    if "\\" in path or any(unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp"} for character in path):
        return "holds a control character or a backslash"
    return None
