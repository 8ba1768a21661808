"""The datasets that a model can be trained on, and the files of one in a folder of the user's.

The files are checked: that they exist, are whole and are the published ones. The order of search is that of
`benchmarks/inputs/mounted.py`, which reads them. Hashes are of unpacked bytes.
"""

import gzip
import hashlib
import json
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import isqrt, prod
from pathlib import Path
from typing import IO

from orchestrator.catalog.model_files.models import ModelInfo
from orchestrator.resources import BENCHMARKS
from orchestrator.user_files import MountedData, SequenceInput


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """A dataset, which suits every model if it is synthetic and so has neither images nor rows of whole numbers."""

    name: str
    image: tuple[int, int, int] | None = None
    """Channels, height, width."""
    classes: int = 0
    training: int = 0
    """Samples in an epoch."""
    testing: int = 0
    inputs: tuple[SequenceInput, ...] = ()
    """Rows of whole numbers; empty for images."""
    formats: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The formats of a dataset in a folder of the user's, each with its members.

    A member has its published hash, or "" if there is none.
    """
    where: str = ""
    """The place where its files can be had."""
    own: bool = False
    """True if the matrix describes it."""


SYNTHETIC = DatasetInfo("synthetic")
DIGITS = DatasetInfo("digits", (1, 8, 8), 10, 1437, 360)


def _published() -> dict[str, DatasetInfo]:
    """Read the published datasets from `benchmarks/data/published.json`, which containers read too."""
    known = json.loads((BENCHMARKS / "data" / "published.json").read_text(encoding="utf-8"))
    return {
        name: DatasetInfo(
            name, tuple(entry["image"]), entry["classes"], entry["training"], entry["testing"],
            formats=entry["formats"], where=entry["where"],
        )
        for name, entry in known.items()
    }  # fmt: skip


DATASETS: Mapping[str, DatasetInfo] = {SYNTHETIC.name: SYNTHETIC, DIGITS.name: DIGITS, **_published()}
"""By name; the first is the default."""


def unsuitable(dataset: DatasetInfo, model: ModelInfo, batch_size: int) -> str:
    """Return the reason that a model cannot be trained on a dataset, in one line, or "" if it can.

    The rule for images is that of `benchmarks/inputs/pictures.py`. Of rows the plan sees the first input's shape, and
    `benchmarks/inputs/sequences.py` the rest.
    """
    if dataset.image is None and not dataset.inputs:
        return ""
    if dataset.image is not None:
        held, fits = " x ".join(map(str, dataset.image)), _fits(dataset.image, model.input_shape)
    else:
        held = ", ".join(f"{each.name} of {each.length} below {each.vocabulary}" for each in dataset.inputs)
        fits = _rows_fit(dataset.inputs, model.input_shape)
    if not fits:
        input_shape = " x ".join(map(str, model.input_shape))
        return f"{dataset.name} ({held}) does not fit {model.name}, which takes {input_shape}"
    if model.classes < dataset.classes:
        return f"{dataset.name} has {dataset.classes} classes; {model.name} distinguishes {model.classes}"
    if batch_size > dataset.training:
        return f"a batch of {batch_size} is more than the {dataset.training} training samples of {dataset.name}"
    return ""


def _fits(image: tuple[int, int, int], shape: tuple[int, ...]) -> bool:
    channels, height, width = image
    if len(shape) == 1:
        side = isqrt(shape[0] // channels)
        shape = (channels, side, side) if channels * side * side == shape[0] else ()
    return len(shape) == 3 and shape[0] % channels == 0 and shape[1] >= height and shape[2] >= width


def _rows_fit(inputs: tuple[SequenceInput, ...], shape: tuple[int, ...]) -> bool:
    """Return whether a model takes the rows as they are, or one of them one-hot."""
    if len(shape) == 1:
        return any(shape == (each.length,) for each in inputs)
    one_hot = len(inputs) == 1 and len(shape) == 2 and shape[0] == inputs[0].length
    return one_hot and inputs[0].vocabulary <= shape[1]


IDX = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
CIFAR = (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin")
IDX_TYPES = {"ubyte": (0x08, ">u1"), "short": (0x0B, ">i2")}
"""The third byte of the magic number and the type of a value, as NumPy names it, by the end of a file's name."""
_UBYTE_VALUES = 256
_ARCHIVES = {
    "cifar-binary": ("cifar-10-batches-bin", "cifar-10-binary.tar.gz"),
    "cifar-python": ("cifar-10-batches-py", "cifar-10-python.tar.gz"),
}
STAND_IN = "STAND-IN.json"
"""The file that marks a folder as a stand-in, with the sums of the files in it."""
_MOST_MARKER_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 20
_HEAD_BYTES = 20
"""Longest head of an idx file, of four dimensions."""
_UNREADABLE = (OSError, EOFError, zlib.error, tarfile.TarError, KeyError)


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    path: Path
    """The file that contains it: itself, gzipped, or an archive."""
    inner: str = ""
    """Its name in the archive; empty if the file is no archive."""


def own_dataset(described: DatasetInfo, kind: str) -> DatasetInfo:
    """Return a dataset of the user's own with the files that it has in a format, `idx` or `cifar-binary`."""
    names = CIFAR if kind == "cifar-binary" else idx_names(described)
    return replace(described, formats={kind: dict.fromkeys(names, "")}, own=True)


def idx_names(info: DatasetInfo) -> tuple[str, ...]:
    """Return the names of a dataset's idx files: the inputs and the labels to train with, then those to test with."""
    if info.image is None:
        held = [f"{each.name}-idx2-{_ending(each.vocabulary)}" for each in info.inputs]
    else:
        held = ["images-idx3-ubyte" if info.image[0] == 1 else "images-idx4-ubyte"]
    held.append(f"labels-idx1-{_ending(info.classes)}")
    return tuple(f"{part}-{each}" for part in ("train", "t10k") for each in held)


def _ending(values: int) -> str:
    return "ubyte" if values <= _UBYTE_VALUES else "short"


def examine(info: DatasetInfo, folder: Path) -> tuple[MountedData | None, list[str]]:
    """Read the files of a dataset whole, and return what containers are told of them, or every mistake."""
    remedy = f"get it from {info.where}" if info.where else "docs/datasets.md says what belongs there"
    if not info.formats or not folder.is_dir():
        return None, [f"{folder}: no such folder; it should hold the files of {info.name}: {remedy}"]
    stand_in = (folder / STAND_IN).is_file()
    if stand_in:
        try:
            info = _as_marked(info, folder / STAND_IN)
        except (OSError, ValueError) as error:
            return None, [f"{folder / STAND_IN}: {error}; make the stand-in again, or {remedy}"]
    kind, members, missing = min(((kind, *_members(folder, kind, info)) for kind in info.formats), key=_absent)
    if missing:
        other = f", nor is {_ARCHIVES[kind][1]}" if kind in _ARCHIVES else f", nor is {missing[0]}.gz"
        more = f" ({len(missing)} such files are missing)" if len(missing) > 1 else ""
        return None, [f"{folder / missing[0]}: is not there{other}{more}; {remedy}"]
    sums: dict[str, str] = {}
    mistakes = []
    for member in members:
        try:
            if not member.path.resolve().is_relative_to(folder.resolve()):
                raise ValueError("leads out of its folder through a link, which no container can follow")
            sums[member.name] = _sum(member, kind, info)
        except _UNREADABLE as error:
            mistakes.append(f"{member.path}: cannot be read: {error}; {remedy}")
        except ValueError as error:
            mistakes.append(f"{member.path}: {error}; {remedy}")
    data = MountedData(
        info.name, kind, str(folder.absolute()), info.image, info.classes, info.training, info.testing,
        tuple(sums.items()), stand_in, info.inputs,
    )  # fmt: skip
    return (None if mistakes else data), mistakes


def _as_marked(info: DatasetInfo, marker: Path) -> DatasetInfo:
    """Return a dataset with the sums of a stand-in. Raises `ValueError` if it stands in for another one."""
    with marker.open("rb") as file:
        marked = json.loads(file.read(_MOST_MARKER_BYTES))
    if not isinstance(marked, dict) or marked.get("stand_in_for") != info.name:
        raise ValueError(f"is no stand-in for {info.name}")
    kind, sums = str(marked.get("format")), marked.get("files")
    if kind not in info.formats or not isinstance(sums, dict) or set(sums) != set(info.formats[kind]):
        raise ValueError("does not have a sum for each of its files")
    if not all(isinstance(each, str) and each.startswith("sha256:") for each in sums.values()):
        raise ValueError("has a sum that is no SHA-256")
    return replace(info, formats={kind: sums})


def _absent(of_format: tuple[str, list[_Member], list[str]]) -> int:
    return len(of_format[2])


def _members(folder: Path, kind: str, info: DatasetInfo) -> tuple[list[_Member], list[str]]:
    """Return the members of a format that exist, and the names of those that do not."""
    members, missing = [], []
    inner, archive = _ARCHIVES.get(kind, ("", ""))
    for name in info.formats[kind]:
        places = [folder / name, folder / f"{name}.gz", *([folder / inner / name] if inner else [])]
        path = next((place for place in places if place.is_file()), None)
        if path is not None:
            members.append(_Member(name, path))
        elif archive and (folder / archive).is_file():
            members.append(_Member(name, folder / archive, f"{inner}/{name}"))
        else:
            missing.append(name)
    return members, missing


def _sum(member: _Member, kind: str, info: DatasetInfo) -> str:
    """Return the prefixed SHA-256 of a member, or raise `ValueError` for a wrong member."""
    algorithm, _, published = info.formats[kind][member.name].partition(":")
    known, digest = hashlib.new(algorithm or "sha256"), hashlib.sha256()
    head, size = b"", 0
    with _opened(member) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            head, size = head or chunk[:_HEAD_BYTES], size + len(chunk)
            known.update(chunk)
            digest.update(chunk)
    if published and known.hexdigest() != published:
        raise ValueError(f"is another file: its {algorithm.upper()} is {known.hexdigest()}, and should be {published}")
    if not published:
        _check(member.name, kind, info, head, size)
    return f"sha256:{digest.hexdigest()}"


@contextmanager
def _opened(member: _Member) -> Iterator[IO[bytes] | gzip.GzipFile]:
    if member.inner:
        with tarfile.open(member.path) as archive:
            stream = archive.extractfile(member.inner)
            if stream is None:
                raise KeyError(f"{member.inner!r} is no file")
            with stream:
                yield stream
    elif member.path.suffix == ".gz":
        with gzip.open(member.path) as unpacked:
            yield unpacked
    else:
        with member.path.open("rb") as plain:
            yield plain


def _check(name: str, kind: str, info: DatasetInfo, head: bytes, size: int) -> None:
    """Compare a member of the user's own with its description in the matrix, or raise `ValueError`."""
    channels, height, width = info.image or (0, 0, 0)
    count = info.testing if name.startswith(("t10k", "test")) else info.training
    if kind == "cifar-binary":
        count, spare = (count, 0) if name.startswith("test") else divmod(count, len(CIFAR) - 1)
        wanted = count * (1 + channels * height * width)
        if spare or size != wanted:
            raise ValueError(f"holds {size} bytes; {count} labels and images of {height} x {width} take {wanted}")
        return
    holds, form, ending = name.rsplit("-", 3)[1:]
    lengths = {each.name: each.length for each in info.inputs}
    of_one = {"idx1": (), "idx2": (lengths.get(holds, 0),), "idx3": (height, width), "idx4": (channels, height, width)}
    extents, (number, kind) = (count, *of_one[form]), IDX_TYPES[ending]
    width_bytes = int(kind[-1])
    expected = bytes((0, 0, number, len(extents))) + b"".join(extent.to_bytes(4, "big") for extent in extents)
    if head[: len(expected)] != expected or size != len(expected) + width_bytes * prod(extents):
        shown = " x ".join(map(str, extents))
        values = "bytes" if width_bytes == 1 else "values of two bytes"
        raise ValueError(f"is no whole idx file of {shown} {values}, which is what the matrix says of it")
