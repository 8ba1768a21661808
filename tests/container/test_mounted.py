"""Datasets in the formats they are published in, read by the container side."""

import hashlib
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.errors import BadRequest
from benchmarks.inputs import datasets, mounted
from benchmarks.models.convolutional import lenet
from benchmarks.models.residual import resnet20
from tests.datasets_in_original_formats import IDX, cifar_members, drawn, idx, write_archive, write_idx

GREY = (1, 28, 28)
COLOUR = (3, 32, 32)


def described(folder: Path, kind: str, image: tuple[int, int, int], names: tuple[str, ...]) -> dict[str, Any]:
    """A request's entry of a dataset, with the sums of the files as they are."""
    counts = {"classes": 10, "training": 50, "testing": 20}
    return {"folder": str(folder), "format": kind, "image": list(image), **counts, "files": dict.fromkeys(names, "")}


def with_sums(data: dict[str, Any], contents: dict[str, bytes]) -> dict[str, Any]:
    return data | {"files": {name: f"sha256:{hashlib.sha256(contents[name]).hexdigest()}" for name in data["files"]}}


def a_mnist(folder: Path, *, packed: bool = True) -> dict[str, Any]:
    training, testing = drawn(50, GREY, 10, 1), drawn(20, GREY, 10, 2)
    write_idx(folder, training, testing, packed=packed)
    parts = (training[0][:, 0], training[1], testing[0][:, 0], testing[1])
    contents = {name: idx(values) for name, values in zip(IDX, parts, strict=True)}
    return with_sums(described(folder, "idx", GREY, IDX), contents)


@pytest.mark.parametrize("packed", [True, False])
def test_idx_files_are_read_packed_or_not(tmp_path: Path, packed: bool) -> None:
    """Files of idx are read packed or not, and keep the split that they have."""
    split = mounted.load(a_mnist(tmp_path, packed=packed))

    images, labels = drawn(50, GREY, 10, 1)
    assert np.array_equal(split.training, images)
    assert np.array_equal(split.training_labels, labels)
    assert np.array_equal(split.testing, drawn(20, GREY, 10, 2)[0])
    assert split.highest == 255


def test_digest_covers_the_output_of_sha256sum(tmp_path: Path) -> None:
    """The digest is that of the list of sums that sha256sum prints."""
    split = mounted.load(a_mnist(tmp_path, packed=False))

    listed = subprocess.run(["sha256sum", *IDX], cwd=tmp_path, capture_output=True, check=True).stdout
    assert split.sha256 == hashlib.sha256(listed).hexdigest()


@pytest.mark.parametrize("python", [False, True], ids=["binary", "python"])
@pytest.mark.parametrize("unpacked", [False, True], ids=["archive", "folder"])
def test_every_version_of_cifar_holds_the_same_images(tmp_path: Path, python: bool, unpacked: bool) -> None:
    training, testing = drawn(50, COLOUR, 10, 3), drawn(20, COLOUR, 10, 4)
    members = cifar_members(training, testing, python=python)
    kind = "cifar-python" if python else "cifar-binary"
    inner, archive = mounted.ARCHIVES[kind]
    write_archive(tmp_path / archive, inner, members)
    if unpacked:
        subprocess.run(["tar", "xzf", archive], cwd=tmp_path, check=True)
        (tmp_path / archive).unlink()

    split = mounted.load(with_sums(described(tmp_path, kind, COLOUR, tuple(members)), members))

    assert np.array_equal(split.training, training[0])
    assert np.array_equal(split.training_labels, training[1])
    assert np.array_equal(split.testing, testing[0])
    assert np.array_equal(split.testing_labels, testing[1])


def test_dataset_feeds_models_of_other_shapes_too(tmp_path: Path) -> None:
    """A dataset feeds models of its own shape and of others, and says which dataset it was."""
    data = a_mnist(tmp_path)

    grey = datasets.named("mine", lenet, 0, data)
    coloured = datasets.named("mine", resnet20, 0, data)

    (inputs, labels), *_ = grey.batches(10, 1)
    assert (inputs.shape, inputs.dtype, labels.dtype) == ((10, *lenet.INPUT_SHAPE), np.float32, np.int32)
    assert 0.9 < inputs.max() <= 1
    assert next(iter(coloured.batches(10, 1)))[0].shape == (10, 3, 32, 32)
    assert grey.facts() == {
        "name": "mine", "sha256": mounted.load(data).sha256, "training": 50, "testing": 20,
    }  # fmt: skip


def test_file_changed_after_inspection_is_refused(tmp_path: Path) -> None:
    data = a_mnist(tmp_path, packed=False)
    labels = tmp_path / IDX[1]
    content = bytearray(labels.read_bytes())
    content[-1] ^= 1
    labels.write_bytes(bytes(content))

    with pytest.raises(BadRequest, match=r"train-labels-idx1-ubyte in .* is not the file it should be"):
        mounted.load(data)


def test_unreadable_file_is_refused_with_its_name(tmp_path: Path) -> None:
    """A file that is cut, missing or no idx file is refused with its name."""
    data = a_mnist(tmp_path, packed=False)
    images = tmp_path / IDX[0]
    whole = images.read_bytes()
    for content, said in ((whole[:-5], "is cut"), (b"PNG" + whole, "is no idx file"), (b"", "is no idx file")):
        images.write_bytes(content)
        sums = data["files"] | {IDX[0]: f"sha256:{hashlib.sha256(content).hexdigest()}"}
        with pytest.raises(BadRequest, match=f"{IDX[0]} {said}"):
            mounted.load(data | {"files": sums})
    images.unlink()
    with pytest.raises(BadRequest, match=f"{IDX[0]} is missing"):
        mounted.load(data)


def test_pickle_of_more_than_arrays_is_refused(tmp_path: Path) -> None:
    """A pickle that asks for more than arrays is refused."""
    members = cifar_members(drawn(50, COLOUR, 10, 3), drawn(20, COLOUR, 10, 4), python=True)
    members["data_batch_3"] = pickle.dumps(subprocess.run)
    write_archive(tmp_path / "cifar-10-python.tar.gz", "cifar-10-batches-py", members)

    with pytest.raises(BadRequest, match=r"asks for subprocess\.run"):
        mounted.load(with_sums(described(tmp_path, "cifar-python", COLOUR, tuple(members)), members))


def test_published_dataset_must_be_genuine_by_hand(tmp_path: Path) -> None:
    """By hand, a published dataset must be the published one."""
    a_mnist(tmp_path)
    command = [sys.executable, "-m", "benchmarks.run", "lenet", "--framework", "noop", "--steps", "1", "--dataset"]

    def said(*arguments: str) -> tuple[int, str]:
        ended = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        return ended.returncode, ended.stderr.strip().splitlines()[-1]

    code, line = said("mnist", "--data", str(tmp_path))
    assert (code, line.endswith("is not the file it should be: its checksum is another")) == (5, True)
    code, line = said("cifar10", "--data", str(tmp_path))
    assert (code, "does not hold the files of cifar10; they are at https://www.cs.toronto.edu/" in line) == (5, True)
    code, line = said("mnist")
    assert (code, "--data by hand" in line) == (3, True)


def test_published_members_have_one_sum_each() -> None:
    """The published datasets have one sum for each member."""
    known = json.loads(Path(mounted.PUBLISHED).read_text())

    assert sorted(known) == ["cifar10", "fashion-mnist", "mnist", "mnist-10k"]
    sums = [each for entry in known.values() for kind in entry["formats"].values() for each in kind.values()]
    assert len(sums) == len(set(sums)) == 4 + 4 + 4 + 6 + 6
    for algorithm, _, digest in (each.partition(":") for each in sums):
        assert len(bytes.fromhex(digest)) == {"md5": 16, "sha256": 32}[algorithm]
