"""Files in the formats of MNIST and CIFAR-10, with a few images drawn from a seed: never the real ones."""

import gzip
import io
import pickle
import tarfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from orchestrator.user_files import MountedData

IDX = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
Drawn = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def drawn(count: int, image: tuple[int, int, int], classes: int, seed: int) -> Drawn:
    """Images with a bright row where their class says, in noise; every class comes up."""
    random = np.random.RandomState(seed)
    labels = (np.arange(count) % classes).astype(np.uint8)
    images = random.randint(0, 100, (count, *image)).astype(np.uint8)
    for picture, label in zip(images, labels, strict=True):
        picture[:, int(label) * image[1] // classes] = 255
    return images, labels


def idx(values: np.ndarray[Any, Any]) -> bytes:
    """An idx file of unsigned bytes."""
    head = bytes((0, 0, 8, values.ndim)) + b"".join(extent.to_bytes(4, "big") for extent in values.shape)
    return head + values.tobytes()


def write_idx(folder: Path, training: Drawn, testing: Drawn, *, packed: bool) -> None:
    """The four files of MNIST's format."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = (training[0][:, 0], training[1], testing[0][:, 0], testing[1])
    for name, values in zip(IDX, parts, strict=True):
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(idx(values)))
        else:
            (folder / name).write_bytes(idx(values))


def cifar_members(training: Drawn, testing: Drawn, *, python: bool) -> dict[str, bytes]:
    """The six batches of CIFAR-10's binary or Python version, by name."""
    batches = [(images, labels) for images, labels in zip(*(np.split(part, 5) for part in training), strict=True)]
    named = {f"data_batch_{number}": batch for number, batch in enumerate(batches, start=1)}
    named["test_batch"] = testing
    if python:
        return {name: _pickled(images, labels) for name, (images, labels) in named.items()}
    return {
        f"{name}.bin": np.concatenate([labels[:, None], images.reshape(len(images), -1)], axis=1).tobytes()
        for name, (images, labels) in named.items()
    }


def write_archive(path: Path, inner: str, members: dict[str, bytes]) -> None:
    """A gzipped tar archive with the members in one folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(f"{inner}/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


class _AsPython2(pickle._Pickler):  # type: ignore[name-defined]  # the one in Python, whose dispatch can be changed
    """Writes texts and bytes alike as Python 2 did, whose one string was bytes."""

    dispatch: ClassVar[dict[Any, Any]] = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def save_string(self, value: bytes | str) -> None:
        content = value.encode("latin-1") if isinstance(value, str) else value
        self.write(pickle.BINSTRING + len(content).to_bytes(4, "little") + content)
        self.memoize(value)

    dispatch[bytes] = save_string
    dispatch[str] = save_string


def _pickled(images: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> bytes:
    written = io.BytesIO()
    batch = {"data": images.reshape(len(images), -1), "labels": [int(label) for label in labels]}
    _AsPython2(written, 2).dump(batch)
    return written.getvalue()


def asked_for(data: MountedData) -> dict[str, Any]:
    """A dataset as a request describes it."""
    asked = {key: value for key, value in asdict(data).items() if key != "name"}
    return asked | {"files": dict(data.files), "inputs": [asdict(each) for each in data.inputs]}
