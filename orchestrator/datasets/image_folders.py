"""Folders of photographs, one for each class, as images of one size.

The shorter side of each photograph is scaled to the image, and the middle of the longer one is cut out, as loaders of
ImageNet do for tests. So photographs are decoded once, before anything is measured. Classes are numbered in the order
of their names.
"""

import hashlib
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator.catalog import DatasetInfo
from orchestrator.datasets.idx import idx_files
from orchestrator.errors import InputError

try:
    import PIL
    from PIL import Image
except ImportError:
    HAS_DECODER = False
else:
    HAS_DECODER = True

RECORD = "source.json"
"""The file beside the images that says what they were made from."""
SPLIT_SEED = 10_000
_MODES = {1: "L", 3: "RGB"}
"""Pillow's name of a kind of image, by channels."""
_ENDINGS = {".jpg", ".jpeg", ".png", ".bmp", ".ppm"}
_Photos = list[tuple[Path, int]]


def converted(info: DatasetInfo, source: Path) -> dict[str, bytes]:
    """Return the idx files of a folder, with a record of every photograph.

    The folder holds `train` and `test` (or `val`) with a folder for each class, or the folders of classes alone, which
    are then divided by a fixed seed. Raises `InputError` if it holds another number of photographs or classes than the
    dataset's description says, if one cannot be decoded, and if Pillow is not installed.
    """
    if not HAS_DECODER:
        raise InputError("photographs are decoded by Pillow, which is not installed here: pip install pillow")
    shape = info.image or (0, 0, 0)
    if shape[0] not in _MODES:
        raise InputError(f"{info.name}: photographs have 1 or 3 channels, not {shape[0]}")
    if not source.is_dir():
        raise InputError(f"{source}: is no folder of photographs")
    arrays: list[NDArray[np.integer]] = []
    lines = []
    for photos in _parts(info, source):
        images = np.empty((len(photos), *shape), np.uint8)
        for position, (path, label) in enumerate(photos):
            content = _read(path)
            images[position] = _image(path, content, shape)
            lines.append(f"{hashlib.sha256(content).hexdigest()}  {label}  {path.relative_to(source)}")
        arrays += [images[:, 0] if shape[0] == 1 else images, np.array([label for _, label in photos])]
    record = {"decoded_by": f"Pillow {PIL.__version__}", "split_seed": SPLIT_SEED, "photographs": lines}
    return {**idx_files(info, arrays), RECORD: (json.dumps(record, indent=1) + "\n").encode()}


def _parts(info: DatasetInfo, source: Path) -> tuple[_Photos, _Photos]:
    """Return the photographs to train with and those to test with, each with its class."""
    training = source / "train"
    testing = next((source / name for name in ("test", "val") if (source / name).is_dir()), source)
    divided = training.is_dir() and testing != source
    classes = sorted(each.name for each in (training if divided else source).iterdir() if each.is_dir())
    if divided:
        parts = list(_photos(training, classes)), list(_photos(testing, classes))
    else:
        photos = list(_photos(source, classes))
        order = [photos[position] for position in np.random.RandomState(SPLIT_SEED).permutation(len(photos))]
        parts = order[: info.training], order[info.training :]
    mistakes = []
    for key, wanted, part in (("training", info.training, parts[0]), ("testing", info.testing, parts[1])):
        if wanted != len(part):
            mistakes.append(f"{key} of {info.name} is {wanted}, and there are {len(part)} photographs")
    if len(classes) > info.classes:
        mistakes.append(f"classes of {info.name} is {info.classes}, and there are {len(classes)} folders")
    if mistakes:
        raise InputError(*(f"{source}: {mistake}" for mistake in mistakes))
    return parts


def _photos(folder: Path, classes: list[str]) -> Iterator[tuple[Path, int]]:
    for label, name in enumerate(classes):
        for path in sorted((folder / name).glob("*")):
            if path.suffix.lower() in _ENDINGS:
                yield path, label


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _image(path: Path, content: bytes, shape: tuple[int, int, int]) -> NDArray[np.uint8]:
    """Return a photograph as (channels, height, width)."""
    channels, height, width = shape
    try:
        with Image.open(BytesIO(content)) as photo:
            taken = photo.convert(_MODES[channels])
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"{path}: cannot be decoded: {error}") from error
    factor = max(height / taken.height, width / taken.width)
    size = max(width, round(taken.width * factor)), max(height, round(taken.height * factor))
    scaled = taken.resize(size, Image.Resampling.BILINEAR)
    left, top = (size[0] - width) // 2, (size[1] - height) // 2
    values = np.asarray(scaled.crop((left, top, left + width, top + height)), np.uint8)
    return values.transpose(2, 0, 1) if channels == 3 else values[None]
