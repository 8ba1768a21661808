"""Stand-ins for datasets whose files are not at hand: the same format and number of samples, none of the content.

What is measured with one has the right amount of work, and an accuracy that says nothing of the dataset. A file beside
the samples marks a stand-in, and every run, result and report that uses it says so.
"""

import hashlib
import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from orchestrator.catalog import DatasetInfo
from orchestrator.catalog.datasets import CIFAR, STAND_IN
from orchestrator.datasets.idx import idx_files
from orchestrator.errors import InputError

SEED = 20_031
_NOISE = 96
"""Half the width of the noise around the mean image of a class, in values of a pixel."""
_SHARE = 0.5
"""Share of the numbers in a row that are those of its class."""
_Drawn = tuple[list[NDArray[np.integer]], NDArray[np.int64]]


def stand_in(info: DatasetInfo) -> dict[str, bytes]:
    """Return the files of a stand-in by name, with the one that marks it.

    Raises `InputError` if the dataset has no files, or is in no format that can be made.
    """
    if not info.formats:
        raise InputError(f"{info.name}: needs no files, so nothing stands in for it")
    kind = next((kind for kind in ("idx", "cifar-binary") if kind in info.formats), None)
    if kind is None:
        raise InputError(f"{info.name}: there is no stand-in in the format {next(iter(info.formats))}")
    parts = list(_pictures(info) if info.image else _rows(info))
    files = _cifar_files(parts) if kind == "cifar-binary" else idx_files(info, _in_order(parts))
    sums = {name: f"sha256:{hashlib.sha256(content).hexdigest()}" for name, content in files.items()}
    marked = {"stand_in_for": info.name, "format": kind, "seed": SEED, "files": sums}
    return {**files, STAND_IN: (json.dumps(marked, indent=1) + "\n").encode()}


def _pictures(info: DatasetInfo) -> Iterator[_Drawn]:
    """Draw images around the means of their classes, so that they can be learned."""
    image = info.image or (0, 0, 0)
    random = np.random.RandomState(SEED)
    means = np.empty((info.classes, *image), np.uint8)
    for mean in means:
        mean[...] = random.randint(_NOISE, 256 - _NOISE, image)
    for count in (info.training, info.testing):
        labels = random.randint(0, info.classes, count)
        images = np.empty((count, *image), np.uint8)
        for position, label in enumerate(labels):
            images[position] = means[label] + random.randint(-_NOISE, _NOISE, image)
        yield [images[:, 0] if image[0] == 1 else images], labels


def _rows(info: DatasetInfo) -> Iterator[_Drawn]:
    """Draw rows in which a share of the numbers are those of the class, so that they can be learned."""
    random = np.random.RandomState(SEED)
    of_classes = [random.randint(0, each.vocabulary, (info.classes, each.length)) for each in info.inputs]
    for count in (info.training, info.testing):
        labels = random.randint(0, info.classes, count)
        rows: list[NDArray[np.integer]] = []
        for each, numbers in zip(info.inputs, of_classes, strict=True):
            others = random.randint(0, each.vocabulary, (count, each.length))
            rows.append(np.where(random.random_sample(others.shape) < _SHARE, numbers[labels], others))
        yield rows, labels


def _in_order(parts: list[_Drawn]) -> list[NDArray[np.integer]]:
    return [values for inputs, labels in parts for values in (*inputs, labels)]


def _cifar_files(parts: list[_Drawn]) -> dict[str, bytes]:
    training, testing = (
        np.hstack([labels[:, None], images.reshape(len(images), -1)]).astype(np.uint8) for (images,), labels in parts
    )
    batches = [*np.split(training, len(CIFAR) - 1), testing]
    return {name: batch.tobytes() for name, batch in zip(CIFAR, batches, strict=True)}
