"""Files of datasets in a user's folder, as the host looks at them before a run."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from benchmarks.inputs import mounted
from orchestrator.catalog import DATASETS, DatasetInfo, examine, own_dataset
from tests.datasets_in_original_formats import IDX, cifar_members, drawn, write_archive, write_idx

GREY = (1, 8, 8)
COLOUR = (3, 4, 4)


def mine(kind: str, image: tuple[int, int, int], training: int, testing: int) -> DatasetInfo:
    return own_dataset(DatasetInfo("mine", image, 5, training, testing), kind)


MINE = mine("idx", GREY, 50, 20)


def a_folder(folder: Path, *, packed: bool = True) -> Path:
    write_idx(folder, drawn(50, GREY, 5, 1), drawn(20, GREY, 5, 2), packed=packed)
    return folder


def cifar_info(members: dict[str, bytes], kind: str) -> DatasetInfo:
    """A dataset that was published with these members."""
    sums = {name: f"md5:{hashlib.md5(content).hexdigest()}" for name, content in members.items()}
    return DatasetInfo("small", COLOUR, 5, 50, 20, formats={kind: sums}, where="https://example.org/small")


@pytest.mark.parametrize("packed", [True, False])
def test_what_the_host_finds_the_container_reads(tmp_path: Path, packed: bool) -> None:
    data, mistakes = examine(MINE, a_folder(tmp_path, packed=packed))

    assert (mistakes, data is not None) == ([], True)
    assert data is not None
    asked = {"folder": data.folder, "format": data.format, "image": list(data.image), "files": dict(data.files)}
    split = mounted.load(asked | {"classes": 5, "training": 50, "testing": 20})
    assert np.array_equal(split.training, drawn(50, GREY, 5, 1)[0])


@pytest.mark.parametrize("kind", ["cifar-binary", "cifar-python"])
def test_members_of_an_archive_are_checked(tmp_path: Path, kind: str) -> None:
    """An archive is looked into, and its members are compared with their sums."""
    members = cifar_members(drawn(50, COLOUR, 5, 1), drawn(20, COLOUR, 5, 2), python=kind == "cifar-python")
    inner, archive = mounted.ARCHIVES[kind]
    write_archive(tmp_path / archive, inner, members)

    data, mistakes = examine(cifar_info(members, kind), tmp_path)

    assert mistakes == []
    assert data is not None
    assert dict(data.files) == {name: f"sha256:{hashlib.sha256(each).hexdigest()}" for name, each in members.items()}
    changed = members | {"test_batch" + (".bin" if kind == "cifar-binary" else ""): b"x"}
    write_archive(tmp_path / archive, inner, changed)
    data, (mistake,) = examine(cifar_info(members, kind), tmp_path)
    assert data is None
    assert mistake.startswith(f"{tmp_path / archive}: is another file: its MD5 is ")
    assert mistake.endswith("; get it from https://example.org/small")


def test_missing_files_are_reported_with_their_source(tmp_path: Path) -> None:
    """A folder or files that are not there are reported with the place to get them from."""
    where = "https://ossci-datasets.s3.amazonaws.com/mnist/"
    assert examine(DATASETS["mnist"], tmp_path / "mnist") == (
        None,
        [f"{tmp_path}/mnist: no such folder; it should hold the files of mnist: get it from {where}"],
    )
    a_folder(tmp_path / "mnist")
    (tmp_path / "mnist" / f"{IDX[1]}.gz").unlink()
    assert examine(DATASETS["mnist"], tmp_path / "mnist")[1] == [
        f"{tmp_path}/mnist/{IDX[1]}: is not there, nor is {IDX[1]}.gz; get it from {where}"
    ]
    (tmp_path / "mnist" / f"{IDX[3]}.gz").unlink()
    (mistake,) = examine(DATASETS["mnist"], tmp_path / "mnist")[1]
    assert "(2 such files are missing)" in mistake
    (tmp_path / "cifar10").mkdir()
    (mistake,) = examine(DATASETS["cifar10"], tmp_path / "cifar10")[1]
    assert "data_batch_1.bin: is not there, nor is cifar-10-binary.tar.gz" in mistake


def test_each_altered_file_is_reported_by_itself(tmp_path: Path) -> None:
    """Files that are not the published ones are reported each by itself."""
    data, mistakes = examine(DATASETS["mnist"], a_folder(tmp_path))

    assert data is None
    assert [mistake.partition(":")[0] for mistake in mistakes] == [f"{tmp_path}/{name}.gz" for name in IDX]
    assert all("is another file: its SHA256 is " in mistake for mistake in mistakes)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "cannot be read"),
        (lambda path: path.write_bytes(b"\x1f\x8b nothing gzip wrote"), "cannot be read"),
        (lambda path: path.write_bytes(b""), "is no whole idx file"),
        (lambda path: path.write_bytes(b"no gzip"), "cannot be read"),
    ],
    ids=["cut", "broken", "empty", "other"],
)
def test_a_corrupt_packed_file_is_one_mistake(tmp_path: Path, spoil: object, said: str) -> None:
    """A packed file that cannot be unpacked is one mistake."""
    path = a_folder(tmp_path) / f"{IDX[0]}.gz"
    spoil(path)  # type: ignore[operator]

    data, mistakes = examine(MINE, tmp_path)

    assert data is None
    assert [said in mistake for mistake in mistakes if mistake.startswith(str(path))] == [True]
    assert len(mistakes) == 1


def test_an_incomplete_archive_is_a_mistake(tmp_path: Path) -> None:
    """An archive without a member, or a file that is no archive, is a mistake."""
    members = cifar_members(drawn(50, COLOUR, 5, 1), drawn(20, COLOUR, 5, 2), python=False)
    info = cifar_info(members, "cifar-binary")
    path = tmp_path / "cifar-10-binary.tar.gz"
    write_archive(path, "cifar-10-batches-bin", {name: each for name, each in members.items() if "3" not in name})
    assert len(examine(info, tmp_path)[1]) == 1

    path.write_bytes(b"no archive")
    assert len(examine(info, tmp_path)[1]) == len(members)


def test_own_files_must_match_the_matrix(tmp_path: Path) -> None:
    """Files of one's own are compared with what the matrix says of them."""
    a_folder(tmp_path, packed=False)

    for info, wrong in (
        (mine("idx", GREY, 60, 20), IDX[:2]),
        (mine("idx", (1, 8, 9), 50, 20), (IDX[0], IDX[2])),
    ):
        _, mistakes = examine(info, tmp_path)
        assert [mistake.partition(":")[0] for mistake in mistakes] == [str(tmp_path / name) for name in wrong]
    (tmp_path / IDX[3]).write_bytes((tmp_path / IDX[3]).read_bytes() + b"x")
    (mistake,) = examine(MINE, tmp_path)[1]
    assert mistake == (
        f"{tmp_path / IDX[3]}: is no whole idx file of 20 bytes, which is what the matrix says of it; "
        "docs/datasets.md says what belongs there"
    )


def test_own_binary_batches_must_match_the_matrix(tmp_path: Path) -> None:
    """Binary batches of one's own are compared with what the matrix says of them."""
    members = cifar_members(drawn(50, COLOUR, 5, 1), drawn(20, COLOUR, 5, 2), python=False)
    for name, content in members.items():
        (tmp_path / name).write_bytes(content)

    assert examine(mine("cifar-binary", COLOUR, 50, 20), tmp_path)[1] == []
    mistakes = examine(mine("cifar-binary", COLOUR, 50, 30), tmp_path)[1]
    assert [mistake.partition(":")[0] for mistake in mistakes] == [str(tmp_path / "test_batch.bin")]
    assert len(examine(mine("cifar-binary", COLOUR, 51, 20), tmp_path)[1]) == 5


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """A link out of the folder is refused, for no container could follow it."""
    folder = a_folder(tmp_path / "mine")
    (folder / f"{IDX[0]}.gz").rename(tmp_path / "elsewhere.gz")
    (folder / f"{IDX[0]}.gz").symlink_to(tmp_path / "elsewhere.gz")

    data, (mistake,) = examine(MINE, folder)

    assert data is None
    assert "leads out of its folder through a link" in mistake
