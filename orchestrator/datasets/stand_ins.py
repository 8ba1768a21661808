"""Stand-ins for datasets whose files are not at hand: the same format and number of images, none of the content.

What is measured with one has the right amount of work, and an accuracy that says nothing of the dataset. A file beside
the images marks a stand-in, and every run, result and report that uses it says so.
"""

import hashlib
import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from orchestrator.catalog import DatasetInfo
from orchestrator.catalog.mounted import CIFAR, IDX, STAND_IN
from orchestrator.datasets.idx import idx
from orchestrator.errors import InputError

SEED = 20_031
_NOISE = 96
"""Half the width of the noise around the mean image of a class, in values of a pixel."""
_Drawn = tuple[NDArray[np.uint8], NDArray[np.uint8]]


def stand_in(info: DatasetInfo) -> dict[str, bytes]:
    """Return the files of a stand-in by name, with the one that marks it.

    Raises `InputError` if the dataset has no files, or is in no format that can be made.
    """
    if info.image is None or not info.formats:
        raise InputError(f"{info.name}: needs no files, so nothing stands in for it")
    kind = next((kind for kind in ("idx", "cifar-binary") if kind in info.formats), None)
    if kind is None:
        raise InputError(f"{info.name}: there is no stand-in in the format {next(iter(info.formats))}")
    random = np.random.RandomState(SEED)
    means = random.randint(_NOISE, 256 - _NOISE, (info.classes, *info.image))
    parts = [_drawn(random, means, count) for count in (info.training, info.testing)]
    files = dict(_idx_files(parts) if kind == "idx" else _cifar_files(parts))
    sums = {name: f"sha256:{hashlib.sha256(content).hexdigest()}" for name, content in files.items()}
    marked = {"stand_in_for": info.name, "format": kind, "seed": SEED, "files": sums}
    return {**files, STAND_IN: (json.dumps(marked, indent=1) + "\n").encode()}


def _drawn(random: np.random.RandomState, means: NDArray[np.int64], count: int) -> _Drawn:
    """Draw images around the means of their classes, so that they can be learned."""
    labels = random.randint(0, len(means), count)
    images = np.empty((count, *means.shape[1:]), np.uint8)
    for position, label in enumerate(labels):
        images[position] = means[label] + random.randint(-_NOISE, _NOISE, means.shape[1:])
    return images, labels.astype(np.uint8)


def _idx_files(parts: list[_Drawn]) -> Iterator[tuple[str, bytes]]:
    arrays = [values for images, labels in parts for values in (images[:, 0], labels)]
    yield from ((name, idx(values)) for name, values in zip(IDX, arrays, strict=True))


def _cifar_files(parts: list[_Drawn]) -> Iterator[tuple[str, bytes]]:
    training, testing = (np.hstack([labels[:, None], images.reshape(len(images), -1)]) for images, labels in parts)
    batches = [*np.split(training, len(CIFAR) - 1), testing]
    yield from ((name, batch.tobytes()) for name, batch in zip(CIFAR, batches, strict=True))
