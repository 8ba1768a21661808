"""Photographs in folders of their classes, scaled and cut to one size."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks.inputs import mounted
from orchestrator.catalog import DatasetInfo, examine, own_dataset
from orchestrator.datasets import image_folders
from orchestrator.datasets.converting import converted
from orchestrator.datasets.idx import write_folder
from orchestrator.errors import InputError
from tests.datasets_in_original_formats import asked_for

RED, BLUE = (200, 0, 0), (0, 0, 200)


def described(classes: int = 300, training: int = 4, testing: int = 2, channels: int = 3) -> DatasetInfo:
    return own_dataset(DatasetInfo("photos", (channels, 8, 6), classes, training, testing), "idx")


def photograph(path: Path, size: tuple[int, int], colour: tuple[int, int, int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)


def divided(folder: Path) -> Path:
    for name, colour in (("blue", BLUE), ("red", RED)):
        photograph(folder / "train" / name / "1.png", (30, 20), colour)
        photograph(folder / "train" / name / "2.JPG", (7, 50), colour)
        photograph(folder / "val" / name / "3.bmp", (3, 2), colour)
    (folder / "train" / "red" / "notes.txt").write_text("no photograph")
    return folder


def test_photographs_become_classed_images_of_one_size(tmp_path: Path) -> None:
    """Photographs become images of one size with their class."""
    write_folder(tmp_path / "photos", converted(described(), divided(tmp_path / "source")))

    data, problems = examine(described(), tmp_path / "photos")

    assert problems == []
    assert data is not None
    split = mounted.load(asked_for(data))
    assert split.training.shape == (4, 3, 8, 6)
    assert split.training_labels.tolist() == [0, 0, 1, 1]
    assert split.testing_labels.tolist() == [0, 1]
    assert np.abs(split.training[3].mean(axis=(1, 2)) - RED).max() < 3, "a JPEG is near its colour"
    assert np.array_equal(split.testing[0].mean(axis=(1, 2)), BLUE)
    record = json.loads((tmp_path / "photos" / image_folders.RECORD).read_text())
    assert [line.split("  ", 1)[1] for line in record["photographs"]] == [
        "0  train/blue/1.png", "0  train/blue/2.JPG", "1  train/red/1.png", "1  train/red/2.JPG", "0  val/blue/3.bmp",
        "1  val/red/3.bmp",
    ]  # fmt: skip


def test_the_middle_is_cut_out(tmp_path: Path) -> None:
    picture = np.zeros((8, 18, 3), np.uint8)
    picture[:, 6:12] = 255
    path = tmp_path / "source" / "one" / "striped.png"
    path.parent.mkdir(parents=True)
    Image.fromarray(picture).save(path)
    photograph(tmp_path / "source" / "one" / "other.png", (6, 8), RED)

    files = converted(described(training=1, testing=1), tmp_path / "source")

    held = {files[f"{part}-images-idx4-ubyte"][20:] for part in ("train", "t10k")}
    assert b"\xff" * (3 * 8 * 6) in held, "the white third in the middle, without its edges"


def test_class_folders_are_divided_by_a_fixed_seed(tmp_path: Path) -> None:
    """Folders of classes alone are divided by a fixed seed."""
    for number in range(6):
        photograph(tmp_path / "source" / "one" / f"{number}.png", (6, 8), (number, 0, 0))

    files = converted(described(channels=1), tmp_path / "source")

    assert files == converted(described(channels=1), tmp_path / "source")
    assert len(files["train-images-idx3-ubyte"]) == 16 + 4 * 8 * 6


def test_every_mismatched_number_is_named(tmp_path: Path) -> None:
    """Every number that differs from that of the matrix is named."""
    with pytest.raises(InputError) as raised:
        converted(own_dataset(DatasetInfo("photos", (3, 8, 6), 2, 5, 2), "idx"), divided(tmp_path / "source"))
    assert [problem.partition("source: ")[2] for problem in raised.value.messages] == [
        "training of photos is 5, and there are 4 photographs"
    ]


def test_a_photograph_that_is_none_is_named(tmp_path: Path) -> None:
    source = divided(tmp_path / "source")
    (source / "train" / "red" / "1.png").write_text("?")

    with pytest.raises(InputError, match=r"train/red/1\.png: cannot be decoded"):
        converted(described(), source)


def test_other_sources_and_channel_counts_are_refused(tmp_path: Path) -> None:
    """A source that is no folder is refused, and so are other channels than 1 or 3."""
    (tmp_path / "photos.zip").write_text("?")

    with pytest.raises(InputError, match=r"photos\.zip: is no folder of photographs"):
        converted(described(), tmp_path / "photos.zip")
    with pytest.raises(InputError, match="photographs have 1 or 3 channels, not 4"):
        converted(described(channels=4), divided(tmp_path / "source"))


def test_without_a_decoder_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_folders, "HAS_DECODER", False)

    with pytest.raises(InputError, match="pip install pillow"):
        converted(described(), tmp_path)
