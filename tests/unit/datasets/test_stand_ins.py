"""Stand-ins: complete files of the right format, which say what they are."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.inputs import mounted as in_the_container
from orchestrator.catalog import DATASETS, SYNTHETIC, DatasetInfo, examine, own_dataset
from orchestrator.catalog.datasets import STAND_IN
from orchestrator.datasets.idx import write_folder
from orchestrator.datasets.stand_ins import stand_in
from orchestrator.errors import InputError
from orchestrator.user_files import SequenceInput
from tests.datasets_in_original_formats import asked_for

SIGNS = own_dataset(DatasetInfo("signs", (1, 9, 7), 4, 60, 20), "idx")
COLOURED = own_dataset(DatasetInfo("coloured", (3, 9, 7), 300, 600, 20), "idx")
SMALL_CIFAR = replace(DATASETS["cifar10"], training=50, testing=20)


@pytest.mark.parametrize("info", [SIGNS, COLOURED, SMALL_CIFAR], ids=["idx", "colours", "cifar"])
def test_a_stand_in_is_read_as_the_dataset(tmp_path: Path, info: object) -> None:
    assert isinstance(info, type(SIGNS))
    write_folder(tmp_path / info.name, stand_in(info))

    data, problems = examine(info, tmp_path / info.name)

    assert (problems, data and data.stand_in) == ([], True)
    assert data is not None
    split = in_the_container.load(asked_for(data))
    assert (split.training.shape[1:], len(split.testing)) == (info.image, 20)
    assert set(np.unique(split.training_labels)) <= set(range(info.classes))


def test_a_stand_in_of_rows_is_readable(tmp_path: Path) -> None:
    """A stand-in of rows is read as the dataset."""
    rows = (SequenceInput("story", 30, 36), SequenceInput("question", 4, 300))
    info = own_dataset(DatasetInfo("told", None, 36, 50, 20, rows), "idx")
    write_folder(tmp_path / "told", stand_in(info))

    data, problems = examine(info, tmp_path / "told")

    assert (problems, data and data.inputs) == ([], rows)
    assert data is not None
    split = in_the_container.load(asked_for(data))
    assert [part.shape for part in split.training] == [(50, 30), (50, 4)]
    assert 256 < split.training[1].max() < 300, "a file of two bytes for each number"


def test_a_stand_in_can_be_learned() -> None:
    files = stand_in(SIGNS)
    images = np.frombuffer(files["train-images-idx3-ubyte"], np.uint8, offset=16).reshape(60, -1).astype(float)
    labels = np.frombuffer(files["train-labels-idx1-ubyte"], np.uint8, offset=8)

    means = np.stack([images[labels == label].mean(axis=0) for label in range(4)])
    nearest = np.square(images[:, None] - means).sum(axis=2).argmin(axis=1)

    assert (nearest == labels).mean() > 0.9


def test_a_changed_stand_in_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "signs"
    write_folder(folder, stand_in(SIGNS))
    labels = folder / "train-labels-idx1-ubyte"
    labels.write_bytes(labels.read_bytes()[:-1] + b"\x00\x01")

    assert "is another file" in examine(SIGNS, folder)[1][0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stand_in_for": "mnist"}, "is no stand-in for signs"),
        ({"files": {}}, "does not have a sum for each of its files"),
        ({"format": "photographs"}, "does not have a sum for each of its files"),
    ],
)
def test_a_wrong_mark_is_refused(tmp_path: Path, change: dict[str, object], said: str) -> None:
    folder = tmp_path / "signs"
    write_folder(folder, stand_in(SIGNS))
    marker = folder / STAND_IN
    marker.write_text(json.dumps(json.loads(marker.read_text()) | change))

    data, problems = examine(SIGNS, folder)

    assert data is None
    assert said in problems[0]


def test_nothing_stands_in_for_synthetic_data() -> None:
    with pytest.raises(InputError, match="needs no files"):
        stand_in(SYNTHETIC)
