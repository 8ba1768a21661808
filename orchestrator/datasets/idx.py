"""Files in the format of MNIST, written one after another into a folder that is complete or not there."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.catalog import DatasetInfo
from orchestrator.catalog.datasets import IDX_TYPES, idx_names
from orchestrator.errors import InputError


def idx(values: NDArray[Any], ending: str = "ubyte") -> bytes:
    """Return the content of an idx file: magic number, extents, then big-endian values.

    `ending` is that of the file's name, `ubyte` or `short`.
    """
    number, kind = IDX_TYPES[ending]
    extents = b"".join(extent.to_bytes(4, "big") for extent in values.shape)
    return bytes((0, 0, number, values.ndim)) + extents + np.ascontiguousarray(values, kind).tobytes()


def idx_files(info: DatasetInfo, arrays: Sequence[NDArray[Any]]) -> dict[str, bytes]:
    """Return the idx files of a dataset by name: inputs and labels to train with, then those to test with."""
    return {name: idx(values, name.rpartition("-")[2]) for name, values in zip(idx_names(info), arrays, strict=True)}


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
