"""Files in the format of MNIST, written one after another into a folder that is complete or not there."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.errors import InputError

IDX_BYTES = 0x08
"""The third byte of the magic number, for unsigned bytes."""


def idx(values: NDArray[np.uint8]) -> bytes:
    """Return the content of an idx file: magic number, extents, then the bytes."""
    extents = b"".join(extent.to_bytes(4, "big") for extent in values.shape)
    return bytes((0, 0, IDX_BYTES, values.ndim)) + extents + np.ascontiguousarray(values).tobytes()


def write_folder(folder: Path, files: Mapping[str, Any]) -> None:
    """Write files into a new folder, which appears with all of them.

    Raises `InputError` if something is there already, or if it cannot be written.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise InputError(f"{folder}: is there already; name another folder with --data, or move this away")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            for name, content in files.items():
                (beside / name).write_bytes(content)
            beside.chmod(0o755)
            beside.replace(folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from error
